"""The arguments that a format string takes from a `va_list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.ir import FloatType, IntType, Type
from raceproof.machine.codec import decode
from raceproof.machine.faults import UnknownBytes
from raceproof.machine.formatting import directives

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_INT = IntType(32)
_DOUBLE = FloatType(64)
_LONG_DOUBLE = FloatType(80)


def variable_arguments(machine: Machine, template: int, list_: int) -> tuple[Any, ...]:
    """The arguments that a format string takes from a `va_list`."""
    layout = machine.program.layout
    step = layout.pointer_size
    place = list_ if step == 4 else list_ + 8
    address = list_ if step == 4 else machine.read_pointer(place)
    values: list[Any] = []
    for directive in directives(machine.memory.string(template)):
        if not directive.is_plain:
            raise UnknownBytes("numbered arguments in a list")
        if directive.letter == "%":
            continue
        types: list[Type] = [_INT] * directive.stars
        if directive.letter in "fFeEgGaA":
            types.append(_LONG_DOUBLE if directive.length == "L" else _DOUBLE)
        elif directive.letter in "diouxXcC" and directive.length in ("", "h", "hh"):
            types.append(_INT)
        else:
            wide = directive.length in ("ll", "q", "j")
            types.append(IntType(64 if wide else 8 * step))
        for type_ in types:
            if type_ is _LONG_DOUBLE and step == 8:
                address += -address % 16
            size = layout.store_size(type_)
            values.append(decode(layout, type_, machine.memory.read(address, size)))
            address += -(-layout.size(type_) // step) * step
    return tuple(values)
