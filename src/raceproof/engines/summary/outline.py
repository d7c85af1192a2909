"""The outline of a function: all that race detection needs to know of its body, and no more.

An outline depends on the function's own text only, so it is made once and kept in the cache; the
summaries of its callees come in later (`compose`). It is plain tuples inside, because it is
written and read with `marshal`. Events, in the order of the block:

    ("access", number, addresses, size, is_write, is_atomic)
    ("store", number, addresses, values)          memory at the addresses may hold the values now
    ("call", number, callees, arguments)
    ("lock", number, locks, mode, success)        success: always, zero, nonzero
    ("unlock", number, locks)
    ("create", number, handles, entries, arguments)   handles: addresses where the id goes
    ("join", number, handles)                     handles: ids
    ("wait", number, semaphores), ("post", number, semaphores)
    ("fresh", number)                             a new object
    ("exit", number)                              the thread or the process ends here

Terminators: `("jump", targets)`, `("branch", if_true, if_false, test)`,
`("switch", key, cases, default)`, `("return", terms)`, `("stop",)`. A test is
`(key, predicate, number)`.
"""

from __future__ import annotations

import hashlib
import marshal
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from raceproof.engines.summary.terms import Term, Terms

Event: TypeAlias = tuple[Any, ...]
Test: TypeAlias = tuple[Term, str, int]

ATOMIC: Term = (("a",), 0, 0, ())
"""The lock that an atomic section holds."""

_FOR_PEOPLE = frozenset({"display", "file", "line", "places", "content", "order"})
"""What makes no difference to a summary."""


Induction: TypeAlias = tuple[int, int, str, Term]
"""A counting loop: start, step, predicate, bound."""


@dataclass(slots=True)
class Outline:
    name: str
    display: str
    file: str
    line: int
    parameters: int
    is_external: bool
    signature: str
    blocks: tuple[tuple[tuple[Event, ...], tuple[Any, ...]], ...]
    phis: dict[int, tuple[tuple[Term, tuple[tuple[int, int], ...]], ...]]
    """Block -> its integer phis that receive constants: (key, ((from block, constant), ...))."""
    inductions: dict[int, Induction]
    """Register -> the loop that it counts."""
    mentions: tuple[str, ...]
    """The functions it names."""
    places: dict[int, tuple[int, int, str]]
    """Instruction -> line, column, file."""
    slots: dict[int, tuple[str, str, int]]
    """Stack slot -> C name, type, size."""
    allocations: dict[int, tuple[str, int]]
    """Allocation -> type and size of its objects, empty and 0 if not known."""
    tests: dict[int, tuple[Terms, bool]]
    """Block -> what its branch tests, see `tested`."""
    result_tests: Terms
    """What memory its result was computed from."""
    content: bytes = b""
    """Digest of the body, see `seal`."""
    is_flat: bool = field(default=True)
    """No lock, thread or exit event of its own."""
    order: dict[int, int] = field(default_factory=dict)
    """Numbers of accesses and calls (see `numbering`) -> where they are, counted from the top."""

    def seal(self) -> None:
        """Computes the digest of all that a summary is made of."""
        body = tuple(getattr(self, f.name) for f in fields(self) if f.name not in _FOR_PEOPLE)
        self.content = hashlib.blake2b(marshal.dumps(body, 2), digest_size=16).digest()

    def to_tuple(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in fields(self))

    @staticmethod
    def from_tuple(data: tuple[Any, ...]) -> Outline:
        return Outline(*data)

    def moved(self, line: int) -> Outline:
        """The same function, found at another line of its file."""
        distance = line - self.line
        if distance == 0:
            return self
        data = list(self.to_tuple())
        names = [f.name for f in fields(self)]
        data[names.index("line")] = line
        data[names.index("places")] = {
            number: (at + distance if file == self.file else at, column, file)
            for number, (at, column, file) in self.places.items()
        }
        return Outline(*data)

    def successors(self, block: int) -> tuple[int, ...]:
        return targets(self.blocks[block][1])


def targets(terminator: tuple[Any, ...]) -> tuple[int, ...]:
    kind = terminator[0]
    if kind == "jump":
        found: tuple[int, ...] = terminator[1]
        return found
    if kind == "branch":
        return (terminator[1], terminator[2])
    if kind == "switch":
        return (*(target for _, target in terminator[2]), terminator[3])
    return ()


def loops(outline: Outline) -> list[tuple[int, frozenset[int]]]:
    """The natural loops: header and body."""
    predecessors: dict[int, list[int]] = {}
    retreating: list[tuple[int, int]] = []
    for index in range(len(outline.blocks)):
        for target in outline.successors(index):
            predecessors.setdefault(target, []).append(index)
            if target <= index:
                retreating.append((index, target))
    bodies: dict[int, set[int]] = {}
    for latch, header in retreating:
        body = bodies.setdefault(header, {header})
        stack = [latch]
        while stack:
            node = stack.pop()
            if node in body:
                continue
            body.add(node)
            stack.extend(predecessors.get(node, ()))
    return [(header, frozenset(body)) for header, body in bodies.items()]
