"""What persistent sets are chosen from, read off a configuration."""

from __future__ import annotations

from raceproof.engines.interleave.access_sets import AccessSet, AccessSets
from raceproof.engines.interleave.configuration import Block, Configuration, Identities
from raceproof.engines.interleave.future_accesses import Need
from raceproof.engines.interleave.persistent import Situation
from raceproof.engines.interleave.transitions import synchronises
from raceproof.machine.control import Join
from raceproof.machine.machine import Machine
from raceproof.machine.thread import Pending


class Situations:
    """Reads them, and remembers the access sets of blocks."""

    def __init__(self, identities: Identities, access_sets: AccessSets) -> None:
        self._identities = identities
        self._access_sets = access_sets
        self._blocks: dict[Block, AccessSet] = {}

    def of(self, machine: Machine, configuration: Configuration, enabled: list[int]) -> Situation:
        """Of the configuration that the machine stands in."""
        forgotten: dict[int, AccessSet] = {}
        needs: dict[int, Need] = {}
        nodes = {}
        for thread in configuration.threads:
            pending = thread.pending
            if pending is None:
                continue
            nodes[thread.number] = self._identities.node(thread)
            if thread.number in enabled:
                forgotten[thread.number] = self._forgotten(
                    machine, configuration, thread.number, pending
                )
            elif pending.operation is not None:
                need = pending.operation.awaits(machine, pending.arguments)
                if need is not None:
                    needs[thread.number] = need
        return Situation(tuple(enabled), nodes, forgotten, needs, configuration.sync)

    def _forgotten(
        self, machine: Machine, configuration: Configuration, number: int, pending: Pending
    ) -> AccessSet:
        """The blocks that a transition forgets: its thread's, and that of a thread it joins."""
        found = AccessSet()
        if synchronises(pending):
            found = self._block(configuration.blocks[number])
        if isinstance(pending.operation, Join):
            target = pending.operation.target(machine, pending.arguments)
            if target is not None:
                found = found.union(self._block(configuration.blocks[target.number]))
        return found

    def _block(self, block: Block) -> AccessSet:
        found = self._blocks.get(block)
        if found is None:
            found = self._blocks[block] = self._access_sets.of_accesses(block)
        return found
