"""Which handlers a thread runs, for people: by the calls that name functions.

A handler that is known by a pointer only is not among them, unless whoever follows pointers says
who calls whom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from raceproof.concurrency.callbacks.sites import PREFIX, is_synthesized
from raceproof.ir import Call, Program, Type
from raceproof.ir.cfg import CallGraph

_LOOP = f"{PREFIX}loop$"


class HandlerListing:
    """The handlers of one program."""

    def __init__(
        self, program: Program, callees: Callable[[str], Iterable[str]] | None = None
    ) -> None:
        self._program = program
        named = CallGraph(program).callees if callees is None and self._has_loops() else {}
        self._shapes: dict[str, set[tuple[Type, ...]]] = {}
        self._callees = callees or (lambda name: named.get(name, ()))

    def _has_loops(self) -> bool:
        return any(name.startswith(_LOOP) for name in self._program.functions)

    def of(self, entry: str) -> tuple[str, ...]:
        """What the loops may call that a thread with this entry runs, by the source's names."""
        seen, work, found = {entry}, [entry], set()
        while work:
            name = work.pop()
            for callee in self._callees(name):
                if name.startswith(_LOOP) and self._is_handler(name, callee):
                    found.add(self._program.functions[callee].display)
                if callee not in seen:
                    seen.add(callee)
                    work.append(callee)
        return tuple(sorted(found))

    def _is_handler(self, loop: str, name: str) -> bool:
        """Does the loop call it as it wants to be called? A pointer may seem to mean any."""
        function = self._program.functions.get(name)
        if function is None or not function.is_defined or is_synthesized(name):
            return False
        return function.type.parameters in self._calls(loop)

    def _calls(self, loop: str) -> set[tuple[Type, ...]]:
        found = self._shapes.get(loop)
        if found is None:
            calls = self._program.functions[loop].instructions
            found = {c.function_type.parameters for c in calls if isinstance(c, Call)}
            self._shapes[loop] = found
        return found
