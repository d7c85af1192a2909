"""Names that translation units define and lack, told from their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DEFINED = re.compile(r'^define (?!internal |private )[^@\n]*@("[^"\n]+"|[-\w.$]+)\(', re.M)
_ALIAS = re.compile(
    r'^@("[^"\n]+"|[-\w.$]+) = (?!internal |private )[^\n@]*\b(?:alias|ifunc) ', re.M
)
_DECLARED = re.compile(r'^declare [^@\n]*@("[^"\n]+"|[-\w.$]+)\(', re.M)
_LIKE_DEFINITION = re.compile(
    r"\b(\w+)\s*\((?:[^;{}()]|\((?:[^;{}()]|\([^;{}()]*\))*\))*\)\s*"
    r"(?:(?:const|noexcept|override|__\w+(?:\s*\(\([^{};]*\)\))?)\s*)*\{"
)
_WORD = re.compile(r"[A-Za-z_]\w*")


def defined_functions(text: str) -> set[str]:
    """Functions with a body in an LLVM module that other modules see."""
    return {name.strip('"') for name in (*_DEFINED.findall(text), *_ALIAS.findall(text))}


def undefined_functions(text: str) -> set[str]:
    """Functions that an LLVM module only declares."""
    names = (name.strip('"') for name in _DECLARED.findall(text))
    return {name for name in names if not name.startswith("llvm.")}


def seemingly_defined(source: str) -> set[str]:
    """What looks like a definition in a C text: more than there are, hardly one too few."""
    return set(_LIKE_DEFINITION.findall(source))


def words_of(texts: Iterable[str]) -> set[str]:
    """All identifiers in texts."""
    return {word for text in texts for word in _WORD.findall(text)}
