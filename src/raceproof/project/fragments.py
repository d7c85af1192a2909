"""The text of each function apart, to outline again only those that changed.

A compiler numbers everything anew after every change: positions, types, attributes, string
literals. So a function's key is made of its text without those numbers, and of what they stand
for: positions relative to the function's first line, types and strings by content. Whether the
names it uses are private to the file, and how they are declared, belongs to it, too.
"""

from __future__ import annotations

import hashlib
import marshal
import re
from dataclasses import dataclass
from typing import Any

from raceproof.frontend.llvm_text import symbol
from raceproof.frontend.module_text import FunctionText, ModuleText
from raceproof.frontend.positions import Positions
from raceproof.ir import DebugInfo

_REFERENCE = re.compile(r"!(\d+)")
_ATTRIBUTES = re.compile(r"#\d+")
_SYMBOL = re.compile(r'@("[^"]*"|[-\w.$]+)')
_STRUCT = re.compile(r'%(?:struct|union|class)\.[-\w.$:]+|%"[^"]*"')
_NUMBERS = re.compile(r"(?<=[!#])\d+|(?<=@\.str)\.\d+")
_LOCATION = re.compile(r"!DILocation\(line: (\d+)(?:, column: (\d+))?, scope: (![0-9]+)")
_DEFINED = re.compile(r"!dbg (![0-9]+)")


class TypeNames:
    """Names of debug types by their content: members count, what a pointer points to does not."""

    def __init__(self, debug: DebugInfo) -> None:
        self._debug = debug
        self._names: dict[str, str] = {"": ""}

    def name(self, key: str) -> str:
        found = self._names.get(key)
        if found is None:
            type_ = self._debug.type(key)
            target = self.name(type_.target) if type_.kind == "array" else ""
            inside = [
                (m.name, m.offset, m.size, self.name(m.type), m.bit_offset) for m in type_.members
            ]
            text = repr((type_.kind, type_.name, type_.size, target, type_.counts, inside))
            found = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
            self._names[key] = found
        return found


@dataclass(frozen=True, slots=True)
class Fragment:
    """One function: its key, where it begins (0: unknown) and its brace opens, what it
    names."""

    name: str
    key: bytes
    file: str
    start: int
    scope: int
    used: frozenset[str]


class Fragments:
    """Reads the functions of a module."""

    def __init__(self, module: ModuleText) -> None:
        self._module = module
        self._debug = DebugInfo(module.metadata)
        self._positions = Positions(self._debug)
        self._types = TypeNames(self._debug)
        self._globals = {symbol(token): rest for token, rest in module.globals}
        self._headers = {name_of(text.header): text.header for text in module.functions}
        self._headers |= {name_of(header): header for header in module.declarations}
        self._meanings: dict[str, Any] = {}
        self._symbols: dict[str, str] = {}
        self._structs: dict[str, str] = {}
        unusual = sorted(name for name in module.structs if not _STRUCT.fullmatch(name))
        self._always = marshal.dumps(
            [module.layout, *((name, module.structs[name]) for name in unusual)], 2
        )

    def read(self, text: FunctionText) -> Fragment:
        whole = text.header + "\n" + "\n".join(text.lines)
        found = _DEFINED.search(text.header)
        fields = self._debug.fields(found[1]) if found else {}
        start = int(fields.get("line", "0"))
        own = self._positions.file(fields["file"]) if "file" in fields else ""
        names = _SYMBOL.findall(whole)
        key = self._key(whole, start, own, names)
        used = frozenset(name.strip('"') for name in names)
        scope = int(fields.get("scopeLine", "0"))
        return Fragment(name_of(text.header), key, own, start, scope, used)

    def _key(self, whole: str, first: int, own: str, names: list[str]) -> bytes:
        meaning = self._meaning
        places = []
        for reference in _REFERENCE.findall(whole):
            meant = meaning(reference)
            if type(meant) is tuple and meant[2] == own:
                meant = (meant[0] - first, meant[1], "")
            places.append(meant)
        strings = [name for name in names if name.startswith(".str")]
        parts = (
            _NUMBERS.sub("", whole),
            places,
            [self._module.attributes.get(name, "") for name in _ATTRIBUTES.findall(whole)],
            [self._symbol(name) for name in strings],
            [(n, self._symbol(n)) for n in sorted(set(names)) if not n.startswith(".str")],
            [self._struct(name) for name in sorted(set(_STRUCT.findall(whole)))],
        )
        data = marshal.dumps(parts, 2)
        return hashlib.blake2b(self._always + data, digest_size=16).digest()

    def _meaning(self, reference: str) -> Any:
        """A position as (line, column, file), a variable as its name and type; else nothing."""
        try:
            return self._meanings[reference]
        except KeyError:
            text = self._module.metadata.get("!" + reference, "")
            found: Any = ""
            location = _LOCATION.match(text)
            if location:
                position = self._positions.of("!" + reference)
                found = (position.line, position.column, position.file) if position else ""
            elif "!DILocalVariable(" in text:
                name, type_ = self._positions.variable("!" + reference)
                found = f"{name} {self._types.name(type_)}"
            elif "!DISubprogram(" in text:
                name, _ = self._positions.function("!" + reference)
                found = name
            self._meanings[reference] = found
            return found

    def _symbol(self, token: str) -> str:
        """How a name is declared: its header, or a constant's content."""
        found = self._symbols.get(token)
        if found is None:
            name = token.strip('"')
            header = self._headers.get(name)
            if header is not None:
                listed = [self._module.attributes.get(a, "") for a in _ATTRIBUTES.findall(header)]
                found = f"{_NUMBERS.sub('', header)} {listed}"
            else:
                rest = self._globals.get(name, "")
                kind = rest.split(" global ")[0].split(" constant ")[0]
                is_whole = "private" in kind or "alias" in rest[:200] or "ifunc" in rest[:200]
                found = _NUMBERS.sub("", rest if is_whole else kind)
            self._symbols[token] = found
        return found

    def _struct(self, name: str) -> str:
        """The definition, with those of the structs in it."""
        found = self._structs.get(name)
        if found is None:
            self._structs[name] = name
            text = self._module.structs.get(name, "")
            inside = [self._struct(inner) for inner in sorted(set(_STRUCT.findall(text)))]
            whole = repr((name, text, inside)).encode()
            found = self._structs[name] = hashlib.blake2b(whole, digest_size=16).hexdigest()
        return found


def name_of(header: str) -> str:
    """The function that a `define` or `declare` line is about."""
    found = re.search(r'@("[^"]*"|[-\w.$]+)\(', header)
    return found[1].strip('"') if found else ""
