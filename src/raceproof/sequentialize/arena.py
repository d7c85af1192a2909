"""Where everything lies in the printed program's memory.

Memory is one array of bytes, so that the address of a byte also finds its shadow. From below: the
addresses of functions (no bytes), the global variables, a copy of the thread-local ones for each
thread, the stacks, the heap. Objects are at least 16 bytes apart, so that running over the end of
one is seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.errors import UserError
from raceproof.ir import Global, Program
from raceproof.machine.codec import encode
from raceproof.machine.constants import Linker
from raceproof.machine.faults import Unsupported
from raceproof.sequentialize.c_text import identifier

_FIRST_FUNCTION = 16
_LARGEST = 1 << 24
_STREAMS = ("stdin", "stdout", "stderr")


def room(size: int) -> int:
    """Bytes that an object takes up, with the gap after it."""
    return (size + 31) // 16 * 16


@dataclass(frozen=True, slots=True)
class Placed:
    """A global variable in memory; a thread-local one lies at this offset of each thread's part."""

    variable: Global
    address: int
    macro: str
    data: bytes


LIBRARY_OBJECT = 256
"""Bytes of an object that the library hands out, as `errno` or `localtime`'s result."""


@dataclass(frozen=True, slots=True)
class LibraryObject:
    macro: str
    address: int
    is_thread_local: bool


class Arena:
    """The addresses of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._macros: set[str] = set()
        self.functions = {
            name: _FIRST_FUNCTION * (index + 1) for index, name in enumerate(program.functions)
        }
        self.function_macros = {name: self._macro("F", name) for name in program.functions}
        self._named_locks: dict[str, int] = {}
        self.library_objects: dict[str, LibraryObject] = {}
        start = _FIRST_FUNCTION * (len(program.functions) + 64)
        bases: dict[str, int] = {}
        local = 0
        for variable in program.globals.values():
            if variable.size > _LARGEST:
                raise UserError(
                    f"cannot print {variable.display}: it has {variable.size} bytes, and the "
                    f"printed memory has room for {_LARGEST}"
                )
            if variable.is_thread_local:
                bases[variable.name] = local
                local += room(variable.size)
            else:
                bases[variable.name] = start
                start += room(variable.size)
        self.end = start
        self.thread_local_size = local
        self.linker = Linker(program.layout, bases, self.functions)
        self.placed = {
            variable.name: Placed(
                variable,
                bases[variable.name],
                self._macro("G", variable.display),
                self._initial_bytes(variable, bases[variable.name]),
            )
            for variable in program.globals.values()
        }

    def named_lock(self, name: str) -> int:
        """The address of a lock that only the library knows."""
        found = self._named_locks.get(name)
        if found is None:
            found = _FIRST_FUNCTION * (len(self.functions) + 1 + len(self._named_locks))
            self._named_locks[name] = found
        return found

    def library_object(self, name: str, *, is_thread_local: bool) -> str:
        """The macro of an object that the library owns and hands out; 256 bytes."""
        found = self.library_objects.get(name)
        if found is None:
            start = self.thread_local_size if is_thread_local else self.end
            found = LibraryObject(self._macro("L", name), start, is_thread_local)
            self.library_objects[name] = found
            if is_thread_local:
                self.thread_local_size += room(LIBRARY_OBJECT)
            else:
                self.end += room(LIBRARY_OBJECT)
        return found.macro

    def _macro(self, prefix: str, name: str) -> str:
        plain = f"{prefix}_{identifier(name)}"
        text, count = plain, 1
        while text in self._macros:
            count += 1
            text = f"{plain}_{count}"
        self._macros.add(text)
        return text

    def _initial_bytes(self, variable: Global, base: int) -> bytes:
        if variable.initializer is None:
            size = self._program.layout.pointer_size
            if variable.name in _STREAMS:
                return base.to_bytes(size, "little")[: variable.size]
            return bytes(variable.size)
        try:
            value = self.linker.value(variable.initializer)
            data = encode(self._program.layout, variable.initializer.type, value)
        except Unsupported as error:
            raise UserError(f"cannot print the value of {variable.display}: {error}") from error
        return data[: variable.size].ljust(variable.size, b"\0")

    @staticmethod
    def is_unknown(variable: Global) -> bool:
        """Whether its first value is an input: it is defined elsewhere."""
        return variable.initializer is None and variable.name not in _STREAMS
