"""Which instructions are executed at most once in every run of the program.

Those of `main` outside of loops, and of functions that are called, or started as a thread, at one
place of that kind only. What such an instruction allocates is a single object. A function that is
handed to the library (a comparison for `qsort`) may be called often, at whichever place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from raceproof.concurrency.accesses import Events
from raceproof.concurrency.events import CleanupPush, ThreadCreate
from raceproof.concurrency.events import Once as OnceEvent
from raceproof.ir import Call, Program
from raceproof.ir.cfg import ControlFlow


class ExecutedOnce:
    def __init__(
        self,
        program: Program,
        events: Events,
        callees: Callable[[Call], Sequence[str]],
        entries: Callable[[Call], Sequence[str]],
    ) -> None:
        self._program = program
        self._blocks: dict[str, dict[int, int]] = {}
        self._looping: dict[str, set[int]] = {}
        callers: dict[str, list[tuple[str, int]]] = {}
        for function, instruction in program.all_instructions():
            if isinstance(instruction, Call):
                place = function.name, instruction.number
                for name in callees(instruction):
                    callers.setdefault(name, []).append(place)
                started = entries(instruction)
                calls = 1 if started and _is_start(events, instruction, callees) else 2
                for name in started:
                    callers.setdefault(name, []).extend([place] * calls)
        self._callers = callers
        self._once: dict[str, bool] = {}

    def is_once(self, instruction: int) -> bool:
        """Is it executed at most once?"""
        function = self._program.function_of(instruction)
        return self._runs_once(function.name) and not self._is_in_loop(function.name, instruction)

    def are_straight(self, instructions: Iterable[int]) -> bool:
        """Does none of them stand in a loop of its function?"""
        return not any(
            self._is_in_loop(self._program.function_of(number).name, number)
            for number in instructions
        )

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


def _is_start(events: Events, call: Call, callees: Callable[[Call], Sequence[str]]) -> bool:
    """Is what the call runs run once for each time that it is executed?"""
    return all(
        isinstance(events.of(call, name), ThreadCreate | OnceEvent | CleanupPush)
        for name in callees(call)
    )
