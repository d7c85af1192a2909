"""Reading LLVM's textual form: tokens, types and constants.

A line of LLVM is short and regular, so it is cut into tokens with one regular expression and read
left to right. `Reader` walks over one list of tokens; `Names` holds what a module defined (struct
types, and later which globals are functions).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from raceproof.ir import (
    POINTER,
    VOID,
    AggregateConstant,
    ArrayType,
    BlockAddress,
    BytesConstant,
    Constant,
    ConstantExpression,
    FloatConstant,
    FloatType,
    FunctionAddress,
    FunctionType,
    GlobalAddress,
    IntConstant,
    IntType,
    Layout,
    NullPointer,
    OpaqueType,
    PointerType,
    StructType,
    Type,
    Undefined,
    Value,
    VectorType,
    ZeroConstant,
)

TOKEN = re.compile(
    r'%"[^"]*"|%[-\w.$]+|@"[^"]*"|@[-\w.$]+|c?"[^"]*"'
    r"|[-+]?\d+\.\d+(?:[eE][-+]?\d+)?|[fs]?0x[KMLHR]?[0-9A-Fa-f]+|-?\d+"
    r"|[A-Za-z_][-\w.]*|![-\w.]*|\#\d+|\.\.\.|[^\s]"
)
tokenize = TOKEN.findall

_FLOATS = {
    "half": 16,
    "bfloat": 16,
    "float": 32,
    "double": 64,
    "x86_fp80": 80,
    "fp128": 128,
    "ppc_fp128": 128,
}
SCALAR_TYPES: dict[str, Type] = {
    "ptr": POINTER,
    **{f"i{bits}": IntType(bits) for bits in (1, 8, 16, 32, 64, 128)},
    **{name: FloatType(bits) for name, bits in _FLOATS.items()},
}
_NAMED_TYPES: dict[str, Type] = {
    **SCALAR_TYPES,
    "void": VOID,
    **{name: OpaqueType(name) for name in ("label", "metadata", "token", "x86_amx")},
}
_INT_TYPE = re.compile(r"i\d+$")

CASTS = frozenset(
    [
        "trunc",
        "zext",
        "sext",
        "bitcast",
        "ptrtoint",
        "ptrtoaddr",
        "inttoptr",
        "addrspacecast",
        "fptosi",
        "fptoui",
        "sitofp",
        "uitofp",
        "fptrunc",
        "fpext",
    ]
)
BINARIES = frozenset(
    [
        "add",
        "sub",
        "mul",
        "udiv",
        "sdiv",
        "urem",
        "srem",
        "shl",
        "lshr",
        "ashr",
        "and",
        "or",
        "xor",
        "fadd",
        "fsub",
        "fmul",
        "fdiv",
        "frem",
    ]
)
_CONSTANT_WORDS = (
    frozenset(
        [
            "null",
            "undef",
            "poison",
            "true",
            "false",
            "zeroinitializer",
            "none",
            "getelementptr",
            "blockaddress",
            "dso_local_equivalent",
            "no_cfi",
            "splat",
            "asm",
            "icmp",
            "select",
            "extractelement",
            "ptrauth",
            "inf",
            "nan",
        ]
    )
    | CASTS
    | BINARIES
)


def _starts_value(token: str) -> bool:
    """Is this where an argument's value begins, or the list ends? Else it is an attribute."""
    return (
        not token
        or token[0] in "%@-+{[<),!"
        or token[0].isdigit()
        or token in _CONSTANT_WORDS
        or token.startswith(('c"', "f0x", "s0x"))
    )


class LlvmSyntaxError(Exception):
    """A line that this reader does not understand."""


@dataclass
class Names:
    """What a module has defined so far."""

    layout: Layout
    structs: dict[str, Type] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    """Struct types not parsed yet: name -> text."""
    functions: set[str] = field(default_factory=set)
    aliases: dict[str, Constant] = field(default_factory=dict)
    block_index: Callable[[str, str], int] | None = None
    """(function, label) -> index of the block, once known."""

    def struct(self, name: str) -> Type:
        found = self.structs.get(name)
        if found is None:
            text = self.definitions.get(name, "opaque")
            label = name[1:].strip('"')
            if text == "opaque":
                found = OpaqueType(label)
            else:
                parsed = Reader(tokenize(text), self).type()
                if isinstance(parsed, StructType):
                    parsed = StructType(parsed.fields, parsed.packed, label)
                found = parsed
            self.structs[name] = found
        return found


def symbol(token: str) -> str:
    """The name in `@name` or `@"quoted name"`."""
    return token[2:-1] if token[1] == '"' else token[1:]


def string_bytes(token: str) -> bytes:
    """The bytes of `c"text\\00"`."""
    text = token[token.index('"') + 1 : -1]
    raw = text.encode("utf-8", "surrogateescape")
    if b"\\" not in raw:
        return raw
    return re.sub(
        rb"\\(\\|[0-9A-Fa-f]{2})",
        lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1], 16)]),
        raw,
    )


def float_constant(token: str, type_: FloatType) -> FloatConstant:
    """A decimal number, or the bits of one: `0x` double, `0xH` half, `0xK` x87, `0xL` quad."""
    if not token.startswith("0x"):
        return FloatConstant(type_, float(token))
    if token[2] == "K":
        bits = int(token[3:], 16)
        sign, exponent, mantissa = bits >> 79, bits >> 64 & 0x7FFF, bits & (1 << 64) - 1
        if exponent == 0x7FFF:
            number = float("nan") if mantissa & (1 << 63) - 1 else float("inf")
        else:
            try:
                number = float(mantissa) * 2.0 ** (exponent - 16383 - 63)
            except OverflowError:
                number = float("inf")
        return FloatConstant(type_, -number if sign else number)
    if token[2] == "H":
        return FloatConstant(type_, struct.unpack("<e", struct.pack("<H", int(token[3:], 16)))[0])
    if token[2] == "R":
        return FloatConstant(
            type_, struct.unpack("<f", struct.pack("<I", int(token[3:], 16) << 16))[0]
        )
    if token[2] in "LM":
        low, high = int(token[3:19], 16), int(token[19:], 16)
        exponent = high >> 48 & 0x7FFF
        fraction = ((high & (1 << 48) - 1) << 64 | low) / float(1 << 112)
        number = (1.0 + fraction) * 2.0 ** min(max(exponent - 16383, -1022), 1023)
        return FloatConstant(type_, -number if high >> 63 else number if exponent else 0.0)
    return FloatConstant(type_, struct.unpack("<d", struct.pack("<Q", int(token[2:], 16)))[0])


class Reader:
    """Reads types and constants from a list of tokens, from `at` on."""

    __slots__ = ("at", "names", "tokens")

    def __init__(self, tokens: list[str], names: Names, at: int = 0) -> None:
        self.tokens = tokens
        self.names = names
        self.at = at

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def expect(self, token: str) -> None:
        found = self.next()
        if found != token:
            raise LlvmSyntaxError(f"expected {token!r}, found {found!r}")

    def accept(self, token: str) -> bool:
        if self.at < len(self.tokens) and self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def skip_parentheses(self) -> None:
        """From an opening parenthesis to behind its partner."""
        depth = 0
        while True:
            token = self.next()
            if token == "(":
                depth += 1
            elif token == ")":
                depth -= 1
                if depth == 0:
                    return

    # --- types ------------------------------------------------------------

    def at_type(self) -> bool:
        token = self.peek()
        return (
            token in _NAMED_TYPES
            or token in ("{", "[", "<")
            or token[:1] == "%"
            or _INT_TYPE.match(token) is not None
        )

    def type(self) -> Type:
        """A type; a parenthesis after it makes it a function type."""
        token = self.next()
        found = _NAMED_TYPES.get(token)
        if found is None:
            found = self._other_type(token)
        elif token == "ptr" and self.peek() == "addrspace":
            self.next()
            self.skip_parentheses()
        return found

    def _other_type(self, token: str) -> Type:
        if token == "{":
            return self._struct("}", packed=False)
        if token == "[":
            return self._sequence("]", ArrayType)
        if token == "<":
            if self.accept("{"):
                found = self._struct("}", packed=True)
                self.expect(">")
                return found
            return self._sequence(">", VectorType)
        if token[0] == "%":
            return self.names.struct(token)
        if _INT_TYPE.match(token):
            return IntType(int(token[1:]))
        if token == "target":
            self.skip_parentheses()
            return OpaqueType("target")
        raise LlvmSyntaxError(f"not a type: {token!r}")

    def _struct(self, end: str, packed: bool) -> StructType:
        fields: list[Type] = []
        while not self.accept(end):
            fields.append(self.type())
            self.accept(",")
        return StructType(tuple(fields), packed)

    def _sequence(self, end: str, kind: Callable[[Type, int], Type]) -> Type:
        if self.accept("vscale"):
            self.expect("x")
        count = int(self.next())
        self.expect("x")
        element = self.type()
        self.expect(end)
        return kind(element, count)

    def function_type(self, result: Type) -> FunctionType:
        """The parameter list of a function type, from its opening parenthesis."""
        self.expect("(")
        parameters: list[Type] = []
        variadic = False
        while not self.accept(")"):
            if self.accept("..."):
                variadic = True
            else:
                parameters.append(self.type())
            self.accept(",")
        return FunctionType(result, tuple(parameters), variadic)

    # --- constants ------------------------------------------------------------

    def skip_attributes(self) -> dict[str, Type]:
        """Over the attributes of an argument or result, up to a value; `byval(T)` and `sret(T)`
        are kept."""
        kept: dict[str, Type] = {}
        while not _starts_value(token := self.peek()):
            self.at += 1
            if token == "align":
                if self.peek() == "(":
                    self.skip_parentheses()
                else:
                    self.at += 1
            elif self.peek() == "(":
                if token in ("byval", "sret", "inalloca", "preallocated", "elementtype"):
                    self.at += 1
                    kept[token] = self.type()
                    self.expect(")")
                else:
                    self.skip_parentheses()
        return kept

    def constant(self, type_: Type) -> Constant:
        """A constant of a known type."""
        token = self.next()
        first = token[0]
        if first == "@":
            return self.address(symbol(token))
        if first.isdigit() or first == "-" or first == "+":
            if isinstance(type_, IntType):
                return IntConstant(type_, int(token) & (1 << type_.bits) - 1)
            if isinstance(type_, FloatType):
                return float_constant(token, type_)
        match token:
            case "null":
                return NullPointer()
            case "true":
                return IntConstant(type_, 1)
            case "false":
                return IntConstant(type_, 0)
            case "undef" | "poison":
                return Undefined(type_)
            case "zeroinitializer":
                return zero(type_)
            case "none":
                return ZeroConstant(type_)
            case "getelementptr":
                return self._constant_offset()
            case "blockaddress":
                return self._block_address()
            case "dso_local_equivalent" | "no_cfi":
                return self.constant(type_)
            case "splat":
                self.expect("(")
                element = self.constant(self.type())
                self.expect(")")
                assert isinstance(type_, VectorType)
                return AggregateConstant(type_, (element,) * type_.count)
            case "{" | "[" | "<":
                return self._aggregate(token, type_)
        if token.startswith('c"'):
            return BytesConstant(type_, string_bytes(token))
        if token in CASTS:
            self.expect("(")
            value = self.constant(self.type())
            self.expect("to")
            target = self.type()
            self.expect(")")
            return cast_constant(token, value, target)
        if token in BINARIES or token == "icmp":
            while self.peek() != "(":
                self.at += 1
            self.expect("(")
            left = self.constant(self.type())
            self.expect(",")
            right = self.constant(self.type())
            self.expect(")")
            return binary_constant(token, left, right, type_)
        if isinstance(type_, FloatType) and token[:3] == "f0x":
            return float_constant(token[1:], type_)
        raise LlvmSyntaxError(f"not a constant: {token!r}")

    def address(self, name: str) -> Constant:
        alias = self.names.aliases.get(name)
        if alias is not None:
            return alias
        if name in self.names.functions:
            return FunctionAddress(POINTER, name)
        return GlobalAddress(POINTER, name)

    def _aggregate(self, opening: str, type_: Type) -> Constant:
        if opening == "<" and self.accept("{"):
            closing = "}"
        else:
            closing = {"{": "}", "[": "]", "<": ">"}[opening]
        elements: list[Constant] = []
        while not self.accept(closing):
            elements.append(self.constant(self.type()))
            self.accept(",")
        if opening == "<" and closing == "}":
            self.expect(">")
        return AggregateConstant(type_, tuple(elements))

    def _block_address(self) -> Constant:
        self.expect("(")
        function = symbol(self.next())
        self.expect(",")
        label = self.next()
        self.expect(")")
        assert self.names.block_index is not None
        return BlockAddress(POINTER, function, self.names.block_index(function, label))

    def _constant_offset(self) -> Constant:
        while self.peek() != "(":
            if self.next() == "inrange":
                self.skip_parentheses()
        self.expect("(")
        element = self.type()
        self.expect(",")
        base = self.constant(self.type())
        indices: list[tuple[Type, Value]] = []
        while self.accept(","):
            type_ = self.type()
            indices.append((type_, self.constant(type_)))
        self.expect(")")
        constant, terms = element_offset(element, indices, self.names.layout)
        if isinstance(base, GlobalAddress) and not terms:
            return GlobalAddress(POINTER, base.name, base.offset + constant)
        if not constant and not terms:
            return base
        bits = self.names.layout.pointer_size * 8
        total: Constant = IntConstant(IntType(bits), constant & (1 << bits) - 1)
        for index, scale in terms:
            assert isinstance(index, Constant)
            factor = IntConstant(IntType(bits), scale & (1 << bits) - 1)
            product = ConstantExpression(IntType(bits), "mul", (index, factor))
            total = ConstantExpression(IntType(bits), "add", (total, product))
        return ConstantExpression(POINTER, "offset", (base, total))


def zero(type_: Type) -> Constant:
    """The all-zero constant of a type."""
    match type_:
        case IntType():
            return IntConstant(type_, 0)
        case FloatType():
            return FloatConstant(type_, 0.0)
        case PointerType():
            return NullPointer()
    return ZeroConstant(type_)


def cast_constant(operation: str, value: Constant, target: Type) -> Constant:
    if isinstance(value, IntConstant) and isinstance(target, IntType):
        number = value.signed if operation == "sext" else value.value
        return IntConstant(target, number & (1 << target.bits) - 1)
    if operation in ("bitcast", "addrspacecast") and value.type == target:
        return value
    if operation == "inttoptr" and isinstance(value, IntConstant) and value.value == 0:
        return NullPointer()
    if operation == "ptrtoint" and isinstance(target, IntType):
        match value:
            case NullPointer():
                return IntConstant(target, 0)
            case ConstantExpression(
                operation="offset", operands=(NullPointer(), IntConstant() as distance)
            ):
                return IntConstant(target, distance.value & (1 << target.bits) - 1)
    return ConstantExpression(target, operation, (value,))


def binary_constant(operation: str, left: Constant, right: Constant, type_: Type) -> Constant:
    """Sums and differences of numbers are numbers, so that `container_of` moves by one."""
    if isinstance(left, IntConstant) and isinstance(right, IntConstant):
        if operation in ("add", "sub") and isinstance(type_, IntType):
            distance = right.value if operation == "add" else -right.value
            return IntConstant(type_, (left.value + distance) & (1 << type_.bits) - 1)
    return ConstantExpression(type_, operation, (left, right))


def element_offset(
    element: Type, indices: list[tuple[Type, Value]], layout: Layout
) -> tuple[int, list[tuple[Value, int]]]:
    """Bytes that a `getelementptr` adds: a constant, and index times scale terms."""
    constant = 0
    terms: list[tuple[Value, int]] = []
    current: Type | None = None
    for _, index in indices:
        if isinstance(current, StructType):
            assert isinstance(index, IntConstant)
            constant += layout.offsets(current)[index.value]
            current = current.fields[index.value]
            continue
        if current is None:
            current = element
        else:
            assert isinstance(current, ArrayType | VectorType)
            current = current.element
        scale = layout.size(current)
        if isinstance(index, IntConstant):
            constant += index.signed * scale
        elif scale and not isinstance(index, ZeroConstant):
            terms.append((index, scale))
    return constant, terms
