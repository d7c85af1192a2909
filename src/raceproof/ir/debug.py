"""Names for people, from debug information: `stats.count[2]` for (stats, byte 12).

Types are kept as the compiler wrote them and parsed when asked for; a key is a metadata name such
as `!31`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_FIELD = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|[^,()]+(?:\([^()]*\))?)')
_WRAPPERS = {
    "DW_TAG_typedef",
    "DW_TAG_const_type",
    "DW_TAG_volatile_type",
    "DW_TAG_atomic_type",
    "DW_TAG_restrict_type",
}
_LOCK_TYPE = re.compile(r"(lock|mutex|mtx|sem|semaphore|once|once_flag)(_t)?$")
_LIBRARY_MEMBER = re.compile(r"_[_A-Z]")
"""Names that C and C++ keep for their libraries."""


def unquote(text: str) -> str:
    """The string in LLVM's quotes, with its \\XX escapes undone."""
    if text.startswith('"') and text.endswith('"'):
        text = text[1:-1]
    if "\\" not in text:
        return text
    data = re.sub(
        rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode("utf-8", "replace")
    )
    return data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    offset: int
    size: int
    type: str
    bit_offset: int | None = None
    """For a bit-field, where it starts in bits from the start of the struct."""


@dataclass(frozen=True, slots=True)
class DebugType:
    """One C type. `kind`: base, pointer, struct, union, array, enum, function, void."""

    kind: str
    name: str
    size: int
    target: str = ""
    """Key of the pointee or element type."""
    counts: tuple[int, ...] = ()
    """Array dimensions, outermost first; -1 if open."""
    members: tuple[Member, ...] = ()


VOID_TYPE = DebugType("void", "void", 0)


@dataclass(eq=False)
class DebugInfo:
    """The compiler's metadata, parsed on demand."""

    nodes: dict[str, str] = field(default_factory=dict)
    """Metadata key -> its text."""
    _types: dict[str, DebugType] = field(default_factory=dict, repr=False)

    def fields(self, key: str) -> dict[str, str]:
        """The named fields of a node: `!DIx(name: "a", size: 32)` -> {name: a, size: 32}."""
        return {name: value.strip() for name, value in _FIELD.findall(self.nodes.get(key, ""))}

    def elements(self, key: str) -> list[str]:
        """The keys in a tuple node `!{!1, !2}`."""
        text = self.nodes.get(key, "")
        return re.findall(r"![0-9]+|null", text) if text.startswith("!{") else []

    def type(self, key: str) -> DebugType:
        """The type behind a key, typedefs and qualifiers removed."""
        found = self._types.get(key)
        if found is None:
            found = self._types[key] = self._parse_type(key)
        return found

    def _parse_type(self, key: str) -> DebugType:
        name = ""
        for _ in range(64):
            fields = self.fields(key)
            tag = fields.get("tag", "")
            if tag not in _WRAPPERS:
                break
            name = name or unquote(fields.get("name", ""))
            key = fields.get("baseType", "null")
        if key in ("", "null") or key not in self.nodes:
            return VOID_TYPE
        text = self.nodes[key]
        name = unquote(fields.get("name", "")) or name
        size = int(fields.get("size", "0")) // 8
        base = fields.get("baseType", "")
        if "!DIBasicType(" in text:
            return DebugType("base", name, size)
        if tag in ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"):
            return DebugType("pointer", name, size, base)
        if tag == "DW_TAG_array_type":
            return DebugType("array", name, size, base, self._counts(fields))
        if tag == "DW_TAG_enumeration_type":
            return DebugType("enum", name, size)
        if tag in ("DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_class_type"):
            kind = "union" if tag == "DW_TAG_union_type" else "struct"
            return DebugType(kind, name, size, members=self._members(fields))
        if "!DISubroutineType(" in text:
            return DebugType("function", name, 0)
        return DebugType("base", name, size)

    def _counts(self, fields: dict[str, str]) -> tuple[int, ...]:
        counts = []
        for element in self.elements(fields.get("elements", "")):
            count = self.fields(element).get("count", "-1")
            counts.append(int(count) if count.lstrip("-").isdigit() else -1)
        return tuple(counts)

    def _members(self, fields: dict[str, str]) -> tuple[Member, ...]:
        members = []
        for element in self.elements(fields.get("elements", "")):
            member = self.fields(element)
            tag = member.get("tag")
            if tag not in ("DW_TAG_member", "DW_TAG_inheritance"):
                continue
            if "DIFlagStaticMember" in member.get("flags", ""):
                continue
            bits = int(member.get("offset", "0"))
            width = int(member.get("size", "0"))
            is_bit_field = "DIFlagBitField" in member.get("flags", "")
            size = (bits % 8 + width + 7) // 8
            if tag == "DW_TAG_inheritance":
                size = self.type(member.get("baseType", "")).size
            members.append(
                Member(
                    unquote(member.get("name", "")),
                    bits // 8,
                    size,
                    member.get("baseType", ""),
                    bits if is_bit_field else None,
                )
            )
        return tuple(members)

    def path(self, key: str, offset: int, size: int = 0) -> str:
        """How C reaches byte `offset` inside an object of this type: `.count[2]`.

        With `size`, stops at the innermost member that holds that many bytes.
        """
        text = ""
        for _ in range(32):
            type_ = self.type(key)
            if type_.kind == "array" and type_.counts and type_.size != 0:
                text, offset, key, found = self._index(type_, text, offset, size)
            elif type_.kind in ("struct", "union"):
                text, offset, key, found = self._member(type_, text, offset, size)
            else:
                break
            if not found:
                break
        return text + (f"+{offset}" if offset else "")

    def lock_path(self, key: str, offset: int) -> str:
        """How C reaches the lock at byte `offset`: `.lock`, not `.lock.__data.__lock`.

        A lock has no size here, so many members start where it starts. It is the outermost that
        is called a lock, or whose own members are its library's business.
        """
        text = ""
        for _ in range(32):
            type_ = self.type(key)
            if offset == 0 and _is_lock(type_):
                break
            if type_.kind == "array" and type_.counts and type_.size != 0:
                text, offset, key, found = self._index(type_, text, offset, 0)
            elif type_.kind in ("struct", "union"):
                text, offset, key, found = self._member(type_, text, offset, 0)
            else:
                break
            if not found:
                break
        return text + (f"+{offset}" if offset else "")

    def array_around(self, key: str, offset: int, stride: int) -> tuple[int, int] | None:
        """The bytes, from and to, of the array around `offset` with elements of `stride` bytes.

        None if there is none, or if it has no fixed length.
        """
        base = 0
        for _ in range(32):
            type_ = self.type(key)
            if type_.kind == "array" and type_.counts:
                element = self.type(type_.target).size
                if element <= 0 or type_.size <= 0 or 0 in type_.counts:
                    return None
                step = element
                for count in reversed(type_.counts):
                    if step == stride:
                        return base, base + type_.size
                    step *= count
                inside = (offset - base) % element
                base, key = offset - inside, type_.target
            elif type_.kind == "struct":
                around = [m for m in type_.members if m.offset <= offset - base < m.offset + m.size]
                if len(around) != 1:
                    return None
                base, key = base + around[0].offset, around[0].type
            else:
                return None
        return None

    def _index(
        self, type_: DebugType, text: str, offset: int, size: int
    ) -> tuple[str, int, str, bool]:
        element = self.type(type_.target).size
        if element <= 0 or size > element or offset < 0:
            return text, offset, "", False
        strides = []
        stride = element
        for count in reversed(type_.counts):
            strides.append(stride)
            stride *= max(count, 1)
        for stride in reversed(strides):
            text += f"[{offset // stride}]"
            offset %= stride
        return text, offset, type_.target, True

    def _member(
        self, type_: DebugType, text: str, offset: int, size: int
    ) -> tuple[str, int, str, bool]:
        for member in type_.members:
            if member.offset <= offset < member.offset + max(member.size, 1):
                if offset + size > member.offset + max(member.size, 1):
                    continue
                name = f".{member.name}" if member.name else ""
                return text + name, offset - member.offset, member.type, True
        return text, offset, "", False


def _is_lock(type_: DebugType) -> bool:
    if type_.kind not in ("struct", "union"):
        return False
    names = [member.name for member in type_.members if member.name]
    if names and all(_LIBRARY_MEMBER.match(name) for name in names):
        return True
    return bool(_LOCK_TYPE.search(type_.name))
