"""``raceproof doctor``: what works on this machine, and what to do where something does not."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from raceproof.errors import UserError
from raceproof.options import Options
from raceproof.version import __version__

EPILOG = """\
Looks for the compiler, its headers, the libraries and the limits of this machine, and checks a
small program with a race.

examples:
  raceproof doctor
  raceproof doctor --clang clang-22    (that Clang instead)

exit codes:
  0  what is needed works
  2  something that is needed does not
"""

_RACE = """\
#include <pthread.h>
int shared;
static void *work(void *unused) { shared = 1; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    shared = 2;
    return pthread_join(thread, 0);
}
"""
_CXX = "#include <mutex>\n#include <thread>\nint main() { return 0; }\n"


@dataclass(frozen=True, slots=True)
class Line:
    """What was looked at, and what was found."""

    what: str
    found: str
    is_fine: bool = True
    is_needed: bool = True


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--clang",
        dest="clang",
        type=Path,
        metavar="PATH",
        default=None,
        help="look at this Clang instead of the bundled one",
    )


def run(arguments: Namespace) -> int:
    is_fine = True
    for line in examine(Options(clang=arguments.clang, timeout=60)):
        mark = "ok  " if line.is_fine else "FAIL" if line.is_needed else "--  "
        print(f"{mark}  {line.what:<12} {line.found}", flush=True)
        is_fine &= line.is_fine or not line.is_needed
    return 0 if is_fine else 2


def examine(options: Options) -> Iterator[Line]:
    yield Line("raceproof", f"{__version__}, Python {platform.python_version()}")
    yield Line("system", f"{platform.system()} {platform.machine()}", sys.platform == "linux")
    yield from _libraries()
    yield _tried("compiler", lambda: _compiler(options))
    yield _tried("C", lambda: _checked(options, "race.c", _RACE))
    yield _tried("C++", lambda: _checked(options, "threads.cpp", _CXX), is_needed=False)
    yield Line("processors", str(len(os.sched_getaffinity(0))))
    yield _memory()
    yield _cgroups()


def _libraries() -> Iterator[Line]:
    for name in ("llvmlite", "bitwuzla", "rich", "jinja2"):
        try:
            yield Line(name, version(name))
        except PackageNotFoundError:
            yield Line(name, f"not installed: pip install {name}", is_fine=False)


def _tried(what: str, look: Callable[[], str], is_needed: bool = True) -> Line:
    try:
        return Line(what, look())
    except UserError as error:
        return Line(what, str(error).partition("\n")[0], False, is_needed)


def _compiler(options: Options) -> str:
    from raceproof.frontend.system_clang import llvm_version, version_of
    from raceproof.frontend.toolchain import Toolchain

    command = Toolchain(options).command
    wanted = llvm_version()
    if len(command) > 1:
        return f"bundled (ziglang {version('ziglang')}), LLVM {wanted}"
    found = version_of(command[0])
    if found != wanted:
        raise UserError(f"{command[0]} is Clang {found}; LLVM {wanted} is read here")
    return f"{command[0]}, Clang {found}"


def _checked(options: Options, name: str, text: str) -> str:
    from raceproof import api

    with tempfile.TemporaryDirectory(prefix="raceproof-") as folder:
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        verdict = api.check([file], options)
    if name == "race.c" and not verdict.findings:
        raise UserError("the race of a small program was not found; please report this as a bug")
    found = "headers found, a race found" if verdict.findings else "headers found"
    return f"{found}, {verdict.seconds:.1f} s"


def _memory() -> Line:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    limit = _cgroup_limit()
    said = f"{total:.1f} GiB" + (f", limited to {limit:.1f} GiB" if limit else "")
    return Line("memory", said, (limit or total) >= 1.0, is_needed=False)


def _cgroup_limit() -> float | None:
    for file in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            text = Path("/sys/fs/cgroup", file).read_text().strip()
        except OSError:
            continue
        if text.isdigit() and int(text) < 1 << 50:
            return int(text) / (1 << 30)
    return None


def _cgroups() -> Line:
    """What `bench` measures with, if it may."""
    is_there = os.access("/sys/fs/cgroup/cgroup.subtree_control", os.W_OK)
    said = "may be used" if is_there else "may not be used: bench limits by other means"
    return Line("cgroups", said, is_there, is_needed=False)
