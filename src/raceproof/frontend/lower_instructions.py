"""One LLVM instruction at a time: a handler for each opcode, in the table `LOWER`.

A handler gets the tokens of its line and where its operands start; it makes our instruction and
gives it to the function that is being lowered.
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.frontend.llvm_text import (
    BINARIES,
    CASTS,
    Reader,
    element_offset,
)
from raceproof.frontend.lower_terminators import TERMINATORS
from raceproof.frontend.lowering import Lowering
from raceproof.ir import (
    I1,
    I32,
    POINTER,
    AtomicUpdate,
    Binary,
    Cast,
    Compare,
    CompareExchange,
    Constant,
    ExtractElement,
    ExtractField,
    Fence,
    Freeze,
    InsertElement,
    InsertField,
    IntConstant,
    LandingPad,
    Load,
    Negate,
    NextArgument,
    Offset,
    Select,
    Shuffle,
    StackSlot,
    Store,
    StructType,
    Type,
    Undefined,
    Value,
    VectorType,
)

_FLAGS = frozenset(
    [
        "nsw",
        "nuw",
        "exact",
        "disjoint",
        "nneg",
        "samesign",
        "fast",
        "nnan",
        "ninf",
        "nsz",
        "arcp",
        "contract",
        "afn",
        "reassoc",
    ]
)
_KEPT_FLAGS = {
    frozenset(flags): frozenset(flags)
    for flags in ((), ("nsw",), ("nuw",), ("nsw", "nuw"), ("exact",), ("disjoint",))
}
_ORDERS = frozenset(["unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"])


Handler = Callable[[Lowering, list[str], int], None]


def _alloca(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    if reader.peek() == "inalloca":
        reader.next()
    type_ = reader.type()
    count: Value = IntConstant(I32, 1)
    while reader.accept(","):
        if reader.peek() in ("align", "addrspace"):
            break
        count = low.read_typed(reader)
    name, debug_type = low.slot_name(tokens[0])
    low.emit(
        StackSlot(
            low.new_number(),
            low.position,
            low.register(tokens[0], POINTER),
            type_,
            count,
            name,
            debug_type,
        )
    )


def _qualifiers(reader: Reader) -> tuple[bool, bool]:
    atomic = reader.accept("atomic")
    volatile = reader.accept("volatile")
    return atomic, volatile


def _order(reader: Reader) -> str:
    """The first memory order among the remaining tokens."""
    for token in reader.tokens[reader.at :]:
        if token in _ORDERS:
            return token
    return "seq_cst"


def _load(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    atomic, volatile = _qualifiers(reader)
    type_ = reader.type()
    reader.expect(",")
    pointer = low.read_typed(reader)
    order = _order(reader) if atomic else ""
    low.emit(
        Load(
            low.new_number(),
            low.position,
            low.register(tokens[0], type_),
            type_,
            pointer,
            order,
            volatile,
        )
    )


def _store(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    atomic, volatile = _qualifiers(reader)
    value = low.read_typed(reader)
    reader.expect(",")
    pointer = low.read_typed(reader)
    order = _order(reader) if atomic else ""
    low.emit(Store(low.new_number(), low.position, None, value, pointer, order, volatile))


def _atomicrmw(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    reader.accept("volatile")
    operation = reader.next()
    pointer = low.read_typed(reader)
    reader.expect(",")
    value = low.read_typed(reader)
    result = low.register(tokens[0], value.type)
    low.emit(
        AtomicUpdate(
            low.new_number(), low.position, result, operation, pointer, value, _order(reader)
        )
    )


def _cmpxchg(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    weak = reader.accept("weak")
    reader.accept("volatile")
    pointer = low.read_typed(reader)
    reader.expect(",")
    expected = low.read_typed(reader)
    reader.expect(",")
    replacement = low.read_typed(reader)
    result = low.register(tokens[0], StructType((expected.type, I1)))
    success = _order(reader)
    reader.at = reader.tokens.index(success, reader.at) + 1
    low.emit(
        CompareExchange(
            low.new_number(),
            low.position,
            result,
            pointer,
            expected,
            replacement,
            success,
            weak,
            _order(reader),
        )
    )


def _fence(low: Lowering, tokens: list[str], at: int) -> None:
    low.emit(Fence(low.new_number(), low.position, None, _order(Reader(tokens, low.names, at))))


def _getelementptr(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    inbounds = False
    while reader.peek() in ("inbounds", "nuw", "nusw", "inrange"):
        inbounds = reader.next() == "inbounds" or inbounds
    element = reader.type()
    reader.expect(",")
    base = low.read_typed(reader)
    indices: list[tuple[Type, Value]] = []
    while reader.accept(","):
        type_ = reader.type()
        indices.append((type_, low.read(reader, type_)))
    constant, terms = element_offset(element, indices, low.names.layout)
    if not constant and not terms:
        low.alias(tokens[0], base)
        return
    low.emit(
        Offset(
            low.new_number(),
            low.position,
            low.register(tokens[0], POINTER),
            base,
            constant,
            tuple(terms),
            inbounds,
        )
    )


def _binary(low: Lowering, tokens: list[str], at: int) -> None:
    flags: list[str] = []
    while tokens[at] in _FLAGS:
        flags.append(tokens[at])
        at += 1
    reader = Reader(tokens, low.names, at)
    type_ = reader.type()
    left = low.read(reader, type_)
    reader.expect(",")
    right = low.read(reader, type_)
    kept = _KEPT_FLAGS.get(frozenset(flags), frozenset()) if flags else _KEPT_FLAGS[frozenset()]
    low.emit(
        Binary(
            low.new_number(),
            low.position,
            low.register(tokens[0], type_),
            tokens[2],
            left,
            right,
            kept,
        )
    )


def _compare(low: Lowering, tokens: list[str], at: int) -> None:
    while tokens[at] in _FLAGS:
        at += 1
    predicate = tokens[at]
    reader = Reader(tokens, low.names, at + 1)
    type_ = reader.type()
    left = low.read(reader, type_)
    reader.expect(",")
    right = low.read(reader, type_)
    result: Type = VectorType(I1, type_.count) if isinstance(type_, VectorType) else I1
    low.emit(
        Compare(
            low.new_number(), low.position, low.register(tokens[0], result), predicate, left, right
        )
    )


def _cast(low: Lowering, tokens: list[str], at: int) -> None:
    while tokens[at] in _FLAGS:
        at += 1
    reader = Reader(tokens, low.names, at)
    value = low.read_typed(reader)
    reader.expect("to")
    target = reader.type()
    operation = "ptrtoint" if tokens[2] == "ptrtoaddr" else tokens[2]
    low.emit(
        Cast(low.new_number(), low.position, low.register(tokens[0], target), operation, value)
    )


def _fneg(low: Lowering, tokens: list[str], at: int) -> None:
    while tokens[at] in _FLAGS:
        at += 1
    value = low.read_typed(Reader(tokens, low.names, at))
    low.emit(Negate(low.new_number(), low.position, low.register(tokens[0], value.type), value))


def _freeze(low: Lowering, tokens: list[str], at: int) -> None:
    value = low.read_typed(Reader(tokens, low.names, at))
    low.emit(Freeze(low.new_number(), low.position, low.register(tokens[0], value.type), value))


def _select(low: Lowering, tokens: list[str], at: int) -> None:
    while tokens[at] in _FLAGS:
        at += 1
    reader = Reader(tokens, low.names, at)
    condition = low.read_typed(reader)
    reader.expect(",")
    if_true = low.read_typed(reader)
    reader.expect(",")
    if_false = low.read_typed(reader)
    result = low.register(tokens[0], if_true.type)
    low.emit(Select(low.new_number(), low.position, result, condition, if_true, if_false))


def _phi(low: Lowering, tokens: list[str], at: int) -> None:
    while tokens[at] in _FLAGS:
        at += 1
    reader = Reader(tokens, low.names, at)
    type_ = reader.type()
    incoming: list[tuple[str, Value | str]] = []
    while True:
        reader.expect("[")
        token = reader.peek()
        value: Value | str
        if token[0] == "%":
            value = reader.next()
        else:
            value = reader.constant(type_)
        reader.expect(",")
        incoming.append((reader.next(), value))
        reader.expect("]")
        if not reader.accept(","):
            break
    low.emit_phi(tokens[0], type_, incoming)


def member_type(type_: Type, path: tuple[int, ...]) -> Type:
    """The type of a member inside an aggregate."""
    for index in path:
        type_ = type_.fields[index] if isinstance(type_, StructType) else type_.element  # type: ignore[attr-defined]
    return type_


def _path(reader: Reader) -> tuple[int, ...]:
    path: list[int] = []
    while reader.accept(","):
        path.append(int(reader.next()))
    return tuple(path)


def _extractvalue(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    aggregate = low.read_typed(reader)
    path = _path(reader)
    result = low.register(tokens[0], member_type(aggregate.type, path))
    low.emit(ExtractField(low.new_number(), low.position, result, aggregate, path))


def _insertvalue(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    aggregate = low.read_typed(reader)
    reader.expect(",")
    value = low.read_typed(reader)
    path = _path(reader)
    result = low.register(tokens[0], aggregate.type)
    low.emit(InsertField(low.new_number(), low.position, result, aggregate, value, path))


def _extractelement(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    vector = low.read_typed(reader)
    reader.expect(",")
    index = low.read_typed(reader)
    assert isinstance(vector.type, VectorType)
    result = low.register(tokens[0], vector.type.element)
    low.emit(ExtractElement(low.new_number(), low.position, result, vector, index))


def _insertelement(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    vector = low.read_typed(reader)
    reader.expect(",")
    value = low.read_typed(reader)
    reader.expect(",")
    index = low.read_typed(reader)
    result = low.register(tokens[0], vector.type)
    low.emit(InsertElement(low.new_number(), low.position, result, vector, value, index))


def _shufflevector(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    left = low.read_typed(reader)
    reader.expect(",")
    right = low.read_typed(reader)
    reader.expect(",")
    mask_type = reader.type()
    assert isinstance(mask_type, VectorType) and isinstance(left.type, VectorType)
    mask = _mask(reader.constant(mask_type), mask_type.count)
    result = low.register(tokens[0], VectorType(left.type.element, mask_type.count))
    low.emit(Shuffle(low.new_number(), low.position, result, left, right, mask))


def _mask(constant: Constant, count: int) -> tuple[int, ...]:
    elements = getattr(constant, "elements", None)
    if elements is None:
        return (-1 if isinstance(constant, Undefined) else 0,) * count
    return tuple(e.value if isinstance(e, IntConstant) else -1 for e in elements)


def _va_arg(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    pointer = low.read_typed(reader)
    reader.expect(",")
    type_ = reader.type()
    result = low.register(tokens[0], type_)
    low.emit(NextArgument(low.new_number(), low.position, result, pointer, type_))


def _landingpad(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    type_ = reader.type()
    cleanup = False
    catches: list[Constant] = []
    while reader.at < len(tokens):
        word = reader.next()
        if word == "cleanup":
            cleanup = True
        elif word in ("catch", "filter"):
            catches.append(reader.constant(reader.type()))
    result = low.register(tokens[0], type_)
    low.emit(LandingPad(low.new_number(), low.position, result, tuple(catches), cleanup))


LOWER: dict[str, Handler] = {
    "alloca": _alloca,
    "load": _load,
    "store": _store,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
    "fence": _fence,
    "getelementptr": _getelementptr,
    "icmp": _compare,
    "fcmp": _compare,
    "fneg": _fneg,
    "freeze": _freeze,
    "select": _select,
    "phi": _phi,
    "extractvalue": _extractvalue,
    "insertvalue": _insertvalue,
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
    "va_arg": _va_arg,
    "landingpad": _landingpad,
    **TERMINATORS,
    **dict.fromkeys(BINARIES, _binary),
    **dict.fromkeys(CASTS, _cast),
}
