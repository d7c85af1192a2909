"""Types of the program model and how they lie in memory.

Pointers are opaque (as in LLVM): what they point to is said by each access. Sizes and offsets
depend on the data model, so they are asked of a `Layout`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Type:
    """Any type; compared by structure."""

    is_aggregate: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class VoidType(Type):
    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True, slots=True)
class IntType(Type):
    bits: int

    def __str__(self) -> str:
        return f"i{self.bits}"


@dataclass(frozen=True, slots=True)
class FloatType(Type):
    """An IEEE or x87 number: 16, 32, 64, 80 or 128 bits."""

    bits: int

    def __str__(self) -> str:
        return f"f{self.bits}"


@dataclass(frozen=True, slots=True)
class PointerType(Type):
    def __str__(self) -> str:
        return "ptr"


@dataclass(frozen=True, slots=True)
class ArrayType(Type):
    is_aggregate: ClassVar[bool] = True
    element: Type
    count: int

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


@dataclass(frozen=True, slots=True)
class VectorType(Type):
    is_aggregate: ClassVar[bool] = True
    element: Type
    count: int

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


@dataclass(frozen=True, slots=True)
class StructType(Type):
    """A struct; `name` is what the source calls it, empty if anonymous."""

    is_aggregate: ClassVar[bool] = True
    fields: tuple[Type, ...]
    packed: bool = False
    name: str = ""

    def __str__(self) -> str:
        return self.name or "{" + ", ".join(map(str, self.fields)) + "}"


@dataclass(frozen=True, slots=True)
class OpaqueType(Type):
    """A type without a size: declared but never defined, labels, metadata, tokens."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FunctionType(Type):
    result: Type
    parameters: tuple[Type, ...]
    variadic: bool = False

    def __str__(self) -> str:
        parameters = [*map(str, self.parameters), *(["..."] if self.variadic else [])]
        return f"{self.result}({', '.join(parameters)})"


VOID = VoidType()
POINTER = PointerType()
I1, I8, I16, I32, I64 = (IntType(bits) for bits in (1, 8, 16, 32, 64))


def _round_up(value: int, alignment: int) -> int:
    return (value + alignment - 1) // alignment * alignment


class Layout:
    """Sizes, alignments and field offsets in bytes, for one data model."""

    __slots__ = (
        "_alignments",
        "_float_alignment",
        "_int_alignment",
        "_offsets",
        "_sizes",
        "pointer_size",
    )

    def __init__(
        self, pointer_size: int, int_alignment: dict[int, int], float_alignment: dict[int, int]
    ) -> None:
        self.pointer_size = pointer_size
        self._int_alignment = int_alignment
        self._float_alignment = float_alignment
        self._sizes: dict[Type, int] = {}
        self._alignments: dict[Type, int] = {}
        self._offsets: dict[StructType, tuple[int, ...]] = {}

    @staticmethod
    def parse(text: str) -> Layout:
        """From LLVM's data layout string, e.g. `e-m:e-p:32:32-i64:64-f80:128-n8:16:32-S128`."""
        pointer_size = 8
        ints = {1: 1, 8: 1, 16: 2, 32: 4, 64: 4}
        floats = {16: 2, 32: 4, 64: 8, 80: 16, 128: 16}
        for part in text.split("-"):
            fields = part.split(":")
            kind = fields[0]
            if kind == "p" or kind == "p0":
                pointer_size = int(fields[1]) // 8
            elif kind[:1] in "if" and kind[1:].isdigit():
                table = ints if kind[0] == "i" else floats
                table[int(kind[1:])] = max(1, int(fields[1]) // 8)
        return Layout(pointer_size, ints, floats)

    def size(self, type_: Type) -> int:
        """Bytes from one element of this type to the next in an array (its allocation size)."""
        size = self._sizes.get(type_)
        if size is None:
            size = self._sizes[type_] = self._compute_size(type_)
        return size

    def store_size(self, type_: Type) -> int:
        """Bytes that a load or store of this type touches."""
        if isinstance(type_, IntType | FloatType):
            return (type_.bits + 7) // 8
        return self.size(type_)

    def alignment(self, type_: Type) -> int:
        alignment = self._alignments.get(type_)
        if alignment is None:
            alignment = self._alignments[type_] = self._compute_alignment(type_)
        return alignment

    def offsets(self, struct: StructType) -> tuple[int, ...]:
        """Where each field starts."""
        offsets = self._offsets.get(struct)
        if offsets is None:
            position, found = 0, []
            for field in struct.fields:
                if not struct.packed:
                    position = _round_up(position, self.alignment(field))
                found.append(position)
                position += self.size(field)
            offsets = self._offsets[struct] = tuple(found)
        return offsets

    def _compute_size(self, type_: Type) -> int:
        match type_:
            case IntType() | FloatType():
                return _round_up((type_.bits + 7) // 8, self.alignment(type_))
            case PointerType():
                return self.pointer_size
            case ArrayType():
                return self.size(type_.element) * type_.count
            case VectorType():
                bits = type_.element.bits if isinstance(type_.element, IntType) else 0
                if bits and bits % 8:
                    return (bits * type_.count + 7) // 8
                return self.size(type_.element) * type_.count
            case StructType():
                if not type_.fields:
                    return 0
                end = self.offsets(type_)[-1] + self.size(type_.fields[-1])
                return end if type_.packed else _round_up(end, self.alignment(type_))
        return 0

    def _compute_alignment(self, type_: Type) -> int:
        match type_:
            case IntType(bits):
                if bits in self._int_alignment:
                    return self._int_alignment[bits]
                wider = [b for b in self._int_alignment if b >= bits]
                return self._int_alignment[min(wider) if wider else max(self._int_alignment)]
            case FloatType(bits):
                return self._float_alignment.get(bits, 16)
            case PointerType():
                return self.pointer_size
            case ArrayType() | VectorType():
                return self.alignment(type_.element)
            case StructType():
                if type_.packed or not type_.fields:
                    return 1
                return max(self.alignment(field) for field in type_.fields)
        return 1
