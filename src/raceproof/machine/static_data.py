"""Where the global variables of a program lie, and what is in them at the start."""

from __future__ import annotations

from collections.abc import Mapping

from raceproof.ir import Global, Program
from raceproof.machine.codec import encode
from raceproof.machine.constants import Linker
from raceproof.machine.memory import Memory, MemoryObject
from raceproof.verdict import BaseKind

_STREAMS = ("stdin", "stdout", "stderr")


class StaticData:
    """Lays the globals out in a memory."""

    def __init__(self, program: Program, memory: Memory, functions: Mapping[str, int]) -> None:
        self._program = program
        self.objects: dict[str, MemoryObject] = {}
        for variable in program.globals.values():
            self.objects[variable.name] = memory.add_static(
                variable.size,
                BaseKind.STRING if variable.is_string else BaseKind.GLOBAL,
                variable.display,
                variable.name,
                is_private=variable.is_constant,
            )
        bases = {name: found.base for name, found in self.objects.items()}
        self.linker = Linker(program.layout, bases, functions)
        for variable in program.globals.values():
            found = self.objects[variable.name]
            found.data = bytearray(self.initial_bytes(variable))
            if variable.initializer is None and variable.name not in _STREAMS:
                found.mask = bytearray(b"\1") * variable.size
            if variable.is_constant:
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
