"""The abstract state at one point of one thread: values of registers and memory, and facets.

What a state says beside values, which locks are held, which threads may be running, is a product of
facets (`facets`), each with its own file. Nothing here lists them.

A state belongs to whoever made it and is changed in place; `copy` before sharing. Its facets are
shared values.
"""

from __future__ import annotations

from raceproof.analysis.facets import START, Facets
from raceproof.analysis.facets.thread_pools import ThreadPools
from raceproof.analysis.names import Token
from raceproof.domains import values as domain
from raceproof.domains.integers import Integers
from raceproof.domains.memory import Memory
from raceproof.domains.values import AbstractValue

Content = AbstractValue | tuple["Content", ...]
"""What a register holds: a value, or one for each member of a struct."""


class ThreadState:
    __slots__ = ("facets", "memory", "registers")

    def __init__(self, memory: Memory, facets: Facets = START) -> None:
        self.registers: dict[int, Content] = {}
        self.memory = memory
        self.facets = facets

    def copy(self) -> ThreadState:
        new = ThreadState(self.memory, self.facets)
        new.registers = dict(self.registers)
        return new

    @property
    def pools(self) -> ThreadPools:
        return self.facets.thread_pools

    @pools.setter
    def pools(self, pools: ThreadPools) -> None:
        self.facets = self.facets._replace(thread_pools=pools)

    @property
    def depends_on_others(self) -> bool:
        return self.facets.depends_on_others

    @depends_on_others.setter
    def depends_on_others(self, depends: bool) -> None:
        if depends is not self.facets.depends_on_others:
            self.facets = self.facets._replace(depends_on_others=depends)

    def assigned(self, token: Token) -> None:
        """A register is assigned anew: what was known of its old value is void."""
        self.facets = self.facets.assign(token)

    def wrote(self, base: int, offsets: Integers | None, size: int | None) -> None:
        """So many bytes may have been written there; anywhere in the object if None."""
        self.facets = self.facets.write(base, offsets, size)


def join_contents(a: Content, b: Content) -> Content:
    if a is b:
        return a
    if isinstance(a, tuple) or isinstance(b, tuple):
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            joined = tuple(join_contents(x, y) for x, y in zip(a, b, strict=True))
            return a if all(x is y for x, y in zip(a, joined, strict=True)) else joined
        return domain.UNKNOWN
    return domain.join(a, b)


def widen_contents(a: Content, b: Content, thresholds: tuple[int, ...]) -> Content:
    if a is b:
        return a
    if isinstance(a, tuple) or isinstance(b, tuple):
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            joined = tuple(widen_contents(x, y, thresholds) for x, y in zip(a, b, strict=True))
            return a if all(x is y for x, y in zip(a, joined, strict=True)) else joined
        return domain.UNKNOWN
    return domain.widen(a, b, thresholds)


def join_states(
    a: ThreadState, b: ThreadState, thresholds: tuple[int, ...] | None = None
) -> ThreadState:
    """`a` itself if `b` adds nothing; with thresholds, widens."""
    registers = a.registers
    new_registers: dict[int, Content] | None = None
    for index, value in b.registers.items():
        old = registers.get(index)
        if old is value:
            continue
        if old is None:
            new = value
        elif thresholds is None:
            new = join_contents(old, value)
        else:
            new = widen_contents(old, value, thresholds)
        if new is not old:
            if new_registers is None:
                new_registers = dict(registers)
            new_registers[index] = new
    if thresholds is None:
        memory = a.memory.join(b.memory)
    else:
        memory = a.memory.widen(b.memory, thresholds)
    facets = a.facets.join(b.facets)
    if new_registers is None and memory is a.memory and facets is a.facets:
        return a
    joined = ThreadState(memory, facets)
    joined.registers = registers if new_registers is None else new_registers
    return joined
