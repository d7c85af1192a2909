"""Programs of which a part is missing: the rest is looked at, and no proof rests on the gap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raceproof.cli import main
from raceproof.frontend import load_program
from raceproof.frontend.builds.database import read_database
from raceproof.frontend.builds.trouble import grouped_troubles, remedy
from raceproof.options import Options

SAFE_C = """\
#include <pthread.h>
#include "part.h"
static void *worker(void *argument) { touch(); return argument; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return 0;
}
"""
PART_H = "void touch(void);\n"
PART_C = '#include "part.h"\nstatic int touched;\nvoid touch(void) { touched = 1; }\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "safe.c").write_text(SAFE_C)
    (tmp_path / "part.h").write_text(PART_H)
    return tmp_path


def database(folder: Path, *names: str, link: tuple[str, ...] | None = None) -> None:
    """Of files, each compiled to an object; `link`: those that the program is made of."""
    entries = [
        {"directory": str(folder), "file": name, "arguments": ["cc", "-c", name, "-o", f"{name}.o"]}
        for name in names
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    inputs = [str(folder / f"{name}.o") for name in (names if link is None else link)]
    target = {"output": str(folder / "safe"), "kind": "program", "inputs": inputs}
    (folder / "link_commands.json").write_text(json.dumps([target]))


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    main([*words, "--format", "json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_function_of_the_project_without_body(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(["check", "safe.c"], capsys)
    assert found["verdict"] == "unknown"
    assert (
        "not seen: functions of the project that no file of the program defines: `touch`"
        in (found["assumptions"])
    )
    (folder / "part.c").write_text(PART_C)
    assert answer(["check", "safe.c", "part.c"], capsys)["verdict"] == "race-free"


def test_a_model_says_what_the_function_does(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "m.toml").write_text('[[function]]\nname = "touch"\n')
    found = answer(["check", "safe.c", "--model", "m.toml"], capsys)
    assert found["verdict"] == "race-free"


def test_a_function_of_the_system_without_body(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is declared in a header of the system: a library's, not the project's."""
    (folder / "safe.c").write_text(
        SAFE_C.replace('"part.h"', "<sys/prctl.h>").replace("touch()", "prctl(1)")
    )
    database(folder, "safe.c")
    assert answer(["check"], capsys)["verdict"] == "race-free"


def test_a_file_of_the_same_build_is_taken_in(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "part.c").write_text(PART_C)
    (folder / "other.c").write_text("int other(void) { return 0; }\n")
    database(folder, "safe.c", "part.c", "other.c", link=("safe.c",))
    found = answer(["check"], capsys)
    assert found["verdict"] == "race-free"
    assert "taken in, because the program calls their functions: part.c" in found["notices"]
    assert len(found["program"]["files"]) == 2


def test_a_file_that_does_not_compile_costs_itself_only(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "part.c").write_text(PART_C)
    (folder / "broken.c").write_text("int x = ;\n")
    database(folder, "safe.c", "part.c", "broken.c")
    found = answer(["check"], capsys)
    assert found["verdict"] == "unknown"
    (assumed,) = [a for a in found["assumptions"] if a.startswith("not seen")]
    assert "broken.c, which does not compile" in assumed
    assert any("1 of 3 files could not be compiled" in notice for notice in found["notices"])
    main(["check"])
    assert " · 2 of 3 files · " in capsys.readouterr().out.splitlines()[-1]
    main(["scan", "--no-cache"])
    assert " · 2 of 3 files · " in capsys.readouterr().out.splitlines()[-1]


def test_a_missing_header_is_named_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "part.c").write_text(PART_C)
    for name in ("a.c", "b.c"):
        (folder / name).write_text("#include <uv/none.h>\n")
    database(folder, "safe.c", "part.c", "a.c", "b.c")
    notices = answer(["scan", "--no-cache"], capsys)["notices"]
    (told,) = [notice for notice in notices if "uv/none.h" in notice]
    assert "2 files, the first is" in told
    assert "install libuv1-dev" in told


def test_two_libraries_with_a_function_of_one_name(folder: Path) -> None:
    """A linker takes the first, as an archive's members are taken when they are needed."""
    (folder / "part.c").write_text(PART_C)
    (folder / "spare.c").write_text(
        "int mode = 1;\nvoid touch(void) { mode = 2; }\nvoid spare(void) { mode = 3; }\n"
    )
    database(folder, "safe.c", "part.c", "spare.c")
    program = load_program([], Options())
    assert program.functions["touch"].is_defined
    assert "touched" in {variable.display for variable in program.globals.values()}


def test_openmp_is_not_looked_at(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "part.c").write_text(PART_C)
    database(folder, "safe.c", "part.c")
    path = folder / "compile_commands.json"
    path.write_text(path.read_text().replace('"-c"', '"-fopenmp", "-c"'))
    found = answer(["check"], capsys)
    assert found["verdict"] == "unknown"
    assert any("OpenMP" in assumption for assumption in found["assumptions"])


def test_groups_of_troubles() -> None:
    missing = "{}: does not compile\n{}:1:10: fatal error: 'event.h' file not found"
    troubles = [missing.format(name, name) for name in ("a.c", "b.c", "c.c")]
    troubles.append("d.c: does not compile\nd.c:3:1: error: expected ';'")
    assert grouped_troubles(troubles) == [
        "the header event.h is missing (3 files, the first is a.c): "
        "install libevent-dev (Debian's name), or name its folder with -I",
        "d.c: does not compile: d.c:3:1: error: expected ';'",
    ]
    assert remedy("openssl/ssl.h").startswith("install libssl-dev")
    assert "build first" in remedy("config.h")


# --- damaged databases ----------------------------------------------------------------------------


def test_odd_entries(folder: Path) -> None:
    good = {"directory": str(folder), "file": "safe.c", "command": "cc -c safe.c"}
    entries: list[object] = [
        good,
        {"file": "safe.c", "command": "cc -c safe.c"},
        {"directory": str(folder), "command": "cc -c safe.c"},
        {"directory": str(folder), "file": "safe.c", "arguments": "cc"},
        {"directory": str(folder), "file": "safe.c", "command": "frobnicate -c safe.c"},
        {"directory": str(folder), "file": "boot.S", "command": "cc -c boot.S"},
        {"directory": str(folder), "file": "a.c", "command": "cc @none.rsp -c a.c"},
        {"directory": str(folder), "file": "x.c", "command": "cc -c 'x.c"},
        "nonsense",
    ]
    path = folder / "compile_commands.json"
    path.write_text(json.dumps(entries))
    found = read_database(path)
    assert [c.source.path.name for c in found.commands] == [
        "safe.c", "safe.c", "safe.c", "a.c", "x.c",
    ]  # fmt: skip
    told = "\n".join(found.notices)
    for words in (
        "entry 2: no `directory`",
        "entry 3: damaged, left out: `file` is missing",
        "entry 4: damaged, left out: `arguments` is not a list",
        "entry 5: `frobnicate` is no compiler that is known",
        "entry 7: the response file none.rsp cannot be read",
        "entry 9: damaged, left out: not a table",
    ):
        assert words in told
    assert len(found.notices) == 6


def test_thousands_of_odd_entries_are_one_line(folder: Path) -> None:
    entry = {"file": "safe.c", "command": "cc -c safe.c"}
    path = folder / "compile_commands.json"
    path.write_text(json.dumps([entry] * 5000))
    found = read_database(path)
    assert len(found.commands) == 5000
    (notice,) = found.notices
    assert "entries 1, 2, 3 and 4997 more: no `directory`" in notice


def test_paths_with_blanks_and_newlines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = folder / "two words\nand lines"
    odd.mkdir()
    (odd / "a file.c").write_text(SAFE_C)
    (odd / "part.h").write_text(PART_H)
    (folder / "part.c").write_text(PART_C)
    entries = [
        {"directory": str(odd), "file": "a file.c", "arguments": ["cc", "-c", "a file.c"]},
        {"directory": str(folder), "file": "part.c", "command": "cc -c part.c"},
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    assert answer(["check"], capsys)["verdict"] == "race-free"
    assert main(["scan", "--no-cache"]) == 0


def test_a_file_outside_of_the_root(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path_factory.mktemp("inside")
    (folder / "part.c").write_text(PART_C)
    entries = [
        {"directory": str(folder), "file": name, "command": f"cc -c {name}"}
        for name in ("safe.c", "part.c")
    ]
    (inside / "compile_commands.json").write_text(json.dumps(entries))
    monkeypatch.chdir(inside)
    assert main(["scan", "--no-cache"]) == 0


def test_broken_links_and_folders_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "part.c").write_text(PART_C)
    (folder / "gone.c").symlink_to("nowhere.c")
    (folder / "like.c").mkdir()
    found = answer(["scan", "--no-cache"], capsys)
    assert [n for n in found["notices"] if "gone.c: is a broken link" in n]
    assert main(["scan", "gone.c", "--no-cache"]) == 2
    assert "broken link" in capsys.readouterr().err


def test_an_unreadable_folder_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    (folder / "part.c").write_text(PART_C)
    (folder / "secret").mkdir()
    as_ever = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return as_ever(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = answer(["scan", "--no-cache"], capsys)
    assert [n for n in found["notices"] if "secret: cannot be read: Permission denied" in n]


def test_no_proof_about_a_database_with_damaged_entries(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "part.c").write_text(PART_C)
    database(folder, "safe.c", "part.c")
    path = folder / "compile_commands.json"
    path.write_text(json.dumps([*json.loads(path.read_text()), 1, {"directory": ".", "file": 5}]))
    found = answer(["check"], capsys)
    assert found["verdict"] == "unknown"
    (assumed,) = [a for a in found["assumptions"] if a.startswith("not seen")]
    assert "2 damaged entries" in assumed
