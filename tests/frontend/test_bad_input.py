"""What cannot be analysed gets one clear message and exit code 2, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from raceproof.cli import main

GOOD = "int main(void) { return 0; }\n"
Made = Callable[[Path], list[str]]


def missing(folder: Path) -> list[str]:
    return [str(folder / "none.c")]


def not_c(folder: Path) -> list[str]:
    (folder / "a.c").write_text("int main(void) { return undeclared; }\n")
    return [str(folder / "a.c")]


def missing_header(folder: Path) -> list[str]:
    (folder / "a.c").write_text('#include "none.h"\n' + GOOD)
    return [str(folder / "a.c")]


def empty(folder: Path) -> list[str]:
    (folder / "a.c").write_text("")
    return [str(folder / "a.c")]


def binary(folder: Path) -> list[str]:
    (folder / "a.c").write_bytes(b"\x7fELF\0\0\0\1")
    return [str(folder / "a.c")]


def strange_suffix(folder: Path) -> list[str]:
    (folder / "a.pas").write_text("begin end.")
    return [str(folder / "a.pas")]


def a_folder(folder: Path) -> list[str]:
    return [str(folder)]


def no_main(folder: Path) -> list[str]:
    (folder / "a.c").write_text("void *serve(void *x) { return x; }\nstatic void inner(void) {}\n")
    return [str(folder / "a.c")]


def wrong_entry(folder: Path) -> list[str]:
    return [*no_main(folder), "--entry", "servo"]


def two_mains(folder: Path) -> list[str]:
    for name in ("a.c", "b.c"):
        (folder / name).write_text(GOOD)
    return [str(folder / "a.c"), str(folder / "b.c")]


def damaged_bitcode(folder: Path) -> list[str]:
    (folder / "a.bc").write_bytes(b"BC\xc0\xde" + b"garbage" * 20)
    return [str(folder / "a.bc")]


def damaged_llvm(folder: Path) -> list[str]:
    (folder / "a.ll").write_text("define i32 @main() { ret i32 }\n")
    return [str(folder / "a.ll")]


def broken_model(folder: Path) -> list[str]:
    (folder / "a.c").write_text(GOOD)
    (folder / "m.toml").write_text("[[function]]\nname = 'lock_it'\nrole = 'luck'\n")
    return [str(folder / "a.c"), "--model", str(folder / "m.toml")]


def broken_database(folder: Path) -> list[str]:
    (folder / "compile_commands.json").write_text("[{]")
    return ["-p", str(folder / "compile_commands.json")]


def missing_compiler(folder: Path) -> list[str]:
    (folder / "a.c").write_text(GOOD)
    return [str(folder / "a.c"), "--clang", str(folder / "clang")]


CASES: list[tuple[Made, str]] = [
    (missing, "no such file"),
    (not_c, "a.c:1:25"),
    (missing_header, "none.h"),
    (empty, "empty"),
    (binary, "binary"),
    (strange_suffix, "not a kind of file"),
    (a_folder, "raceproof scan"),
    (no_main, "possible entries: serve"),
    (wrong_entry, "possible entries: serve"),
    (two_mains, "main"),
    (damaged_bitcode, "a.bc"),
    (damaged_llvm, "a.ll"),
    (broken_model, "m.toml:3"),
    (broken_database, "compile_commands.json"),
    (missing_compiler, "--clang"),
]


ASKED = [
    (command, make, words)
    for command in ("check", "ir", "events")
    for make, words in CASES
    if (command, make) != ("ir", broken_model)  # which needs no model
]


@pytest.mark.parametrize(
    ("command", "make", "words"), ASKED, ids=[f"{c}-{make.__name__}" for c, make, _ in ASKED]
)
def test_one_clear_message(
    command: str, make: Made, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, *make(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("raceproof: error: ")
    assert words in said.err
    assert "Traceback" not in said.err
