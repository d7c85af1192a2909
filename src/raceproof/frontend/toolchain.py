"""Where the compiler is and how to call it.

Clang comes inside the `ziglang` wheel as `zig clang`: a bare Clang that must be told its headers.
`--clang PATH` takes another one, which knows its own; so does the system's, which is taken where
the wheel (`pip install 'raceproof[clang]'`) is not installed.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.machinery import ModuleSpec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Event

from raceproof.errors import UserError
from raceproof.frontend.builds.drivers import Driver, ask, is_inside, usual_folders
from raceproof.frontend.source import Source
from raceproof.options import DataModel, Options

TARGETS = {DataModel.ILP32: "i386-linux-gnu", DataModel.LP64: "x86_64-linux-gnu"}

C_FLAGS = ("-std=gnu17", "-fgnu89-inline")
CXX_FLAGS = ("-std=gnu++20",)
COMMON_FLAGS = (
    "-O0",
    "-g",
    "-Xclang",
    "-disable-O0-optnone",
    "-w",
    "-fno-color-diagnostics",
    "-ferror-limit=5",
)
TOLERANT_FLAGS = tuple(
    f"-Wno-error={name}"
    for name in (
        "implicit-function-declaration",
        "implicit-int",
        "int-conversion",
        "incompatible-pointer-types",
        "incompatible-function-pointer-types",
        "return-type",
        "return-mismatch",
        "register",
    )
)
_GLIBC_MINOR = 31
"""The wheel's headers serve every glibc and ask which one: without it, `threads.h` is refused."""
_LIBCXX_SITE = (
    "_LIBCPP_ABI_VERSION=1",
    "_LIBCPP_ABI_NAMESPACE=__1",
    "_LIBCPP_HAS_THREADS=1",
    "_LIBCPP_HAS_MONOTONIC_CLOCK",
    "_LIBCPP_HAS_TERMINAL",
    "_LIBCPP_HAS_MUSL_LIBC=0",
    "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "_LIBCPP_HAS_FILESYSTEM=1",
    "_LIBCPP_HAS_RANDOM_DEVICE",
    "_LIBCPP_HAS_LOCALIZATION",
    "_LIBCPP_HAS_UNICODE",
    "_LIBCPP_HAS_WIDE_CHARACTERS",
    "_LIBCPP_HAS_NO_STD_MODULES",
    "_LIBCPP_HAS_TIME_ZONE_DATABASE",
    "_LIBCPP_PSTL_BACKEND_SERIAL",
    "_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
)


REPLACED_HEADERS = Path(__file__).parent / "library" / "cxx"
"""Headers of ours that come before the C++ library's, see `cplusplus`."""

_OLDER_STANDARDS = ("gnu++17", "gnu++14", "gnu++98")
"""In C++ 20 `result_of` went, in C++ 17 `register` and `auto_ptr`, in C++ 11 `bind` came."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A way to compile a file, if not the usual one."""

    has_own_headers: bool = False
    """With the build's C and C++ libraries instead of the bundled ones."""
    is_plain: bool = False
    """With the C++ library's own futures, latches, barriers and semaphores, see `cplusplus`."""
    standard: str = ""

    @property
    def notice(self) -> str:
        """What to tell, if it is this way that works."""
        said = []
        if self.standard:
            said.append(f"compiles as {self.standard} only")
        if self.has_own_headers:
            said.append("needs the system's own C and C++ headers, the bundled ones do not fit")
        return "; ".join(said)


class Running:
    """The compilers that are at work, so that none goes on when its result is not wanted any
    more."""

    def __init__(self) -> None:
        self._processes: set[Popen[bytes]] = set()
        self._is_over = Event()

    def run(
        self, command: Sequence[str], text: bytes | None, folder: Path | None
    ) -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error."""
        if self._is_over.is_set():
            raise UserError("the compiler was stopped")
        source = DEVNULL if text is None else PIPE
        with Popen(command, stdin=source, stdout=PIPE, stderr=PIPE, cwd=folder) as process:
            self._processes.add(process)
            try:
                if self._is_over.is_set():
                    process.kill()
                output, errors = process.communicate(text)
            except BaseException:
                process.kill()
                raise
            finally:
                self._processes.discard(process)
        return process.returncode, output, errors

    def stop(self) -> None:
        """Ends those at work; no further one starts."""
        self._is_over.set()
        for process in list(self._processes):
            process.kill()


@dataclass(frozen=True)
class Toolchain:
    """A Clang and the flags it always gets."""

    options: Options
    running: Running = field(default_factory=Running, compare=False, repr=False)

    @cached_property
    def _spec(self) -> ModuleSpec | None:
        return importlib.util.find_spec("ziglang")

    @cached_property
    def _wheel(self) -> Path:
        assert self._spec is not None
        assert self._spec.origin is not None
        return Path(self._spec.origin).parent

    @cached_property
    def clang(self) -> Path | None:
        """A Clang that knows its own headers: the user's, or, where the bundled one is not
        installed, the system's. None: the bundled one."""
        if self.options.clang is not None or self._spec is not None:
            return self.options.clang
        from raceproof.frontend.system_clang import system_clang

        return system_clang()

    @property
    def bundled_compiler(self) -> str:
        """The wheel's compiler as a whole, which links and brings ThreadSanitizer."""
        return str(self._wheel / "zig")

    @cached_property
    def command(self) -> tuple[str, ...]:
        """What starts Clang."""
        clang = self.clang
        if clang is None:
            return (str(self._wheel / "zig"), "clang")
        if not clang.exists() and "/" in str(clang):
            raise UserError(f"--clang {clang}: there is no such file")
        return (str(clang),)

    @property
    def own_folders(self) -> tuple[Path, ...]:
        """Folders whose files are as fixed as the compiler itself."""
        return (self._wheel,) if self.clang is None else ()

    def _bundled(self, is_cxx: bool, glibc_minor: int, is_plain: bool) -> Iterator[str]:
        """The headers of the wheel."""
        library = self._wheel / "lib"
        libc = library / "libc" / "include"
        yield f"-D__GLIBC_MINOR__={glibc_minor}"
        folders = [
            library / "include",
            *(
                libc / name
                for name in ("x86-linux-gnu", "generic-glibc", "x86-linux-any", "any-linux-any")
            ),
        ]
        if is_cxx:
            yield "-nostdinc++"
            yield from (f"-D{macro}" for macro in _LIBCXX_SITE)
            folders = [library / "libcxx" / "include", library / "libcxxabi" / "include", *folders]
            if not is_plain:
                folders.insert(0, REPLACED_HEADERS / "libcxx")
        for folder in folders:
            yield from ("-isystem", str(folder))

    def _headers(self, is_cxx: bool, driver: Driver | None, attempt: Attempt) -> Iterator[str]:
        """Flags that name the system headers; none for a Clang of the user's."""
        if is_cxx and not attempt.is_plain:
            yield from ("-isystem", str(REPLACED_HEADERS / "any"))
        if self.clang is not None:
            return
        yield "-nostdinc"
        folders = driver.folders if driver is not None else usual_folders()
        if attempt.has_own_headers:
            for folder in (str(self._wheel / "lib" / "include"), *folders):
                yield from ("-isystem", folder)
            return
        minor = driver.number("__GLIBC_MINOR__") if driver is not None else 0
        yield from self._bundled(is_cxx, minor or _GLIBC_MINOR, attempt.is_plain)
        for folder in folders:
            if "/c++" not in folder:
                yield from ("-idirafter", folder)

    def driver(self, source: Source) -> Driver | None:
        """What the build's compiler says about itself; None if no build speaks of the file."""
        if not source.compiler:
            return None
        return ask(source.compiler, source.is_cxx, source.query, source.folder)

    def notices(self, sources: Iterable[Source]) -> tuple[str, ...]:
        """What is odd about the compilers of a build, each once."""
        found: dict[str, None] = {}
        for source in sources:
            driver = self.driver(source)
            if driver is None:
                continue
            if driver.trouble:
                found[driver.trouble] = None
            if driver.target and not driver.target.startswith(("x86_64", "i386", "i486", "i686")):
                bits = 8 * driver.pointer_size
                found[f"built for {driver.target}, looked at as {bits}-bit x86"] = None
        return tuple(found)

    def system_folders(self, source: Source) -> tuple[str, ...]:
        """Where headers lie that are not the project's; `CPATH` may name folders of the project."""
        driver = self.driver(source)
        found = driver.folders if driver is not None else usual_folders()
        found = tuple(folder for folder in found if not is_inside(folder, source.folder))
        own = tuple(str(folder) for folder in self.own_folders)
        return (*own, str(REPLACED_HEADERS), *found, *usual_folders(), "/usr/lib")

    def flags(self, is_cxx: bool) -> tuple[str, ...]:
        """The flags for a file that no build speaks of."""
        return self.flags_for(Source(Path("a.cc" if is_cxx else "a.c")))

    def flags_for(self, source: Source, attempt: Attempt = Attempt()) -> tuple[str, ...]:
        """All flags for a file, in the order in which later ones win."""
        options = self.options
        driver = self.driver(source)
        standard = (f"-std={options.std}",) if options.std else ()
        return (
            f"--target={self._target(source, driver)}",
            *_language(source.is_cxx, driver),
            *standard,
            *COMMON_FLAGS,
            *TOLERANT_FLAGS,
            *self._headers(source.is_cxx, driver, attempt),
            *(f"-I{folder}" for folder in options.include_dirs),
            *(f"-D{macro}" for macro in options.defines),
            *options.clang_args,
            *_without_folders(source.flags, driver),
            *((f"-std={attempt.standard}",) if attempt.standard else ()),
        )

    def attempts(self, source: Source) -> Iterator[Attempt]:
        """Ways to compile a file that failed the usual way."""
        if source.is_cxx and not source.is_preprocessed:
            yield Attempt(is_plain=True)
        if self.clang is not None or source.is_preprocessed:
            return
        driver = self.driver(source)
        folders = driver.folders if driver is not None else usual_folders()
        if folders and (driver is not None or not source.is_cxx):
            yield Attempt(has_own_headers=True)
        is_free = not self.options.std and not any(f.startswith("-std=") for f in source.flags)
        if source.is_cxx and is_free:
            for standard in _OLDER_STANDARDS:
                yield Attempt(standard=standard)
                yield Attempt(standard=standard, is_plain=True)
                if folders and driver is not None:
                    yield Attempt(has_own_headers=True, standard=standard)

    def _target(self, source: Source, driver: Driver | None) -> str:
        is_narrow = driver is not None and driver.pointer_size == 4
        is_narrow = is_narrow or "-m32" in source.query
        return TARGETS[DataModel.ILP32 if is_narrow else self.options.data_model]


def _language(is_cxx: bool, driver: Driver | None) -> tuple[str, ...]:
    """What the compiler takes without being told."""
    if driver is None or not driver.macros:
        return CXX_FLAGS if is_cxx else C_FLAGS
    char = ("-funsigned-char",) if driver.macro("__CHAR_UNSIGNED__") else ()
    if is_cxx:
        return (f"-std={driver.cxx_standard}", *char)
    return (f"-std={driver.c_standard}", *char)


def _without_folders(flags: tuple[str, ...], driver: Driver | None) -> Iterator[str]:
    """Without `-I/usr/include`: compilers ignore it, too, and take the folder in its own turn."""
    known = frozenset(driver.folders) if driver is not None else frozenset()
    rest = iter(flags)
    for flag in rest:
        if flag in ("-I", "-isystem"):
            folder = next(rest, "")
            if os.path.normpath(folder) not in known:
                yield from (flag, folder)
        elif flag.startswith("-I") and os.path.normpath(flag[2:]) in known:
            continue
        else:
            yield flag
