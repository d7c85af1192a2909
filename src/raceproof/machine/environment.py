"""What compiled code calls: memory, stack slots, variable arguments, inputs."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NoReturn

from raceproof.ir import FloatType, IntType, PointerType, StructType, Type
from raceproof.machine.codec import decode, encode
from raceproof.machine.faults import UndefinedBehaviour, Unsupported
from raceproof.machine.intrinsics import intrinsic
from raceproof.machine.libc.call import any_value
from raceproof.machine.memory import MemoryObject
from raceproof.machine.operators import HELPERS, absorbing, select
from raceproof.machine.unknown import UNKNOWN, Inside, Unknown, unknown_from

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_UNITS = "BHIQfd"


def unsupported(what: str) -> NoReturn:
    raise Unsupported(what)


def undefined(what: str) -> NoReturn:
    raise UndefinedBehaviour(what)


def out_of_bounds(target: MemoryObject, address: int) -> NoReturn:
    if target.is_partial:
        raise Unsupported(f"{target.name} is longer than we know")
    raise UndefinedBehaviour(
        f"a pointer to offset {address - target.base} of {target.name}, which has "
        f"{target.size} bytes"
    )


def insert(aggregate: Any, value: Any, path: tuple[int, ...]) -> Any:
    """The aggregate with the element at `path` replaced."""
    if isinstance(aggregate, Unknown):
        return unknown_from(aggregate, value)
    index, *rest = path
    part = insert(aggregate[index], value, tuple(rest)) if rest else value
    return (*aggregate[:index], part, *aggregate[index + 1 :])


class Environment:
    """The functions that compiled code sees, bound to one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._layout = machine.program.layout
        self._pointer_size = machine.program.layout.pointer_size

    def names(self) -> dict[str, Any]:
        helpers: dict[str, Any] = dict(HELPERS)
        if self._machine.is_open:
            helpers = {name: absorbing(function) for name, function in HELPERS.items()}
        return {
            **helpers,
            **{f"unpack_{unit}": struct.Struct(f"<{unit}").unpack_from for unit in _UNITS},
            **{f"pack_{unit}": struct.Struct(f"<{unit}").pack_into for unit in _UNITS},
            "P": self._machine.memory.pages,
            "UNKNOWN": UNKNOWN,
            "select": select,
            "insert": insert,
            "intrinsic": intrinsic,
            "unsupported": unsupported,
            "undefined": undefined,
            "out_of_bounds": out_of_bounds,
            "load": self.load_open if self._machine.is_open else self.load,
            "store": self.store_open if self._machine.is_open else self.store,
            "copy": self.copy_open if self._machine.is_open else self.copy,
            "fill": self.fill_open if self._machine.is_open else self.fill,
            "offset": self.offset,
            "access": self.access,
            "push_slot": self.push_slot,
            "thread_local": self._machine.thread_local,
            "any_value": self.any_value,
            "any_of": self.any_of,
            "assembled": self.assembled,
            "own_address": self.own_address,
            "unset": self._machine.unset,
            "fails_spuriously": self._machine.fails_spuriously,
            "undefined_value": self._machine.undefined,
            "assume": self._machine.assume,
            "fence": self._machine.fence,
            "va_start": self.va_start,
            "va_copy": self.va_copy,
            "va_end": lambda *_: None,
            "next_argument": self.next_argument,
            "trap": lambda *_: undefined("a trap"),
            "debugtrap": lambda *_: undefined("a trap"),
            "ubsantrap": lambda *_: undefined("a trap"),
        }

    def any_value(self, bits: int) -> Any:
        if self._machine.is_open:
            return UNKNOWN
        return self._machine.input(bits or self._pointer_size * 8, None)

    def any_of(self, type_: Type) -> Any:
        """A value that was never set."""
        return UNKNOWN if self._machine.is_open else any_value(self._machine, type_)

    def own_address(self) -> Any:
        """Where the stack of the thread is, or a call comes from: some address, never null."""
        self._machine.note_inexact("addresses of frames and of code")
        return self._machine.current.arena.stack | 16

    def assembled(
        self, text: str, is_opaque: bool, written: tuple[tuple[Any, int], ...], type_: Type | None
    ) -> Any:
        """Inline assembly: the operands in memory that it writes, and its result if it has one."""
        machine = self._machine
        machine.left_out.add("inline assembly")
        name = f"the assembly {text.strip()[:24]!r}"
        if is_opaque:
            raise Unsupported(name)
        for address, size in written:
            machine.forget(address, size, name)
        if type_ is None:
            return None
        return UNKNOWN if machine.is_open else any_value(machine, type_, name)

    # --- memory, exact ------------------------------------------------------------

    def load(self, address: int, size: int, type_: Type) -> Any:
        """Any type; bytes that were never written are an input."""
        memory = self._machine.memory
        found = memory.find(address, size)
        offset = address - found.base
        if found.is_unknown(offset, size):
            self._machine.reveal(found, offset, size)
        return decode(self._layout, type_, bytes(found.data[offset : offset + size]))

    def store(self, address: int, size: int, type_: Type, value: Any) -> None:
        self._machine.memory.write(address, encode(self._layout, type_, value))

    def copy(self, target: int, source: int, size: int) -> None:
        self._machine.memory.copy(target, source, size)

    def fill(self, target: int, byte: int, size: int) -> None:
        self._machine.memory.write(target, bytes([byte & 0xFF]) * size)

    # --- memory with unknown values -----------------------------------------------------------

    def load_open(self, address: Any, size: int, type_: Type) -> Any:
        if isinstance(address, Unknown):
            address.blame()
            if not isinstance(address, Inside):
                raise Unsupported("a read through an unknown pointer")
            return _unknown_of(type_, address)
        found = self._machine.memory.find(address, size)
        offset = address - found.base
        if found.mask is not None and any(found.mask[offset : offset + size]):
            return self._partly_known(found, offset, size, type_)
        if size == 4 and isinstance(type_, IntType | PointerType):
            return int.from_bytes(found.data[offset : offset + 4], "little")
        return decode(self._layout, type_, bytes(found.data[offset : offset + size]))

    def _partly_known(self, found: MemoryObject, offset: int, size: int, type_: Type) -> Any:
        if isinstance(type_, StructType):
            return tuple(
                self.load_open(found.base + offset + start, self._layout.store_size(field), field)
                for field, start in zip(type_.fields, self._layout.offsets(type_), strict=True)
            )
        return _unknown_of(type_)

    def store_open(self, address: Any, size: int, type_: Type, value: Any) -> None:
        if isinstance(address, Unknown):
            address.blame()
            if not isinstance(address, Inside):
                raise Unsupported("a write through an unknown pointer")
            address.target.forget(0, address.target.size)
            return
        if isinstance(value, Unknown):
            found = self._machine.memory.find(address, size)
            found.forget(address - found.base, size)
        elif isinstance(value, tuple) and isinstance(type_, StructType):
            for field, start, part in zip(
                type_.fields, self._layout.offsets(type_), value, strict=True
            ):
                self.store_open(address + start, self._layout.store_size(field), field, part)
        else:
            self._machine.memory.write(address, encode(self._layout, type_, value))

    def copy_open(self, target: Any, source: Any, size: Any) -> None:
        if not any(isinstance(value, Unknown) for value in (target, source, size)):
            self._machine.memory.copy(target, source, size)
            return
        self._forget_all(target)

    def fill_open(self, target: Any, byte: Any, size: Any) -> None:
        if isinstance(target, Unknown) or isinstance(size, Unknown):
            self._forget_all(target)
        elif isinstance(byte, Unknown):
            self._machine.forget(target, size)
        else:
            self.fill(target, byte, size)

    def _forget_all(self, target: Any) -> None:
        if isinstance(target, Inside):
            found: MemoryObject | None = target.target
        else:
            found = self._machine.memory.object_at(self._machine.known(target))
        if found is None:
            raise UndefinedBehaviour("a write to nowhere")
        found.forget(0, found.size)

    def offset(self, base: Any, distance: Any) -> Any:
        if isinstance(base, Inside):
            return base
        if isinstance(base, Unknown):
            return unknown_from(base, distance)
        if isinstance(distance, Unknown):
            found = self._machine.memory.object_at(base)
            return unknown_from(distance) if found is None else Inside(found, distance.sites)
        return base + distance & (1 << 8 * self._pointer_size) - 1

    def access(self, address: Any, size: Any, flags: int) -> tuple[tuple[int, int, int], ...]:
        """The bytes that an access through a perhaps unknown pointer can touch."""
        if isinstance(address, Inside):
            address.blame()
            target = address.target
            return ((target.base, target.base + target.size, flags),)
        if isinstance(address, Unknown):
            address.blame()
            raise Unsupported("an access through an unknown pointer")
        if isinstance(size, Unknown):
            size.blame()
            found = self._machine.memory.object_at(address)
            return () if found is None else ((address, found.base + found.size, flags),)
        return ((address, address + size, flags),)

    # --- stack and variable arguments ---------------------------------------------------------

    def push_slot(self, slot: tuple[int, str, str, bool], count: Any) -> int:
        size, name, source, is_private = slot
        thread = self._machine.current
        found = self._machine.memory.push(
            thread.arena, size * self._machine.known(count), name, source, is_private=is_private
        )
        thread.frames[-1].slots.append(found.base)
        return found.base

    def va_start(self, list_: Any) -> None:
        """Lays the variable arguments out in memory, as the target's convention wants them."""
        frame = self._machine.current.frames[-1]
        if not frame.variadic:
            frame.variadic = self._lay_out(frame.arguments)
        if self._pointer_size == 4:
            self._machine.write_pointer(list_, frame.variadic)
            return
        # gp_offset, fp_offset: all registers are used up, everything is in the overflow area
        head = (48).to_bytes(4, "little") + (176).to_bytes(4, "little")
        self._machine.memory.write(list_, head + frame.variadic.to_bytes(8, "little") + bytes(8))

    def _lay_out(self, arguments: tuple[Any, ...]) -> int:
        call = self._machine.variadic_call()
        data = bytearray()
        unknown: list[tuple[int, int]] = []
        step = self._pointer_size
        for argument, type_ in zip(arguments, call, strict=True):
            size = self._layout.store_size(type_)
            if isinstance(type_, FloatType) and type_.bits == 80 and step == 8:
                data += bytes(-len(data) % 16)
            if isinstance(argument, Unknown):
                unknown.append((len(data), size))
                data += bytes(size)
            else:
                data += encode(self._layout, type_, argument)
            data += bytes(-len(data) % step)
        thread = self._machine.current
        found = self._machine.memory.push(
            thread.arena, len(data), "variable arguments", "varargs", is_private=True
        )
        thread.frames[-1].slots.append(found.base)
        self._machine.memory.write(found.base, bytes(data))
        for start, size in unknown:
            found.forget(start, size)
        return found.base

    def va_copy(self, target: Any, source: Any) -> None:
        self._machine.memory.copy(target, source, 4 if self._pointer_size == 4 else 24)

    def next_argument(self, list_: Any, size: int, type_: Type) -> Any:
        place = list_ if self._pointer_size == 4 else list_ + 8
        address = self._machine.read_pointer(place)
        step = -(-size // self._pointer_size) * self._pointer_size
        self._machine.write_pointer(place, address + step)
        return self.load(address, self._layout.store_size(type_), type_)


def _unknown_of(type_: Type, source: Unknown = UNKNOWN) -> Any:
    if isinstance(type_, StructType):
        return tuple(_unknown_of(field, source) for field in type_.fields)
    return unknown_from(source)
