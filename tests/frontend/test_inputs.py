"""Every kind of input: C, C++, preprocessed, LLVM text and bitcode, several files, a database."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from raceproof.errors import UserError
from raceproof.frontend import load_program
from raceproof.frontend.toolchain import Toolchain
from raceproof.ir import Program
from raceproof.options import DataModel, Options

TEXT = "int x = 1;\nint main(void) { return x; }\n"


def compiled(source: Path, target: Path, *flags: str) -> Path:
    toolchain = Toolchain(Options())
    command = [*toolchain.command, *toolchain.flags(False), *flags, str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    return target


def is_the_program(program: Program) -> bool:
    return program.globals["x"].size == 4 and program.functions["main"].is_defined


@pytest.mark.parametrize("suffix", [".c", ".i", ".cc", ".cpp", ".cxx"])
def test_sources(suffix: str, tmp_path: Path) -> None:
    source = tmp_path / f"a{suffix}"
    source.write_text(TEXT)
    program = load_program([source], Options())
    assert is_the_program(program)
    position = program.globals["x"].position
    assert position is not None
    assert Path(position.file).resolve() == source.resolve()


@pytest.mark.parametrize("odd", ["int main(int count, char *words)", "void main(int a, int b)"])
def test_a_main_of_an_odd_type(odd: str, tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text(f"int x = 1;\n{odd} {{ x = 2; }}\n")
    assert is_the_program(load_program([source], Options()))


@pytest.mark.parametrize(("suffix", "flags"), [(".ll", ["-S", "-emit-llvm"]),
                                               (".bc", ["-c", "-emit-llvm"])])  # fmt: skip
def test_llvm(suffix: str, flags: list[str], tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text(TEXT)
    assert is_the_program(
        load_program([compiled(source, tmp_path / f"b{suffix}", *flags)], Options())
    )


def test_a_file_in_the_working_folder_keeps_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.c").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    position = load_program([Path("sub/a.c")], Options()).globals["x"].position
    assert position is not None
    assert position.file == "sub/a.c"


def test_a_path_that_shares_its_start_with_the_working_folder_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "a.c").write_text(TEXT)
    monkeypatch.chdir(tmp_path / "here")
    position = load_program([tmp_path / "a.c"], Options()).globals["x"].position
    assert position is not None
    assert Path(position.file) == tmp_path / "a.c"


def test_old_c_passes(tmp_path: Path) -> None:
    source = tmp_path / "old.c"
    source.write_text('f(a, b) char *b; { return g(a) + *b; }\nmain() { int p = "x"; f(1, p); }\n')
    assert load_program([source], Options(std="gnu89")).functions["f"].is_defined


def test_flags_reach_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "size.h").write_text("#define TWO 2\n")
    source = tmp_path / "a.c"
    source.write_text('#include "size.h"\nlong x[TWO * N];\nint main(void) { return 0; }\n')
    options = Options(
        include_dirs=(tmp_path / "inc",), defines=("N=3",), data_model=DataModel.ILP32, std="c11"
    )
    assert load_program([source], options).globals["x"].size == 24


@pytest.fixture
def database(tmp_path: Path) -> Path:
    (tmp_path / "common.c").write_text("int common(void) { return SIZE; }\n")
    entries = []
    for program in ("server", "client"):
        (tmp_path / f"{program}.c").write_text(
            f"int common(void);\nint {program};\nint main(void) {{ return common(); }}\n"
        )
        for file in (program, "common"):
            entries.append({
                "directory": str(tmp_path),
                "command": f"cc -O2 -Wall -DSIZE={len(program)} -o "
                           f"CMakeFiles/{program}.dir/{file}.o -c {file}.c",
                "file": f"{file}.c",
            })  # fmt: skip
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps(entries))
    return path


def test_a_target_of_a_database(database: Path) -> None:
    program = load_program([], Options(database=database, target="client"))
    assert "client" in program.globals
    assert "server" not in program.globals
    assert len(program.files) == 2


def test_the_targets_are_named(database: Path) -> None:
    with pytest.raises(UserError, match="client, server"):
        load_program([], Options(database=database, target="none"))


def test_a_filter_of_a_database(database: Path) -> None:
    program = load_program([], Options(database=database, file_filter="server.c"))
    assert len(program.files) == 1


def test_files_take_their_flags_from_the_database(database: Path) -> None:
    file = database.parent / "common.c"
    program = load_program([file], Options(database=database, entry="common"))
    assert program.entry == "common"
