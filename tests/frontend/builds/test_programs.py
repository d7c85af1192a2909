"""Programs of real builds: CMake, Meson, make; each with the library that it links."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raceproof.cli import main
from raceproof.errors import UserError
from raceproof.frontend.builds.database import nearby_database, read_database
from raceproof.frontend.builds.links import LinkKind
from raceproof.frontend.builds.ninja import ninja_links
from raceproof.frontend.builds.programs import Build, read_build

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(example C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)
add_library(queue STATIC lib/queue.c)
target_include_directories(queue PUBLIC lib)
add_executable(server server.c)
target_link_libraries(server queue Threads::Threads)
add_executable(tool tool.c)
target_link_libraries(tool queue)
"""
MESON = """\
project('example', 'c')
queue = static_library('queue', 'lib/queue.c')
headers = include_directories('lib')
executable('server', 'server.c', link_with: queue, include_directories: headers,
           dependencies: dependency('threads'))
executable('tool', 'tool.c', link_with: queue, include_directories: headers)
"""
MAKE = """\
CC = cc
all: server tool
lib/libqueue.a: lib/queue.o
\tar rcs $@ lib/queue.o
lib/queue.o: lib/queue.c
\t$(CC) -c lib/queue.c -o lib/queue.o
server: server.c lib/libqueue.a
\t$(CC) -Ilib server.c -o server -Llib -lqueue -lpthread
tool: tool.c lib/libqueue.a
\t$(CC) -Ilib -c tool.c
\t$(CC) -o tool tool.o lib/libqueue.a
"""


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def cmake_makefiles(folder: Path) -> None:
    (folder / "CMakeLists.txt").write_text(CMAKE)
    run("cmake", "-S", ".", "-B", "build", "-G", "Unix Makefiles")


def cmake_ninja(folder: Path) -> None:
    (folder / "CMakeLists.txt").write_text(CMAKE)
    run("cmake", "-S", ".", "-B", "build", "-G", "Ninja")


def meson(folder: Path) -> None:
    (folder / "meson.build").write_text(MESON)
    run("meson", "setup", "build")


def captured_make(folder: Path) -> None:
    (folder / "Makefile").write_text(MAKE)
    assert main(["capture", "--", "make", "-s"]) == 0


BUILDS = [cmake_makefiles, cmake_ninja, meson, captured_make]
TOOLS: dict[Callable[[Path], None], str] = {
    cmake_makefiles: "cmake",
    cmake_ninja: "cmake",
    meson: "meson",
    captured_make: "make",
}


@pytest.fixture(params=BUILDS, ids=lambda made: made.__name__)
def built(request: pytest.FixtureRequest, project: Path) -> Path:
    make: Callable[[Path], None] = request.param
    if shutil.which("cc") is None or shutil.which(TOOLS[make]) is None:
        pytest.skip(f"{TOOLS[make]} or cc is not installed")
    make(project)
    return project


def build_here() -> Build:
    path = nearby_database(Path())
    assert path is not None
    return read_build(read_database(path))


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    main([*words, "--format", "json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_real_builds(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The programs, their library, and the race inside of it; each build is made once."""
    build = build_here()
    assert build.is_linked
    assert [target.name for target in build.programs] == ["server", "tool"]
    server = build.target("server")
    files = [build.database.commands[number].source.path.name for number in server.units]
    assert sorted(files) == ["queue.c", "server.c"]
    assert build.target("queue").kind is LinkKind.STATIC
    with pytest.raises(UserError, match="did you mean server"):
        build.target("sever")

    assert main(["targets"]) == 0
    assert "server      program, 2 files, with libqueue.a" in capsys.readouterr().out

    found = answer(["scan"], capsys)
    assert {finding["location"]["name"] for finding in found["findings"]} >= {"count"}
    assert found["notices"] == []

    assert main(["check"]) == 2
    assert "makes 2 programs; name one with --target (server, tool)" in capsys.readouterr().err
    found = answer(["check", "--target", "server", "--first", "--timeout", "60"], capsys)
    assert found["verdict"] == "race"
    assert answer(["check", "--target", "tool"], capsys)["verdict"] == "race-free"


def test_capture_watches_a_cmake_build(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if shutil.which("cmake") is None or shutil.which("cc") is None:
        pytest.skip("cmake or cc is not installed")
    (project / "CMakeLists.txt").write_text(CMAKE)
    script = "cmake -S . -B build -G Ninja && cmake --build build"
    assert main(["capture", "--", "sh", "-c", script]) == 0
    assert "3 compilations, 3 links" in capfd.readouterr().err
    assert len(build_here().target("server").units) == 2


def test_capture_of_a_build_that_does_nothing(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["capture", "--", "true"]) == 2
    assert "compiled nothing" in capfd.readouterr().err
    assert not (project / "compile_commands.json").exists()


def test_capture_of_a_build_that_fails(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    script = "cc -Ilib -c server.c && exit 3"
    assert main(["capture", "--", "sh", "-c", script]) == 3
    assert "the build failed (exit code 3)" in capfd.readouterr().err
    assert main(["capture", "--", "none-such"]) == 2
    assert "no such command" in capfd.readouterr().err
    assert main(["capture"]) == 2


def test_a_second_capture_adds_to_the_first(project: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    assert main(["capture", "--", "cc", "-Ilib", "-c", "server.c"]) == 0
    assert main(["capture", "--", "cc", "-Ilib", "-c", "tool.c"]) == 0
    assert main(["capture", "--", "cc", "-Ilib", "-DNEW", "-c", "tool.c"]) == 0
    database = read_database(project / "compile_commands.json")
    assert [c.source.path.name for c in database.commands] == ["server.c", "tool.c"]
    assert "-DNEW" in database.commands[1].source.flags


def test_ninja_files(tmp_path: Path) -> None:
    (tmp_path / "rules.ninja").write_text("build sub/lib$ a.a: AR x.o\n")
    (tmp_path / "build.ninja").write_text(
        "# made by hand\nroot = out\ninclude rules.ninja\n"
        "build $root/x.o: CC x.c\n"
        "build prog | prog.map: LINK $root/x.o $\n    sub/lib$ a.a | z.so || order.stamp\n"
        "  LIBS = -lm\nbuild all: phony prog\n"
    )
    links = {link.output: link for link in ninja_links(tmp_path / "build.ninja")}
    program = links[str(tmp_path / "prog")]
    assert program.kind is LinkKind.PROGRAM
    assert program.inputs == tuple(
        str(tmp_path / name) for name in ("out/x.o", "sub/lib a.a", "z.so")
    )
    assert links[str(tmp_path / "sub" / "lib a.a")].kind is LinkKind.STATIC
    assert len(links) == 2
