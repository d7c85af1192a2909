"""Library functions that compute a value from numbers are known to every engine, as native code
has them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from raceproof.engines import bounded, interleave, modular
from raceproof.engines.question import Engine, Question
from raceproof.frontend import load_program
from raceproof.frontend.library import body_names
from raceproof.machine.libc.registry import FUNCTIONS
from raceproof.options import Options
from raceproof.sequentialize import Bounds, sequentialize
from raceproof.verdict import Outcome
from tests.machine.native import zig
from tests.sequentialize.native import build, models

HEAD = """\
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>
"""
CLASSES = [
    "alnum",
    "alpha",
    "blank",
    "cntrl",
    "digit",
    "graph",
    "lower",
    "print",
    "punct",
    "space",
    "upper",
    "xdigit",
    "ascii",
]
CALLS = [
    *(f"(abs)({n})" for n in (0, 5, -7, -2147483647)),
    *("(labs)(-9)", "(llabs)(-9000000000)", "(imaxabs)(-3)"),
    *(f"{f}({a}, {b}).{part}" for f in ("div", "ldiv", "lldiv", "imaxdiv")
      for a, b in ((7, 2), (-7, 2), (7, -2)) for part in ("quot", "rem")),
    *(f"({f})({n})" for f in ("htons", "ntohs") for n in (0, 1, 0x1234, 0xFFFE)),
    *(f"({f})({n})" for f in ("htonl", "ntohl") for n in (0, 1, 0x12345678)),
    *(f"({f})({n})" for f in ("ffs", "ffsl", "ffsll") for n in (0, 1, 40, -2147483647)),
    *(f"(is{name})({ord(c)})" for name in CLASSES for c in "a5 Z_\t~\x7f"),
    *(f"({f})({ord(c)})" for f in ("toupper", "tolower", "toascii") for c in "aZ5[z@"),
    *("(isspace)(-1)", "(toupper)(-1)", "(isprint)(200)", "(tolower)(255)"),
]  # fmt: skip


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """What native code computes."""
    folder = tmp_path_factory.mktemp("values")
    source, binary = folder / "values.c", folder / "values"
    printed = "\n".join(f'    printf("%lld\\n", (long long){call});' for call in CALLS)
    source.write_text(f"{HEAD}#include <stdio.h>\nint main(void)\n{{\n{printed}\n}}\n")
    subprocess.run([zig(), "cc", "-w", str(source), "-o", str(binary)], check=True)
    answer = subprocess.run([str(binary)], capture_output=True, text=True, check=True)
    return [int(line) for line in answer.stdout.split()]


def written(values: list[int], folder: Path, is_racy: bool) -> Path:
    """A program that races if one result is another one, or if all are as they should be."""
    tests = " &&\n        ".join(
        f"(long long){call} == {value}" for call, value in zip(CALLS, values, strict=True)
    )
    path = folder / "program.c"
    path.write_text(f"""{HEAD}
static int x;
static int is_right(void)
{{
    return {tests};
}}
static void *work(void *arg)
{{
    if ({"" if is_racy else "!"}is_right())
        x++;
    return arg;
}}
int main(void)
{{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    return 0;
}}
""")
    return path


@pytest.mark.parametrize("is_racy", [False, True], ids=["race-free", "racy"])
@pytest.mark.parametrize(
    "engine", [bounded.ENGINE, interleave.ENGINE, modular.ENGINE], ids=lambda engine: engine.name
)
def test_an_engine_knows_them(
    engine: Engine, is_racy: bool, values: list[int], tmp_path: Path
) -> None:
    program = load_program([written(values, tmp_path, is_racy)], Options())
    answer = engine.run(program, Question(Options()))
    if is_racy and engine is modular.ENGINE:
        assert answer.findings  # it may not know that the branch is taken
    else:
        assert answer.outcome is (Outcome.RACE if is_racy else Outcome.RACE_FREE), answer.detail


@pytest.mark.parametrize("is_racy", [False, True], ids=["race-free", "racy"])
def test_printed_programs_know_them(is_racy: bool, values: list[int], tmp_path: Path) -> None:
    program = load_program([written(values, tmp_path, is_racy)], Options())
    text = sequentialize(program, models(), Bounds(unwind=1, rounds=3, threads=2))
    answer = build(text, tmp_path).run("seed", "1", "2000")
    assert answer.returncode == int(is_racy)


def test_nothing_is_said_twice() -> None:
    """A function with such a body is not computed by the machine as well."""
    names = {call.split("(")[0 if call[0] != "(" else 1].rstrip(")") for call in CALLS}
    assert names <= body_names()
    assert not names & FUNCTIONS.keys()


def test_a_program_that_sets_its_locale_leaves_characters_open(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(f"""{HEAD}#include <locale.h>
static int x;
static void *work(void *arg) {{ if ((toupper)('i') != 'I') x++; return arg; }}
int main(void)
{{
    pthread_t a, b;
    setlocale(LC_ALL, "tr_TR.ISO-8859-9");
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    return 0;
}}
""")
    for engine in (bounded.ENGINE, modular.ENGINE):
        answer = engine.run(load_program([path], Options()), Question(Options()))
        assert answer.outcome is not Outcome.RACE_FREE
