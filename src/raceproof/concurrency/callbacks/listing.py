"""Which handlers a thread runs, for people: by the calls that name functions.

A handler that is known by a pointer only is not among them; who follows pointers knows more.
"""

from __future__ import annotations

from raceproof.concurrency.callbacks.sites import PREFIX, is_synthesized
from raceproof.ir import Program
from raceproof.ir.cfg import CallGraph

_LOOP = f"{PREFIX}loop$"


class HandlerListing:
    """The handlers of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._callees = CallGraph(program).callees if self._has_loops() else {}

    def _has_loops(self) -> bool:
        return any(name.startswith(_LOOP) for name in self._program.functions)

    def of(self, entry: str) -> tuple[str, ...]:
        """What the loops may call that a thread with this entry runs, by the source's names."""
        seen, work, found = {entry}, [entry], set()
        while work:
            name = work.pop()
            for callee in self._callees.get(name, ()):
                if name.startswith(_LOOP) and self._is_handler(callee):
                    found.add(self._program.functions[callee].display)
                if callee not in seen:
                    seen.add(callee)
                    work.append(callee)
        return tuple(sorted(found))

    def _is_handler(self, name: str) -> bool:
        function = self._program.functions.get(name)
        return function is not None and function.is_defined and not is_synthesized(name)
