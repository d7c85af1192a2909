"""Where the global variables of a program lie, and what is in them at the start."""

from __future__ import annotations

from collections.abc import Mapping

from raceproof.ir import Global, Program
from raceproof.machine.codec import encode
from raceproof.machine.constants import Linker
from raceproof.machine.memory import Memory, MemoryObject
from raceproof.verdict import BaseKind

_STREAMS = ("stdin", "stdout", "stderr")
_UNKNOWN_SIZE = 4096
"""What we know of an object without a size that is defined elsewhere."""


def _is_elsewhere(variable: Global) -> bool:
    """Whether another part of the program, which we do not see, says what is in it."""
    return variable.initializer is None and variable.name not in _STREAMS


class StaticData:
    """Lays the globals out in a memory."""

    def __init__(self, program: Program, memory: Memory, functions: Mapping[str, int]) -> None:
        self._program = program
        self.objects: dict[str, MemoryObject] = {}
        for variable in program.globals.values():
            is_partial = variable.size == 0 and _is_elsewhere(variable)
            self.objects[variable.name] = memory.add_static(
                _UNKNOWN_SIZE if is_partial else variable.size,
                BaseKind.STRING if variable.is_string else BaseKind.GLOBAL,
                variable.display,
                variable.name,
                is_private=variable.is_constant,
            )
            self.objects[variable.name].is_partial = is_partial
        bases = {name: found.base for name, found in self.objects.items()}
        self.linker = Linker(program.layout, bases, functions)
        for variable in program.globals.values():
            found = self.objects[variable.name]
            found.data = bytearray(self.initial_bytes(variable).ljust(found.size, b"\0"))
            if variable.initializer is None and variable.name not in _STREAMS:
                found.forget(0, found.size, f"the part of the program with {variable.display}")
            if variable.is_constant and not _is_elsewhere(variable):
                found.data = bytes(found.data)
                del memory.changing[found.base]

    def initial_bytes(self, variable: Global) -> bytes:
        if variable.initializer is None:
            if variable.name in _STREAMS:
                base = self.objects[variable.name].base
                return base.to_bytes(variable.size, "little")
            return bytes(variable.size)
        value = self.linker.value(variable.initializer)
        data = encode(self._program.layout, variable.initializer.type, value)
        return data[: variable.size].ljust(variable.size, b"\0")
