"""Which types of exceptions a `catch` takes: the classes of a module and their bases.

The compiler writes a constant for each class: a pointer to the kind of class, the name, and the
bases; with several bases, or virtual ones, each with its offset.

    @_ZTI7Timeout = constant { ptr, ptr, ptr } { ..., ptr @_ZTS7Timeout, ptr @_ZTI5Error }

The library's own are only declared; their bases are known from the standard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from raceproof.frontend.module_text import ModuleText

_INFORMATION = re.compile(r'^@"?_ZTI')
_POINTER = re.compile(r'ptr (@"[^"]*"|@[-\w.$]+)')
_BASE = re.compile(r'ptr (@"?_ZTI[^,\s]*), i64 (-?\d+)')
_STANDARD = {
    "St11logic_error": "St9exception",
    "St13runtime_error": "St9exception",
    "St12domain_error": "St11logic_error",
    "St16invalid_argument": "St11logic_error",
    "St12length_error": "St11logic_error",
    "St12out_of_range": "St11logic_error",
    "St11range_error": "St13runtime_error",
    "St14overflow_error": "St13runtime_error",
    "St15underflow_error": "St13runtime_error",
    "St12system_error": "St13runtime_error",
    "NSt3__112system_errorE": "St13runtime_error",
    "St12future_error": "St11logic_error",
    "NSt3__112future_errorE": "St11logic_error",
    "St9bad_alloc": "St9exception",
    "St20bad_array_new_length": "St9bad_alloc",
    "St8bad_cast": "St9exception",
    "St10bad_typeid": "St9exception",
    "St13bad_exception": "St9exception",
    "St12bad_weak_ptr": "St9exception",
    "NSt3__112bad_weak_ptrE": "St9exception",
    "St17bad_function_call": "St9exception",
    "NSt3__117bad_function_callE": "St9exception",
    "St18bad_variant_access": "St9exception",
    "St19bad_optional_access": "St9exception",
    "St12bad_any_cast": "St8bad_cast",
}


class Hierarchy:
    """The classes that a module speaks of; each has a number, which its landing pads use."""

    def __init__(self, module: ModuleText) -> None:
        self._numbers: dict[str, int] = {"null": 1}
        self._bases: dict[str, list[tuple[str, int]]] = {}
        for token, rest in module.globals:
            if _INFORMATION.match(token):
                self._bases[token] = list(_bases(token, rest))

    def number(self, token: str) -> int:
        return self._numbers.setdefault(token, len(self._numbers) + 1)

    def derived(self, base: str) -> Iterator[tuple[str, int]]:
        """The class and all that have it as a base, with the base's offset in them."""
        for token in self._bases:
            offset = self._offset(token, base, frozenset())
            if offset is not None:
                yield token, offset
        if base not in self._bases:
            yield base, 0

    def _offset(self, token: str, base: str, seen: frozenset[str]) -> int | None:
        if token == base:
            return 0
        if token in seen:
            return None
        for parent, offset in self._bases.get(token) or _standard_bases(token):
            found = self._offset(parent, base, seen | {token})
            if found is not None:
                return offset + found
        return None


def _bases(token: str, rest: str) -> Iterator[tuple[str, int]]:
    if "__vmi_class_type_info" in rest:
        for parent, flags in _BASE.findall(rest):
            yield parent, int(flags) >> 8
    elif "__si_class_type_info" in rest:
        for parent in _POINTER.findall(rest):
            if _INFORMATION.match(parent):
                yield parent, 0
    else:
        yield from _standard_bases(token)


def _standard_bases(token: str) -> list[tuple[str, int]]:
    parent = _STANDARD.get(token.strip('@"').removeprefix("_ZTI"))
    return [(f"@_ZTI{parent}", 0)] if parent else []
