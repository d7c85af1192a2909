"""Command lines of compilers: what is kept, translated and dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from raceproof.frontend.builds.command_line import (
    cross_target,
    is_compiler,
    read_command_line,
)


def flags(command: str, folder: Path = Path()) -> list[str]:
    return read_command_line(command.split(), folder).flags


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("cc -O2 -Wall -Werror -g3 -c a.c -o a.o", []),
        ("cc -Iinc -I inc2 -DX=1 -D Y -UZ -c a.c",
         ["-Iinc", "-I", "inc2", "-DX=1", "-D", "Y", "-UZ"]),
        ("cc -include config.h -isystem sys -iquote q -c a.c",
         ["-include", "config.h", "-isystem", "sys", "-iquote", "q"]),
        ("gcc -fplugin=x.so -fplugin-arg-x-y -fno-tree-vrp --param max=3 -c a.c", []),
        ("gcc -fplan9-extensions -c a.c", ["-fms-extensions"]),
        ("gcc -MD -MF a.d -MT a.o -Wp,-MD,b.d -Wp,-DDEEP -c a.c", ["-DDEEP"]),
        ("clang -Xclang -include-pch -Xclang p.pch -Xclang -include -Xclang p.hxx -c a.cc",
         ["-include", "p.hxx"]),
        ("gcc -std=gnu99 -funsigned-char -fshort-enums -pthread -c a.c",
         ["-std=gnu99", "-funsigned-char", "-fshort-enums", "-pthread"]),
        ("ccache gcc -DX -c a.c", ["-DX"]),
        ("env LANG=C gcc -DX -c a.c", ["-DX"]),
        ("libtool --tag=CC --mode=compile gcc -DX -c a.c", ["-DX"]),
        ("gcc -msse4.2 -mno-red-zone -march=armv8-a -c a.c", ["-msse4.2"]),
    ],
)  # fmt: skip
def test_flags(command: str, kept: list[str]) -> None:
    assert flags(command) == kept


def test_what_changes_the_compilers_answer() -> None:
    line = read_command_line(["gcc", "-m32", "--sysroot", "/opt/root", "-c", "a.c"], Path())
    assert line.query == ["-m32", "--sysroot=/opt/root"]


def test_response_files(tmp_path: Path) -> None:
    (tmp_path / "inner.rsp").write_text("-DB")
    (tmp_path / "flags.rsp").write_text('-DA "-DNAME=two words"\n@inner.rsp\n')
    line = read_command_line(["cc", "@flags.rsp", "@none.rsp", "-c", "a.c"], tmp_path)
    assert line.flags == ["-DA", "-DNAME=two words", "-DB"]
    assert line.troubles == ["the response file none.rsp cannot be read"]


def test_a_response_file_that_names_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "flags.rsp").write_text("-DA @flags.rsp")
    assert set(flags("cc @flags.rsp -c a.c", tmp_path)) == {"-DA"}


@pytest.mark.parametrize(
    ("command", "is_cxx"),
    [("gcc -c a.c", False), ("g++ -c a.c", True), ("gcc -c a.cc", True),
     ("gcc -x c++ -c a.c", True), ("g++ -x c -c a.cc", False), ("gcc -x c++-header -c a.hh", None),
     ("gcc -c a.S", None)],
)  # fmt: skip
def test_languages(command: str, is_cxx: bool | None) -> None:
    assert [cxx for _, cxx in read_command_line(command.split(), Path()).sources] == [is_cxx]


def test_linking() -> None:
    command = "cc -shared -o lib.so a.o b.c -Llib -lqueue -lm"
    line = read_command_line(command.split(), Path())
    assert line.is_linking
    assert line.is_shared
    assert line.inputs == ["a.o", "-lqueue", "-lm"]
    assert line.sources == [("b.c", False)]
    assert line.library_folders == ["lib"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("cc", True), ("/usr/bin/x86_64-linux-gnu-gcc-12", True), ("clang++-17", True), ("rm", False),
     ("arm-linux-gnueabi-gcc", True), ("gcc-ar", False), ("nasm", False), ("sh", False)],
)  # fmt: skip
def test_names_of_compilers(name: str, expected: bool) -> None:
    assert is_compiler(name) is expected


def test_cross_prefixes() -> None:
    assert cross_target("/opt/bin/arm-linux-gnueabi-gcc-10") == "arm-linux-gnueabi"
    assert cross_target("gcc-12") == ""
