"""What a library function reads and writes, with the arguments of one call in hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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
    if model.format is not None and model.format.family is FormatFamily.PRINTF:
        found.extend(_formatted_strings(machine, model.format.first, arguments, model))
    return tuple(found)


def _ranges(
    machine: Machine, effect: EffectModel, arguments: tuple[Any, ...]
) -> Iterator[AccessRange]:
    flags = (WRITE if effect.is_write else 0) | (ATOMIC if effect.is_atomic else 0)
    if effect.size in (WordSize.UNKNOWN, WordSize.REACHABLE):
        flags |= UNSURE
    last = len(arguments) if effect.rest else effect.argument + 1
    for index in range(effect.argument, min(last, len(arguments))):
        pointer = arguments[index]
        if isinstance(pointer, Inside):
            yield (pointer.target.base, pointer.target.base + pointer.target.size, flags)
            continue
        if isinstance(pointer, Unknown):
            machine.unsupported("a library access through an unknown pointer")
        if not isinstance(pointer, int) or pointer == 0:
            continue
        target = machine.memory.object_at(pointer)
        if target is not None and target.is_private:
            continue
        size = size_of(machine, effect.size, pointer, arguments)
        if size > 0:
            yield (pointer, pointer + size, flags)


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


def _formatted_strings(
    machine: Machine, first: int, arguments: tuple[Any, ...], model: FunctionModel
) -> Iterator[AccessRange]:
    assert model.format is not None
    template = arguments[model.format.format] if model.format.format < len(arguments) else 0
    if isinstance(template, Unknown) or machine.memory.object_at(template) is None:
        return
    position = first
    for directive in directives(machine.memory.string(template)):
        position += directive.stars
        if directive.letter == "%":
            continue
        if directive.letter == "s" and position < len(arguments):
            pointer = arguments[position]
            if isinstance(pointer, int) and pointer:
                size = _string_size(machine, pointer, directive.precision, 1)
                yield (pointer, pointer + size, 0)
        position += 1
