"""What a compiler says about itself: where its headers are, for which machine, which defaults.

`cc -E -v -dM` answers all of it at once, for GCC and Clang alike, in a few hundredths of a second;
clangd does the same (`--query-driver`). A database is data from a repository, and asking a compiler
is running it: only programs with a compiler's name are run, and none that lies in the project.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from raceproof.frontend.builds.command_line import cross_target, is_compiler

SECONDS = 10.0
"""For one question."""
_START = "#include <...> search starts here:"
_END = "End of search list."
_MACRO = re.compile(r"#define (\w+) (.*)")
_WANTED = frozenset({
    "__GLIBC_MINOR__", "__GLIBC__", "__STDC_VERSION__", "__cplusplus", "__SIZEOF_POINTER__",
    "__CHAR_UNSIGNED__", "__GNUC_GNU_INLINE__", "__VERSION__", "_GLIBCXX_RELEASE",
})  # fmt: skip
_BUILTIN_HEADERS = re.compile(r"/(gcc|clang)(-cross)?/.*/include(-fixed)?$|/lib/clang/.*/include$")
_PROBE = "#include <features.h>\n"
_USUAL = ("/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include")


@dataclass(frozen=True, slots=True)
class Driver:
    """The answer; without `folders` the compiler could not be asked."""

    folders: tuple[str, ...] = ()
    """Of system headers, in the order of the search, but for those that belong to the compiler
    itself: Clang brings its own `stddef.h`, and its `stdatomic.h` would take the other's."""
    target: str = ""
    macros: tuple[tuple[str, str], ...] = ()
    trouble: str = ""

    def macro(self, name: str) -> str:
        return next((value for key, value in self.macros if key == name), "")

    def number(self, name: str) -> int:
        digits = re.match(r"\d+", self.macro(name))
        return int(digits[0]) if digits else 0

    @property
    def pointer_size(self) -> int:
        return self.number("__SIZEOF_POINTER__") or 8

    @property
    def c_standard(self) -> str:
        """What `cc` takes where no `-std` is given."""
        version = self.number("__STDC_VERSION__")
        names = ((202300, "gnu23"), (201710, "gnu17"), (201112, "gnu11"), (199901, "gnu99"))
        return next((name for least, name in names if version >= least), "gnu17")

    @property
    def cxx_standard(self) -> str:
        version = self.number("__cplusplus")
        names = ((202302, "gnu++23"), (202002, "gnu++20"), (201703, "gnu++17"),
                 (201402, "gnu++14"), (201103, "gnu++11"), (1, "gnu++98"))  # fmt: skip
        return next((name for least, name in names if version >= least), "gnu++20")


@lru_cache
def usual_folders() -> tuple[str, ...]:
    """Where systems keep headers, for files that no build speaks of."""
    return tuple(folder for folder in _USUAL if os.path.isdir(folder))


def ask(compiler: str, is_cxx: bool, query: tuple[str, ...], folder: Path | None) -> Driver:
    """What the compiler of a command says, or why it says nothing."""
    if not is_compiler(compiler):
        return _substitute(f"`{compiler}` is no compiler that is known here", "")
    found = _located(compiler, folder)
    target = cross_target(compiler)
    if found is None:
        return _substitute(f"the compiler `{compiler}` is not on this machine", target)
    if is_inside(found, folder):
        trouble = f"the compiler `{compiler}` lies inside of the project and is not run"
        return _substitute(trouble, target)
    return _answer(found, is_cxx, query)


def _located(compiler: str, folder: Path | None) -> str | None:
    if os.sep not in compiler:
        return shutil.which(compiler)
    path = os.path.join(folder or ".", compiler)
    return os.path.abspath(path) if os.access(path, os.X_OK) else None


def is_inside(path: str, folder: Path | None) -> bool:
    """Whether a file is part of what is looked at: below us, or below the build's folder."""
    places = {os.path.realpath("."), os.path.realpath(folder or ".")} - {"/"}
    real = os.path.join(os.path.realpath(path), "")
    return any(real.startswith(place + os.sep) for place in places)


def _substitute(trouble: str, target: str) -> Driver:
    """The system's own compiler in place of one that cannot be asked, unless it is for another
    machine."""
    native = shutil.which("cc") or shutil.which("gcc")
    is_native = not target or target.startswith(("x86_64", "i386", "i686"))
    known = _answer(native, False, ()) if native and is_native else Driver(usual_folders())
    if not is_native:
        size = 8 if re.search("64|s390x|alpha", target) else 4
        known = Driver(macros=(("__SIZEOF_POINTER__", str(size)),))
    return Driver(known.folders, target or known.target, known.macros, trouble)


@lru_cache(maxsize=256)
def _answer(program: str, is_cxx: bool, query: tuple[str, ...]) -> Driver:
    """Without the C library, if that is not there for the machine (`-m32`)."""
    found = _asked(program, is_cxx, query, _PROBE)
    if found.trouble or found.macros:
        return found
    return _asked(program, is_cxx, query, "")


def _asked(program: str, is_cxx: bool, query: tuple[str, ...], probe: str) -> Driver:
    language = "c++" if is_cxx else "c"
    command = [program, *query, "-E", "-v", "-dM", "-x", language, "-"]
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, input=probe.encode(), capture_output=True, timeout=SECONDS, env=environment,
            check=False, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return _unanswered(program, f"gives no answer within {SECONDS:.0f} s")
    except OSError as error:
        return _unanswered(program, f"cannot be started: {error.strerror}")
    said = done.stderr.decode("utf-8", "replace")
    folders = _folders(said)
    if not folders:
        return _unanswered(program, "does not say where its headers are")
    target = re.search(r"^Target: (\S+)", said, re.M)
    macros = tuple(
        (line[1], line[2])
        for line in map(_MACRO.match, done.stdout.decode("utf-8", "replace").splitlines())
        if line is not None and line[1] in _WANTED
    )
    return Driver(folders, target[1] if target else "", macros)


def _unanswered(program: str, why: str) -> Driver:
    return Driver(usual_folders(), trouble=f"the compiler `{program}` {why}")


def _folders(said: str) -> tuple[str, ...]:
    _, _, listed = said.partition(_START)
    listed, end, _ = listed.partition(_END)
    if not end:
        return ()
    names = [os.path.normpath(line.strip()) for line in listed.splitlines() if line.strip()]
    names = [name for name in dict.fromkeys(names) if os.path.isdir(name)]
    return tuple(name for name in names if not _BUILTIN_HEADERS.search(name))
