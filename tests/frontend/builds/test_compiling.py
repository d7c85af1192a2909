"""Odd ways to compile: other machines, precompiled headers, old C++, the system's C++ library."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from raceproof.cli import main
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import Options

OLD_CXX = """\
#include <functional>
#include <sys/socket.h>
using namespace std;
int main() {
    register int s = 0;
    return bind(s, (struct sockaddr *)0, 0) < 0;
}
"""

needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")


def built(folder: Path, name: str, text: str, *arguments: str) -> Program:
    (folder / name).write_text(text)
    entry = {"directory": str(folder), "file": name, "arguments": [*arguments, "-c", name]}
    path = folder / "compile_commands.json"
    path.write_text(json.dumps([entry]))
    return load_program([], Options(database=path))


def test_32_bits(tmp_path: Path) -> None:
    program = built(tmp_path, "a.c", "long x; int main(void) { return 0; }\n", "cc", "-m32")
    assert (program.data_model, program.globals["x"].size) == ("ilp32", 4)


def test_another_machine(tmp_path: Path) -> None:
    text = "#include <stdio.h>\nlong x; int main(void) { return 0; }\n"
    program = built(tmp_path, "a.c", text, "mips-linux-gnu-gcc", "-march=mips32", "-EB")
    assert program.data_model == "ilp32"
    assert program.origin.notices == (
        "the compiler `mips-linux-gnu-gcc` is not on this machine",
        "built for mips-linux-gnu, looked at as 32-bit x86",
    )


def test_a_precompiled_header(tmp_path: Path) -> None:
    (tmp_path / "all.h").write_text("#define SIZE 3\n")
    (tmp_path / "all.h.gch").write_bytes(b"gpch.0139garbage")
    text = "char x[SIZE]; int main(void) { return 0; }\n"
    program = built(tmp_path, "a.c", text, "cc", "-Winvalid-pch", "-include", "all.h")
    assert program.globals["x"].size == 3


def test_the_compilers_default_is_taken_over(tmp_path: Path) -> None:
    """In C the size of a character constant is that of an `int`, in C++ it is 1."""
    text = "char x[sizeof 'a']; int main(void) { return 0; }\n"
    assert built(tmp_path, "a.c", text, "cc").globals["x"].size == 4
    assert built(tmp_path, "a.c", text, "g++").globals["x"].size == 1
    assert built(tmp_path, "a.c", text, "cc", "-x", "c++").globals["x"].size == 1


@needs_gcc
def test_old_cxx(tmp_path: Path) -> None:
    program = built(tmp_path, "old.cpp", OLD_CXX, "g++")
    assert program.functions["main"].is_defined
    (notice,) = program.origin.notices
    assert notice.startswith("old.cpp: ")


def test_a_standard_that_the_build_names_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cpp").write_text(
        "int main() { auto x = 1; constexpr int y = 2; return x - y; }\n"
    )
    entry = {"directory": str(tmp_path), "file": "a.cpp", "command": "g++ -std=c++98 -c a.cpp"}
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps([entry]))
    assert main(["check", "-p", str(path)]) == 2
    assert "constexpr" in capsys.readouterr().err
