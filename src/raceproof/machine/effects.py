"""What a library function reads and writes, with the arguments of one call in hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from raceproof.concurrency.formats import integer_size, scanned_sizes
from raceproof.concurrency.model import (
    ArgumentSize,
    BytesSize,
    EffectModel,
    FormatFamily,
    FunctionModel,
    SizeModel,
    StringSize,
    WordSize,
)
from raceproof.concurrency.resolve import SYNCHRONISATION_OBJECTS
from raceproof.machine.formatting import directives
from raceproof.machine.segments import ATOMIC, UNSURE, WRITE, AccessRange
from raceproof.machine.unknown import Inside, Unknown

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine


def accessed_ranges(
    machine: Machine, model: FunctionModel, arguments: tuple[Any, ...]
) -> tuple[AccessRange, ...]:
    """The bytes that the model says are read and written."""
    found: list[AccessRange] = []
    for effects in (model.reads, model.writes):
        for effect in effects:
            found.extend(_ranges(machine, effect, arguments))
    if model.format is not None:
        found.extend(_formatted(machine, model, arguments))
    if model.role in SYNCHRONISATION_OBJECTS:
        found.extend(_synchronisation_object(model, arguments))
    return tuple(found)


def _synchronisation_object(
    model: FunctionModel, arguments: tuple[Any, ...]
) -> Iterator[AccessRange]:
    """The first byte of the lock, condition and so on that the call is about."""
    assert model.role is not None
    use = SYNCHRONISATION_OBJECTS[model.role]
    place = model.operands.get(use.operand)
    if place is None or place.indirect or place.index >= len(arguments):
        return
    address = arguments[place.index]
    if isinstance(address, int) and address:
        yield (address, address + 1, WRITE if use.is_write else ATOMIC)


def _ranges(
    machine: Machine, effect: EffectModel, arguments: tuple[Any, ...]
) -> Iterator[AccessRange]:
    flags = (WRITE if effect.is_write else 0) | (ATOMIC if effect.is_atomic else 0)
    if effect.is_may or effect.size in (WordSize.UNKNOWN, WordSize.REACHABLE):
        flags |= UNSURE
    if effect.size is WordSize.REACHABLE:
        machine.left_out.add("what a library function does through pointers that it finds")
    last = len(arguments) if effect.rest else effect.argument + 1
    for index in range(effect.argument, min(last, len(arguments))):
        pointer = arguments[index]
        if isinstance(pointer, Unknown):
            yield from _anywhere(machine, pointer, flags)
            continue
        if not isinstance(pointer, int) or pointer == 0:
            continue
        target = machine.memory.object_at(pointer)
        if target is not None and _is_open_size(effect.size, arguments):
            yield (pointer, target.base + target.size, flags | UNSURE)
            continue
        size = size_of(machine, effect.size, pointer, arguments)
        if size > 0:
            yield (pointer, pointer + size, flags)


def _is_open_size(size: SizeModel | None, arguments: tuple[Any, ...]) -> bool:
    """Whether it depends on an argument that is unknown."""
    match size:
        case ArgumentSize(indices, _):
            return any(isinstance(arguments[index], Unknown) for index in indices)
        case StringSize(argument, limit, _):
            asked = (argument,) if limit is None else (argument, limit)
            return any(isinstance(arguments[index], Unknown) for index in asked)
    return False


def size_of(
    machine: Machine, size: SizeModel | None, pointer: int, arguments: tuple[Any, ...]
) -> int:
    """How many bytes that is."""
    match size:
        case BytesSize(ilp32, lp64):
            return ilp32 if machine.program.layout.pointer_size == 4 else lp64
        case ArgumentSize(indices, scale):
            product = scale.ilp32 if machine.program.layout.pointer_size == 4 else scale.lp64
            for index in indices:
                product *= int(machine.known(arguments[index]))
            return product
        case StringSize(argument, limit, character):
            address = machine.known(arguments[argument])
            bound = None if limit is None else int(machine.known(arguments[limit]))
            return _string_size(machine, address, bound, character)
        case WordSize():
            target = machine.memory.object_at(pointer)
            return 0 if target is None else target.base + target.size - pointer
    return 0


def _string_size(machine: Machine, address: int, bound: int | None, character: int) -> int:
    target = machine.memory.object_at(address)
    if target is None:
        return 0
    offset = address - target.base
    data = target.data
    most = (len(data) - offset) // character
    if bound is not None:
        most = min(most, bound)
    if machine.is_open and target.is_unknown(offset, most * character):
        return most * character
    if character == 1:
        place = data.find(b"\0", offset, offset + most)
        return most if place < 0 else place - offset + 1
    for index in range(most):
        start = offset + index * character
        if not any(data[start : start + character]):
            return (index + 1) * character
    return most * character


def _formatted(
    machine: Machine, model: FunctionModel, arguments: tuple[Any, ...]
) -> Iterator[AccessRange]:
    """What a format string says is read and written."""
    format_ = model.format
    assert format_ is not None
    if format_.format >= len(arguments):
        return
    template = arguments[format_.format]
    if isinstance(template, Unknown):
        machine.unsupported("an unknown format string")
    if machine.memory.object_at(template) is None:
        return
    text, rest = machine.memory.string(template), arguments[format_.first :]
    if format_.family is FormatFamily.PRINTF:
        yield from _printed(machine, text, rest)
    else:
        has_given_text = any(effect.argument != format_.format for effect in model.reads)
        yield from _scanned(machine, text, rest, is_sure=not has_given_text)


def _printed(machine: Machine, text: bytes, arguments: tuple[Any, ...]) -> Iterator[AccessRange]:
    position = 0
    for directive in directives(text):
        position += directive.stars
        if directive.letter == "%":
            continue
        if directive.letter in "sn" and position < len(arguments):
            pointer = arguments[position]
            if isinstance(pointer, Unknown):
                yield from _anywhere(machine, pointer, WRITE if directive.letter == "n" else 0)
            elif isinstance(pointer, int) and pointer and directive.letter == "s":
                size = _string_size(machine, pointer, directive.precision, 1)
                yield (pointer, pointer + size, 0)
            elif isinstance(pointer, int) and pointer:
                size = integer_size(directive.length, machine.program.layout)
                yield (pointer, pointer + size, WRITE)
        position += 1


def _scanned(
    machine: Machine, text: bytes, arguments: tuple[Any, ...], is_sure: bool
) -> Iterator[AccessRange]:
    """`is_sure`: any text may come from outside, also one that fits the format."""
    flags = WRITE if is_sure else WRITE | UNSURE
    sizes = scanned_sizes(text.decode("latin-1"), machine.program.layout)
    for pointer, size in zip(arguments, sizes, strict=False):
        if isinstance(pointer, Unknown):
            yield from _anywhere(machine, pointer, flags)
        elif isinstance(pointer, int) and pointer:
            target = machine.memory.object_at(pointer)
            if target is None:
                continue
            if size is not None:
                yield (pointer, pointer + size, flags)
            else:
                yield (pointer, target.base + target.size, flags | UNSURE)


def _anywhere(machine: Machine, pointer: Unknown, flags: int) -> Iterator[AccessRange]:
    pointer.blame()
    if isinstance(pointer, Inside):
        yield (pointer.target.base, pointer.target.base + pointer.target.size, flags)
    else:
        machine.unsupported("a library access through an unknown pointer")
