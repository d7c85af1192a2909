"""Who declares a function: the project, the system, or both.

    # 1 "/usr/include/stack.h" 1 3 4
    #pragma GCC visibility push(default)        not a declaration of push
    struct stack { int (*push)(int); };         neither is a member
    # 7 "queue.h"
    int push(int);                              this is one, of the project

A name that a header of the system mentions says nothing. What counts is where the declarations
lie, so the unit is preprocessed once more: its text then has every macro replaced, and marks the
file of every line. The two sides are read differently, because only one of the mistakes is unsound:

- the system declares a function if a declarator of that name, with its parameters, stands in one
  of its headers outside of any body, struct and parameter list, and is no `typedef`. In C++ it must
  stand in the namespace or class that the linker's name says, or the class must be the system's.
- the project declares it if the name stands in one of its files in what could be a declaration, be
  it in a block, a parameter list or a wrong namespace.

An `asm` label declares the name in it: `int fscanf(...) __asm__("__isoc99_fscanf")`.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from raceproof.ir import UnitOrigin

Path = tuple[str, ...]
"""A name with its scopes: ("queue", "push")."""

SECONDS = 60.0
"""For one unit."""
_TOKEN = re.compile(
    r"""^\#[^\n]*$                                            # a line marker or a pragma
    |(?P<asm>\b(?:__)?asm(?:__)?\s*\(\s*(?:"(?:[^"\\\n]|\\.)*"\s*)+\))
    |\b(?:u8|[uUL])?R"(?P<raw>[^()\\\s]*)\((?:.|\n)*?\)(?P=raw)"
    |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'
    |\b\d(?:'?[\w.])*
    |(?P<word>[A-Za-z_$][\w$]*)
    |(?P<mark>[{}();])""",
    re.M | re.X,
)
_MARKER = re.compile(r'# \d+ "((?:[^"\\]|\\.)*)"')
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_LINES = re.compile(r"^#[^\n]*$", re.M)
_NAMESPACE = re.compile(r"\bnamespace\b\s*((?:\w+(?:\s*::\s*)?)*)")
_CLASS = re.compile(r"\b(?:class|struct|union)\s+((?:\w+\s*(?:::\s*)?)+)")
_AFTER_FUNCTION = re.compile(r"(?:\)|\b(?:const|noexcept|override|final|try|volatile)|=)\s*$")
_NO_TYPES = frozenset({
    "return", "else", "do", "goto", "case", "sizeof", "typeof", "__typeof__", "throw", "new",
    "delete", "co_return", "co_await", "co_yield", "and", "or", "not", "struct", "union", "enum",
    "class", "alignof", "_Alignof", "__extension__",
})  # fmt: skip
_RETURNS_FUNCTION = re.compile(r"([\w\s*]+)\(\s*\*")
_LENGTH = re.compile(r"\d+")


@dataclass(slots=True)
class Found:
    """Where the declarations of one name in one unit are."""

    system: bool = False
    project: set[str] = field(default_factory=set)
    """Files."""
    is_used: bool = False
    """The word stands somewhere in the project."""


def declarations(
    units: Sequence[UnitOrigin], names: Collection[str], system_folders: Sequence[str]
) -> dict[str, list[Found]]:
    """For each name what is found in each of the units that lack it."""
    wanted = frozenset(names)
    asked = [unit for unit in units if not wanted.isdisjoint(unit.lacking)]
    places = tuple(os.path.join(folder, "") for folder in system_folders)

    def one(unit: UnitOrigin) -> dict[str, Found]:
        text = _preprocessed(unit) if unit.preprocess else ""
        mine = wanted & unit.lacking
        if not text:
            return {name: Found(is_used=True) for name in mine}
        return read_declarations(text, mine, unit.folder, places, unit.is_cxx)

    with ThreadPoolExecutor(min(len(asked), os.cpu_count() or 1) or 1) as pool:
        results = list(pool.map(one, asked))
    found: dict[str, list[Found]] = {name: [] for name in wanted}
    for result in results:
        for name, where in result.items():
            found[name].append(where)
    return found


def _preprocessed(unit: UnitOrigin) -> str:
    try:
        done = subprocess.run(
            unit.preprocess, capture_output=True, check=False, timeout=SECONDS, cwd=unit.folder
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")


def read_declarations(
    text: str, names: Collection[str], folder: str, places: tuple[str, ...], is_cxx: bool = False
) -> dict[str, Found]:
    """In the text of one preprocessed unit; `places` are the folders of the system."""
    return _Reader(text, names, folder, places, is_cxx).read()


def scoped(name: str) -> Path:
    """`_ZN5queue4pushEi` is ("queue", "push"); only as far as there are plain names.

    A constructor has the name of its class.
    """
    if not name.startswith("_Z"):
        return (name,)
    at = 2
    while name[at : at + 1] in ("N", "K", "L", "V", "r") and at < 5:
        at += 1
    parts: list[str] = []
    while length := _LENGTH.match(name, at):
        end = length.end() + int(length[0])
        parts.append(name[length.end() : end])
        at = end
    if parts and re.match(r"[CD]\d", name[at:]):
        parts.append(parts[-1])
    return tuple(parts)


@dataclass(slots=True)
class _Scope:
    """An open brace: of a namespace or class (`path` is its own), or of a body."""

    path: Path | None
    is_class: bool = False


class _Reader:
    """One pass over the tokens; what matters of a declaration is told from its text so far."""

    def __init__(
        self,
        text: str,
        names: Collection[str],
        folder: str,
        places: tuple[str, ...],
        is_cxx: bool,
    ) -> None:
        self._text = text
        self._folder = folder
        self._places = places
        self._is_cxx = is_cxx
        self._found = {name: Found() for name in names}
        self._paths = {name: scoped(name) for name in names}
        self._words: dict[str, list[str]] = {}
        for name, path in self._paths.items():
            for part in path:
                self._words.setdefault(part, []).append(name)
        self._file = ""
        self._is_system = True
        """The lines before the first marker, and those of the command line, belong to no file."""
        self._scopes: list[_Scope] = []
        self._parentheses = 0
        self._start = 0
        """Where the declaration or statement at hand begins."""

    def read(self) -> dict[str, Found]:
        for token in _TOKEN.finditer(self._text):
            kind = token.lastgroup
            if kind == "word":
                if token["word"] in self._words:
                    self._word(token["word"], token.start(), token.end())
            elif kind == "mark":
                self._mark(token["mark"], token.start())
            elif kind == "asm":
                self._label("".join(_STRING.findall(token[0])), token.start())
            elif token[0].startswith("#"):
                self._line(token[0])
        return self._found

    def _line(self, line: str) -> None:
        marker = _MARKER.match(line)
        if marker is None:
            return
        name = marker[1].replace('\\"', '"').replace("\\\\", "\\")
        if name.startswith("<"):
            self._file, self._is_system = "", True
            return
        self._file = os.path.normpath(os.path.join(self._folder, name))
        self._is_system = self._file.startswith(self._places)

    @property
    def _path(self) -> Path | None:
        """Of the scope that declarations stand in; None inside of a body."""
        return self._scopes[-1].path if self._scopes else ()

    def _mark(self, mark: str, at: int) -> None:
        if mark == "(":
            self._parentheses += 1
        elif mark == ")":
            self._parentheses = max(0, self._parentheses - 1)
        elif mark == "{":
            self._scopes.append(self._opened(at))
            self._start, self._parentheses = at + 1, 0
        elif mark == "}":
            if self._scopes:
                self._scopes.pop()
            self._start, self._parentheses = at + 1, 0
        elif not self._parentheses:
            self._start = at + 1

    def _opened(self, at: int) -> _Scope:
        outer = self._path
        if outer is None or not self._is_cxx:
            return _Scope(None)
        bare = _STRING.sub('""', self._head(at))
        if namespace := _NAMESPACE.search(bare):
            parts = re.findall(r"\w+", namespace[1])
            # An inline namespace has no effect here: the linker's name has it, too.
            return _Scope((*outer, *parts))
        if re.search(r'\bextern\s*""\s*$', bare):
            return _Scope(outer)
        classes = _CLASS.search(bare)
        if classes and not _AFTER_FUNCTION.search(bare):
            words = re.findall(r"\w+", classes[1])
            path = (*outer, words[-1]) if words else outer
            self._defined_class(path)
            return _Scope(path, is_class=True)
        return _Scope(None)

    def _defined_class(self, path: Path) -> None:
        for name in self._words.get(path[-1] if path else "", ()):
            wanted = self._paths[name]
            if self._is_system:
                self._found[name].system |= len(wanted) > 1 and wanted[: len(path)] == path
            elif path[-1] in wanted[:-1]:
                self._found[name].project.add(self._file)

    def _label(self, label: str, start: int) -> None:
        found = self._found.get(label)
        if found is None or not self._head(start):
            return
        if not self._is_system:
            found.project.add(self._file)
            found.is_used = True
        elif not self._scopes:
            found.system = True

    def _head(self, end: int) -> str:
        """The declaration at hand, up to there."""
        return _LINES.sub("", self._text[self._start : end]).strip()

    def _word(self, word: str, start: int, end: int) -> None:
        head = self._head(start)
        has_parameters = self._text[end : end + 200].lstrip().startswith("(")
        for name in self._words[word]:
            path = self._paths[name]
            if path[-1] != word:
                continue
            found = self._found[name]
            if not self._is_system:
                found.is_used = True
                if self._could_declare(head):
                    found.project.add(self._file)
            elif has_parameters and self._declares(head, path):
                found.system = True

    def _could_declare(self, head: str) -> bool:
        """Outside of bodies all could; in a body `int push(int)`, but not `return push(1)`."""
        if self._path is not None:
            return True
        words = re.findall(r"\w+", head)
        if not words or words[0] in _NO_TYPES - {"struct", "union", "enum", "class"}:
            return False
        return words[0] == "extern" or re.fullmatch(r"[\w\s*&:<>,]+", head) is not None

    def _declares(self, head: str, path: Path) -> bool:
        """Whether this is a declarator of the function for sure."""
        if self._path is None:
            return False
        if self._parentheses:
            # `int (*push(int))(void)`: it returns the address of a function.
            outer = _RETURNS_FUNCTION.fullmatch(head)
            if outer is None or self._parentheses > 1:
                return False
            head = outer[1]
        if head.endswith("::") or (*self._path, path[-1]) != path:
            return False
        head = head.rstrip()
        words = list(_last_words(head))
        if not words or "typedef" in words or "using" in words or words[-1] in _NO_TYPES:
            return False
        return "=" not in head and (head[-1].isalnum() or head[-1] in "_*&)>]")


def _last_words(head: str) -> Iterator[str]:
    """Without what stands in parentheses: attributes and the like."""
    depth = 0
    for token in re.finditer(r"[()]|[A-Za-z_]\w*", head):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            depth -= 1
        elif not depth:
            yield token[0]
