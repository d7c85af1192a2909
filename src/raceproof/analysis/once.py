"""Which instructions are executed at most once in every run of the program.

Those of `main` outside of loops, and of functions that are called, or started as a thread, at one
place of that kind only. What such an instruction allocates is a single object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raceproof.ir import Call, Program
from raceproof.ir.cfg import ControlFlow


class Once:
    def __init__(
        self,
        program: Program,
        callees: Callable[[Call], Sequence[str]],
        entries: Callable[[Call], Sequence[str]],
    ) -> None:
        self._program = program
        self._blocks: dict[str, dict[int, int]] = {}
        self._looping: dict[str, set[int]] = {}
        callers: dict[str, list[tuple[str, int]]] = {}
        for function, instruction in program.all_instructions():
            if isinstance(instruction, Call):
                for name in (*callees(instruction), *entries(instruction)):
                    callers.setdefault(name, []).append((function.name, instruction.number))
        self._callers = callers
        self._once: dict[str, bool] = {}

    def is_once(self, instruction: int) -> bool:
        """Is it executed at most once?"""
        function = self._program.function_of(instruction)
        return self._runs_once(function.name) and not self._is_in_loop(function.name, instruction)

    def _runs_once(self, name: str) -> bool:
        """Follows the only callers up to `main`; whoever meets himself is recursive."""
        path: list[str] = []
        verdict = False
        while True:
            known = self._once.get(name)
            if known is not None:
                verdict = known
                break
            if name in path:
                break
            path.append(name)
            callers = self._callers.get(name, [])
            if name == self._program.entry or name in self._program.constructors:
                verdict = not callers
                break
            if len(callers) != 1 or self._is_in_loop(*callers[0]):
                break
            name = callers[0][0]
        for passed in path:
            self._once[passed] = verdict
        return verdict

    def _is_in_loop(self, name: str, instruction: int) -> bool:
        looping = self._looping.get(name)
        function = self._program.functions[name]
        if looping is None:
            looping = self._looping[name] = set()
            for loop in ControlFlow(function).loops:
                for block in loop.blocks:
                    looping.update(i.number for i in function.blocks[block].instructions)
        return instruction in looping
