"""Asking compilers: what they say, and what if they say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from raceproof.frontend.builds import drivers
from raceproof.frontend.builds.drivers import ask
from raceproof.frontend.source import Source
from raceproof.frontend.toolchain import Toolchain
from raceproof.options import Options

ANSWER = """\
Target: x86_64-linux-gnu
#include "..." search starts here:
#include <...> search starts here:
 {own}
 {headers}
End of search list.
"""


def compiler(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)
    return path


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of compilers in `PATH`, and a project to work in."""
    (tmp_path / "project").mkdir()
    (tmp_path / "tools").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:/usr/bin:/bin")
    return tmp_path / "tools"


def answering(tools: Path, name: str, macros: str = "") -> Path:
    own, headers = tools / "gcc" / "9" / "include", tools / "headers"
    own.mkdir(parents=True, exist_ok=True)
    headers.mkdir(exist_ok=True)
    said = ANSWER.format(own=own, headers=headers)
    compiler(tools, name, f"cat >&2 <<'END'\n{said}END\ncat <<'END'\n{macros}\nEND\n")
    return headers


def test_folders_and_defaults(tools: Path) -> None:
    macros = "#define __GLIBC_MINOR__ 28\n#define __STDC_VERSION__ 201112L"
    headers = answering(tools, "gcc-9", macros)
    driver = ask("gcc-9", False, (), Path())
    assert driver.folders == (str(headers),), "without what belongs to the compiler itself"
    assert (driver.number("__GLIBC_MINOR__"), driver.c_standard) == (28, "gnu11")


def test_its_headers_come_after_the_bundled_ones(tools: Path) -> None:
    headers = answering(tools, "gcc-9", "#define __GLIBC_MINOR__ 28")
    source = Source(Path("a.c"), (f"-I{headers}", "-Iown"), Path(), "gcc-9")
    flags = Toolchain(Options()).flags_for(source)
    assert {"-D__GLIBC_MINOR__=28", "-Iown"} <= set(flags)
    assert f"-I{headers}" not in flags, "a system folder keeps its own turn"
    bundled = max(n for n, flag in enumerate(flags) if flag == "-isystem")
    assert flags.index(str(headers)) > bundled


@pytest.mark.parametrize(
    ("name", "script", "words"),
    [("gcc-1", "exec sleep 600", "no answer within"), ("gcc-2", "echo nonsense", "does not say"),
     ("gcc-3", "exit 1", "does not say")],
)  # fmt: skip
def test_no_answer(
    tools: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str, words: str
) -> None:
    monkeypatch.setattr(drivers, "SECONDS", 0.2)
    compiler(tools, name, script)
    driver = ask(name, False, (), Path())
    assert words in driver.trouble
    assert driver.folders == drivers.usual_folders()


def test_a_program_of_another_name_is_not_run(tools: Path) -> None:
    compiler(tools, "build-it", f"touch {tools}/was-run")
    assert "no compiler" in ask("build-it", False, (), Path()).trouble
    assert not (tools / "was-run").exists()


def test_a_compiler_inside_of_the_project_is_not_run(tools: Path) -> None:
    own = compiler(Path("bin"), "gcc", f"touch {tools}/was-run")
    assert "inside of the project" in ask(str(own), False, (), Path()).trouble
    assert not (tools / "was-run").exists()


def test_a_cross_compiler_that_is_not_here(tools: Path) -> None:
    driver = ask("arm-linux-gnueabi-gcc", False, (), Path())
    assert driver.target == "arm-linux-gnueabi"
    assert "not on this machine" in driver.trouble
    flags = Toolchain(Options()).flags_for(
        Source(Path("a.c"), folder=Path(), compiler="arm-linux-gnueabi-gcc")
    )
    assert "--target=i386-linux-gnu" in flags
