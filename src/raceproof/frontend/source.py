"""A translation unit: a file, and how its build compiles it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from raceproof.frontend.builds.command_line import C_SUFFIXES, CXX_SUFFIXES

__all__ = ["CXX_SUFFIXES", "C_SUFFIXES", "LLVM_SUFFIXES", "Source"]

LLVM_SUFFIXES = frozenset({".ll", ".bc"})
_PREPROCESSED = frozenset({".i", ".ii"})


@dataclass(frozen=True, slots=True)
class Source:
    """One file to compile: `flags` are its own, from a build database; `folder` where it is
    compiled."""

    path: Path
    flags: tuple[str, ...] = ()
    folder: Path | None = None
    compiler: str = ""
    """Of the build, as its command names it; empty if no build speaks of the file."""
    query: tuple[str, ...] = ()
    """Flags that change what the compiler says about itself."""
    language: str = ""
    """`c` or `c++`, if it is not the suffix that tells."""

    @property
    def is_cxx(self) -> bool:
        if self.language:
            return self.language == "c++"
        return self.path.suffix in CXX_SUFFIXES

    @property
    def is_preprocessed(self) -> bool:
        return self.path.suffix in _PREPROCESSED
