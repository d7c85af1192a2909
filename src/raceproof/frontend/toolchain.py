"""Where the compiler is and how to call it.

Clang comes inside the `ziglang` wheel as `zig clang`: a bare Clang that must be told its headers.
`--clang PATH` takes another one, which knows its own.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from raceproof.errors import UserError
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


@dataclass(frozen=True)
class Toolchain:
    """A Clang and the flags it always gets."""

    options: Options

    @cached_property
    def _wheel(self) -> Path:
        spec = importlib.util.find_spec("ziglang")
        if spec is None or spec.origin is None:
            raise UserError(
                "no compiler: the package `ziglang` is not installed; "
                "install it with pip, or name a Clang with --clang PATH"
            )
        return Path(spec.origin).parent

    @cached_property
    def command(self) -> tuple[str, ...]:
        """What starts Clang."""
        clang = self.options.clang
        if clang is None:
            return (str(self._wheel / "zig"), "clang")
        if not clang.exists() and "/" in str(clang):
            raise UserError(f"--clang {clang}: there is no such file")
        return (str(clang),)

    @property
    def own_folders(self) -> tuple[Path, ...]:
        """Folders whose files are as fixed as the compiler itself."""
        return (self._wheel,) if self.options.clang is None else ()

    def headers(self, is_cxx: bool) -> tuple[str, ...]:
        """Flags that name the system headers; none for a Clang of the user's."""
        if self.options.clang is not None:
            return ()
        library = self._wheel / "lib"
        libc = library / "libc" / "include"
        folders = [
            library / "include",
            *(
                libc / name
                for name in ("x86-linux-gnu", "generic-glibc", "x86-linux-any", "any-linux-any")
            ),
        ]
        flags = ["-nostdinc", f"-D__GLIBC_MINOR__={_GLIBC_MINOR}"]
        if is_cxx:
            flags.append("-nostdinc++")
            flags += [f"-D{macro}" for macro in _LIBCXX_SITE]
            folders = [library / "libcxx" / "include", library / "libcxxabi" / "include", *folders]
        for folder in folders:
            flags += ["-isystem", str(folder)]
        return tuple(flags)

    def flags(self, is_cxx: bool) -> tuple[str, ...]:
        """All flags but the file's own, in the order in which later ones win."""
        options = self.options
        standard = (f"-std={options.std}",) if options.std else ()
        return (
            f"--target={TARGETS[options.data_model]}",
            *(CXX_FLAGS if is_cxx else C_FLAGS),
            *standard,
            *COMMON_FLAGS,
            *TOLERANT_FLAGS,
            *self.headers(is_cxx),
            *(f"-I{folder}" for folder in options.include_dirs),
            *(f"-D{macro}" for macro in options.defines),
            *options.clang_args,
        )
