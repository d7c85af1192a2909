"""Reading and writing memory in a symbolic execution.

The contents of a thread's own stack slots and of the shared cells are followed, at exact places
only. Whatever else is read is arbitrary; a write that cannot be placed spoils all that it may reach
as the thread-modular analysis sees it.
"""

from __future__ import annotations

from raceproof.engines.pairwise.execution_log import ExecutionLog
from raceproof.engines.pairwise.locking import Locking
from raceproof.engines.pairwise.state import PairState, SharedCell
from raceproof.engines.pairwise.values import PairPlace, PairValue, chosen
from raceproof.ir import ZeroConstant
from raceproof.smt.terms import Term, signed


class PairMemory:
    def __init__(self, log: ExecutionLog, locking: Locking) -> None:
        self.log = log
        self.locking = locking
        self.world = log.world
        self.terms = log.terms

    # --- the record ------------------------------------------------------------

    def record(
        self,
        state: PairState,
        instruction: int,
        address: PairValue,
        size: int | None,
        is_write: bool,
    ) -> None:
        if state.guard is self.terms.false:
            return
        if is_write and not self.log.is_main:
            self.world.sightings.see(self.log, state, self.log.call, address, size)
        found_free = {
            lock: self.locking.found_free(state, cell)
            for cell, lock in self.world.spin_locks.items()
        }
        self.log.accesses.setdefault(instruction, []).append(
            self.log.record(
                instruction,
                state,
                self.terms.true,
                address,
                size,
                is_write,
                found_free,
                self.locking.thread_counters.known(state),
                self.locking.work_counters.known(state),
                self.locking.elements.found(state),
            )
        )

    # --- reading ------------------------------------------------------------

    def read(self, state: PairState, address: PairValue, size: int, width: int) -> PairValue:
        value = PairValue(self.log.fresh("read", width))
        for place in address.places:
            found = self._read_place(state, place, size, width)
            if found is not None:
                value = chosen(self.terms, place.condition, found, value)
        return value

    def _read_place(
        self, state: PairState, place: PairPlace, size: int, width: int
    ) -> PairValue | None:
        key = place.object.key
        if key[0] == "global" and str(key[1]) in self.world.untouched:
            variable = self.world.program.globals.get(str(key[1]))
            if variable is not None and isinstance(variable.initializer, ZeroConstant):
                return PairValue(self.terms.const(0, width))
        element = self.locking.elements.read(state, place, size, width)
        if element is not None:
            return element
        if not place.offset.is_constant or width != size * 8:
            return None
        cell = SharedCell(key, signed(place.offset.constant, place.offset.width), size)
        if cell in self.world.cells:
            known = self.locking.is_known(state, cell)
            if known is self.terms.false:
                return None
            anything = PairValue(self.log.fresh("shared", width))
            return chosen(self.terms, known, self.locking.view(state, cell), anything)
        if self._is_own(key):
            if cell not in state.memory:
                state.memory[cell] = PairValue(self.log.fresh("uninitialised", width))
            return state.memory[cell]
        return None

    def _is_own(self, key: tuple[object, ...]) -> bool:
        is_mine = key[:2] == ("slot", self.log.name)
        return is_mine and key[-1] not in self.world.open_slots

    # --- writing ------------------------------------------------------------

    def write(
        self,
        state: PairState,
        instruction: int,
        address: PairValue,
        size: int | None,
        value: PairValue | None,
    ) -> None:
        """None: unknown how much, or what."""
        terms = self.terms
        rest = terms.true
        for place in address.places:
            condition = terms.and_(rest, place.condition)
            rest = terms.and_(rest, terms.not_(place.condition))
            self._write_place(state, place, condition, size, value)
        if rest is not terms.false:
            self._write_anywhere(state, instruction, rest)

    def _write_place(
        self,
        state: PairState,
        place: PairPlace,
        condition: Term,
        size: int | None,
        value: PairValue | None,
    ) -> None:
        key = place.object.key
        self.locking.elements.wrote(state, place, condition, size, value)
        exact = None
        if place.offset.is_constant and size is not None:
            exact = signed(place.offset.constant, place.offset.width)
        target = None if exact is None or size is None else SharedCell(key, exact, size)
        for cell in [c for c in state.memory if c.key == key] + [
            c for c in self.world.cells if c.key == key and c not in state.memory
        ]:
            if cell == target and value is not None and value.bits.width == cell.size * 8:
                continue
            if exact is not None and size is not None and not cell.overlaps(exact, size):
                continue
            self._spoil(state, cell, condition)
        if target is None or value is None or value.bits.width != target.size * 8:
            return
        if target in self.world.cells:
            if condition is self.terms.true:
                self.locking.wrote(state, target, value)
            else:
                self.locking.clobbered(state, target, condition)
        elif self._is_own(key):
            if condition is self.terms.true:
                state.memory[target] = value
            elif target in state.memory:
                state.memory[target] = chosen(self.terms, condition, value, state.memory[target])

    def _write_anywhere(self, state: PairState, instruction: int, condition: Term) -> None:
        targets = self.world.targets.get(instruction, set())
        self.locking.elements.spoiled(state, targets, condition)
        for cell in self.world.cells:
            if cell.key in targets:
                self.locking.clobbered(state, cell, condition)
        for cell in list(state.memory):
            if cell.key[0] == "slot":
                number = cell.key[-1]
                if number in self.world.hidden_slots or ("slot", number) in targets:
                    self._spoil(state, cell, condition)

    def _spoil(self, state: PairState, cell: SharedCell, condition: Term) -> None:
        if cell in self.world.cells:
            self.locking.clobbered(state, cell, condition)
            return
        anything = PairValue(self.log.fresh("spoiled", cell.size * 8))
        state.memory[cell] = chosen(self.terms, condition, anything, state.memory[cell])
