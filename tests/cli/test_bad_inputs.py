"""Mistakes of the user and of the machine: one line that says what, where and what to do; exit code
2; never called a bug of ours. (A compiler's messages stand behind the first line.)"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

GOOD = "int main(void) { return 0; }\n"
RACY = """\
#include <pthread.h>
int x;
void *work(void *a) { x = 1; return a; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    x = 2; %s
    return 0;
}
"""
BUILD = json.dumps([{"directory": ".", "file": "a.c", "command": "cc -c a.c"}])
TWO = json.dumps(
    [
        {"directory": ".", "file": "a.c", "command": "cc a.c -o one", "output": "one"},
        {"directory": ".", "file": "b.c", "command": "cc b.c -o two", "output": "two"},
    ]
)


@dataclass(frozen=True)
class Bad:
    """`files` are written (bytes as they are, None: a folder), `words` are run."""

    words: str
    says: str
    files: dict[str, str | bytes | None] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    is_quoting: bool = False
    """Further lines quote the compiler."""


BAD = {
    # Files
    "no such file": Bad("check none.c", "none.c: there is no such file"),
    "a folder": Bad("check .", ".: is a folder; name its files, or use `raceproof scan`"),
    "an empty file": Bad("check e.c", "e.c: the file is empty", {"e.c": ""}),
    "a binary file": Bad("check b.c", "b.c: is a binary file", {"b.c": b"\x7fELF\0\0\0"}),
    "another kind of file": Bad(
        "check a.py", "not a kind of file that can be checked", {"a.py": "x = 1\n"}
    ),
    "no file at all": Bad("check", "nothing to check: name C or C++ files"),
    "does not compile": Bad(
        "check a.c",
        "a.c: does not compile",
        {"a.c": "int main(void) { return x; }\n"},
        is_quoting=True,
    ),
    "a header that is not there": Bad(
        "check a.c", "a.c: does not compile", {"a.c": '#include "gone.h"\n'}, is_quoting=True
    ),
    "no main": Bad(
        "check a.c", "the program has no `main`", {"a.c": "int f(void) { return 1; }\n"}
    ),
    "two mains": Bad("check a.c b.c", "main", {"a.c": GOOD, "b.c": GOOD}),
    "no such entry": Bad(
        "check a.c --entry strat", "--entry strat: the program defines no such", {"a.c": GOOD}
    ),
    "a broken LLVM file": Bad("check a.ll", "a.ll", {"a.ll": "define i32 @main() {\n"}),
    "a broken bitcode file": Bad("check a.bc", "a.bc", {"a.bc": b"BC\xc0\xde\x01"}),
    "a link to nothing": Bad("check l.c", "l.c: there is no such file", {"l.c": "-> gone.c"}),
    "no such compiler": Bad(
        "check a.c --clang /no/clang", "--clang /no/clang: there is no such file", {"a.c": GOOD}
    ),
    "no compiler of that name": Bad(
        "check a.c --clang clang-1", "cannot start the compiler clang-1", {"a.c": GOOD}
    ),
    "a compiler that is no program": Bad(
        "check a.c --clang ./a.c", "cannot start the compiler", {"a.c": GOOD}
    ),
    # Flags
    "an unknown flag": Bad("check --tiemout 3 a.c", "did you mean --timeout?", {"a.c": GOOD}),
    "an unknown command": Bad("chekc a.c", "did you mean check?"),
    "no command": Bad("", "a command is needed; raceproof --help lists them"),
    "a time that is none": Bad("check a.c --timeout soon", "'soon' is not a number above 0"),
    "no time": Bad("check a.c --timeout 0", "'0' is not a number above 0"),
    "an unknown format": Bad("check a.c --format htlm", "did you mean html?"),
    "an unknown engine": Bad("check a.c --engine modlar", "did you mean modular?", {"a.c": GOOD}),
    "an unknown confidence": Bad("check a.c --fail-on likly", "did you mean likely?"),
    "a flag without its value": Bad("check a.c --baseline", "--baseline: expected one argument"),
    "a further format without a file": Bad("check a.c --also html", "is not FORMAT=FILE"),
    "two flags that exclude each other": Bad("check a.c -q -v", "not allowed with"),
    "an unknown standard": Bad(
        "check a.c -std=c94", "a.c: does not compile", {"a.c": GOOD}, is_quoting=True
    ),
    # Settings
    "a broken settings file": Bad(
        "check a.c",
        "raceproof.toml is not valid TOML",
        {"a.c": GOOD, "raceproof.toml": "timeout = \n"},
    ),
    "an unknown setting": Bad(
        "check a.c",
        "raceproof.toml:1: unknown setting 'tiemout'; did you mean",
        {"a.c": GOOD, "raceproof.toml": "tiemout = 3\n"},
    ),
    "a setting of a wrong type": Bad(
        "check a.c",
        "raceproof.toml:1: 'timeout' must be a number",
        {"a.c": GOOD, "raceproof.toml": 'timeout = "3"\n'},
    ),
    "no such settings file": Bad("check a.c --config s.toml", "cannot read s.toml", {"a.c": GOOD}),
    "an unknown role in a model": Bad(
        "check a.c --model m.toml",
        "m.toml",
        {"a.c": GOOD, "m.toml": '[[function]]\nname = "f"\nrole = "lok"\n'},
    ),
    "no such model": Bad("check a.c --model m.toml", "m.toml", {"a.c": GOOD}),
    "a model that is no TOML": Bad(
        "check a.c --model m.toml", "m.toml", {"a.c": GOOD, "m.toml": "= ="}
    ),
    # Suppressions and baselines
    "a suppression without an end": Bad(
        "check a.c", "a.c:7: a malformed suppression", {"a.c": RACY % "// raceproof: ignore["}
    ),
    "an unknown suppression": Bad(
        "check a.c",
        "a.c:7: no suppression 'ingore'; did you mean ignore?",
        {"a.c": RACY % "// raceproof: ingore[x]"},
    ),
    "a suppression of an unknown rule": Bad(
        "check a.c", "did you mean not-joined?", {"a.c": RACY % "// raceproof: ignore[not-joned]"}
    ),
    "no such baseline": Bad("check a.c --baseline b.json", "b.json: cannot be read", {"a.c": GOOD}),
    "a baseline that is none": Bad(
        "check a.c --baseline b.json", "b.json: not a baseline", {"a.c": GOOD, "b.json": "[]"}
    ),
    "a baseline of binary data": Bad(
        "check a.c --baseline b.json",
        "b.json: not a baseline",
        {"a.c": GOOD, "b.json": b"\xff\xfe\0"},
    ),
    # Where to write
    "a full disk": Bad(
        "check a.c -o /dev/full", "cannot write /dev/full: No space left", {"a.c": GOOD}
    ),
    "a full disk for a further format": Bad(
        "check a.c --also json=/dev/full", "cannot write /dev/full", {"a.c": GOOD}
    ),
    "no folder for the output": Bad(
        "check a.c -o no/r.html", "cannot write no/r.html", {"a.c": GOOD}
    ),
    "a folder as output": Bad(
        "check a.c -o d", "cannot write d: is a folder", {"a.c": GOOD, "d": None}
    ),
    "a file as folder of schedules": Bad(
        "check a.c --schedules a.c", "cannot write schedules to a.c: not a folder", {"a.c": GOOD}
    ),
    # Builds
    "no such database": Bad("check -p c.json", "c.json"),
    "a broken database": Bad("check -p c.json", "c.json", {"c.json": "{"}),
    "a database without the target": Bad(
        "check -p c.json --target tow", "--target tow", {"c.json": TWO, "a.c": GOOD, "b.c": GOOD}
    ),
    "a database of files that are gone": Bad("check -p c.json", "c.json", {"c.json": BUILD}),
    "nothing to scan": Bad("scan", "no C or C++ file", {"readme.txt": "hello\n"}),
    "a revision that is none": Bad("scan --changed-since nosuch", "--changed-since", {"a.c": GOOD}),
    # Other commands
    "no such schedule": Bad("replay s.json a.c", "s.json", {"a.c": GOOD}),
    "a schedule that is none": Bad("replay s.json a.c", "s.json", {"a.c": GOOD, "s.json": "{}"}),
    "no such location": Bad(
        "explain a.c --location y", "no shared location 'y'", {"a.c": RACY % ""}
    ),
    "settings that are there": Bad("init", "raceproof.toml", {"raceproof.toml": ""}),
    "no such build command": Bad("capture -- no-such-make", "no-such-make"),
    "no such shell": Bad("completion bahs", "did you mean bash?"),
}


def test_they_are_many() -> None:
    assert len(BAD) >= 40


@pytest.mark.parametrize("name", BAD)
def test_one_line_and_exit_code_2(name: str, tmp_path: Path) -> None:
    bad = BAD[name]
    answer = run(bad, tmp_path)
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert "bug in raceproof" not in answer.stderr
    assert "Traceback" not in answer.stderr
    first = answer.stderr.partition("\n")[0]
    assert first.startswith("raceproof"), answer.stderr
    assert "error: " in first
    assert bad.says in first
    assert bad.is_quoting or answer.stderr.count("\n") == 1, answer.stderr


def test_a_verdict_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    answer = run(Bad("check a.c -o /dev/full --format html", "", {"a.c": RACY % ""}), tmp_path)
    assert answer.returncode == 2
    assert "Data race 1 of 1: two writes of x" in answer.stdout
    assert "race · 1 finding (1 confirmed)" in answer.stdout


def test_other_reports_are_written_all_the_same(tmp_path: Path) -> None:
    words = "check a.c --also json=/dev/full --also sarif=a.sarif --write-baseline known.json"
    answer = run(Bad(words, "", {"a.c": RACY % ""}), tmp_path)
    assert answer.returncode == 2
    assert json.loads((tmp_path / "a.sarif").read_text())["runs"][0]["results"]
    assert json.loads((tmp_path / "known.json").read_text())["findings"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_our_signs(encoding: str, tmp_path: Path) -> None:
    bad = Bad("check ä.c", "", {"ä.c": RACY % "// ü"}, {"PYTHONIOENCODING": encoding})
    answer = run(bad, tmp_path)
    assert answer.returncode == 1, answer.stderr
    assert "Data race 1 of 1" in answer.stdout


def test_no_time_is_no_answer(tmp_path: Path) -> None:
    answer = run(Bad("check a.c --timeout 0.001", "", {"a.c": RACY % ""}), tmp_path)
    assert answer.returncode == 2
    assert "compiling took longer than the 0.001 s of --timeout" in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_name_that_is_nearly_right(tmp_path: Path) -> None:
    source = RACY.replace("x", "total") % "// raceproof: ignore[totals]"
    answer = run(Bad("check a.c", "", {"a.c": source}), tmp_path)
    assert answer.returncode == 1
    assert "a.c:7: this comment suppresses no finding; did you mean total?" in answer.stdout


def run(bad: Bad, folder: Path) -> "subprocess.CompletedProcess[str]":
    for name, content in bad.files.items():
        path = folder / name
        if content is None:
            path.mkdir()
        elif isinstance(content, bytes):
            path.write_bytes(content)
        elif content.startswith("-> "):
            path.symlink_to(content[3:])
        else:
            path.write_text(content)
    return subprocess.run(
        [sys.executable, "-m", "raceproof", *bad.words.split()],
        cwd=folder,
        env={**os.environ, **bad.environment},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        check=False,
    )
