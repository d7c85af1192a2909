"""What a summary was made of, so that it need not be made again.

While a function is composed, every question that the composition asks is written down with its
answer: the summaries of callees (by digest), the targets of indirect calls, how deep threads are
named. A later run that knows a summary for the same body asks the same questions again; if the
answers are the same, so is the summary. Nothing has to be guessed about what a summary may depend
on, and inside a recursion every round is found again, too.

    summary of f = compose(body of f,  g -> 3f2a..., h -> none,  *ops+8 of 1 argument -> {run})
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Iterator, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from raceproof.engines.summary.compose import compose, open_limit
from raceproof.engines.summary.outline import Outline
from raceproof.engines.summary.steps import Targets
from raceproof.engines.summary.summary import Depths, Summary
from raceproof.engines.summary.terms import Term

Trace: TypeAlias = tuple[
    tuple[tuple[str, bytes], ...],
    tuple[tuple[Term, int, tuple[str, ...]], ...],
    tuple[tuple[str, int], ...],
]
"""Callees with the digests of their summaries, indirect calls, naming depths (-1: not limited)."""
Known: TypeAlias = tuple[Trace, bytes]
"""A trace, and the summary that it led to (`Summary.to_tuple`), to be unpacked when needed."""
Near: TypeAlias = Mapping[str, Summary]

_NONE = b""
_HIDDEN = frozenset(
    {
        "closed",
        "closed_stores",
        "calls",
        "callees",
        "creations",
        "unknown_callees",
        "digest",
        "visible",
    }
)
"""What callers never look at; it waits in its function for what comes down from them."""
_VISIBLE = tuple(f.name for f in fields(Summary) if f.name not in _HIDDEN)


class SummaryMemory(Protocol):
    """Keeps what is known of function bodies, by their digest."""

    def find(self, body: bytes) -> list[Known]: ...

    def keep(self, body: bytes, known: Known) -> None:
        """Takes note; not before the end may it open files, because processes are forked."""


class NoMemory:
    """Remembers nothing."""

    def find(self, body: bytes) -> list[Known]:
        return []

    def keep(self, body: bytes, known: Known) -> None:
        pass


class Tracer:
    """Composes functions, or finds that nothing they were made of has changed."""

    def __init__(
        self,
        memory: SummaryMemory,
        summaries: Mapping[str, Summary],
        targets: Targets,
        depths: Depths,
    ) -> None:
        self.composed = 0
        self._memory = memory
        self._keeps = not isinstance(memory, NoMemory)
        self._summaries = summaries
        self._targets = targets
        self._depths = depths
        self._found: dict[bytes, list[Known]] = {}
        self._unpacked: dict[int, tuple[bytes, Summary]] = {}
        self._made: list[tuple[bytes, Known]] = []

    def prepare(self, outline: Outline, size: int) -> None:
        """Fetches what is known of the function, before processes are forked."""
        if self._keeps:
            self._known(_body(outline, size))

    def recall(self, outline: Outline, near: Near = MappingProxyType({})) -> Summary | None:
        """The summary as an earlier run found it, if it would be found again.

        `near` are summaries not settled yet, of the function's own recursion.
        """
        if not self._keeps:
            return None
        for trace, data in self._known(_body(outline, len(near))):
            if self._still_holds(trace, near):
                return self._unpack(data)
        return None

    def _unpack(self, data: bytes) -> Summary:
        """Once for all rounds and passes that come to the same summary."""
        found = self._unpacked.get(id(data))
        if found is None or found[0] is not data:
            found = self._unpacked[id(data)] = (data, Summary.from_tuple(marshal.loads(data)))
        return found[1]

    def _known(self, body: bytes) -> list[Known]:
        found = self._found.get(body)
        if found is None:
            found = self._found[body] = self._memory.find(body)
        return found

    def compose(self, outline: Outline, near: Near) -> Summary:
        self.composed += 1
        limit = open_limit(len(near))
        questions = _Questions(near, self._summaries, self._targets, self._depths)
        if not self._keeps:
            return compose(outline, questions.lookup, self._targets, self._depths, limit)
        summary = compose(outline, questions.lookup, questions.targets, questions, limit)
        trace: Trace = (
            tuple((name, _digest(found)) for name, found in questions.callees.items()),
            tuple((*question, names) for question, names in questions.calls.items()),
            tuple(questions.depths.items()),
        )
        visible_digest(summary)
        self._keep(_body(outline, len(near)), (trace, marshal.dumps(summary.to_tuple())))
        return summary

    def take_made(self) -> tuple[tuple[bytes, Known], ...]:
        """What was composed since the last time; from a process to its parent."""
        made = tuple(self._made)
        self._made.clear()
        return made

    def put_made(self, made: tuple[tuple[bytes, Known], ...]) -> None:
        self.composed += len(made)
        for body, known in made:
            self._keep(body, known)
        self._made.clear()

    def _keep(self, body: bytes, known: Known) -> None:
        self._made.append((body, known))
        self._known(body).append(known)
        self._memory.keep(body, known)

    def _still_holds(self, trace: Trace, near: Near) -> bool:
        callees, calls, depths = trace
        return (
            all(
                _digest(near.get(name) or self._summaries.get(name)) == digest
                for name, digest in callees
            )
            and all(self._targets(term, arity) == names for term, arity, names in calls)
            and all(self._depths.get(name, -1) == depth for name, depth in depths)
        )


class _Questions(Mapping[str, int]):
    """Passes questions on and writes them down; the mapping is that of the naming depths."""

    def __init__(self, near: Near, far: Near, targets: Targets, depths: Depths) -> None:
        self._near = near
        self._far = far
        self._targets = targets
        self._depths = depths
        self.callees: dict[str, Summary | None] = {}
        self.calls: dict[tuple[Term, int], tuple[str, ...]] = {}
        self.depths: dict[str, int] = {}

    def lookup(self, name: str) -> Summary | None:
        found = self.callees[name] = self._near.get(name) or self._far.get(name)
        return found

    def targets(self, term: Term, arity: int) -> tuple[str, ...]:
        found = self.calls[term, arity] = self._targets(term, arity)
        return found

    def __getitem__(self, name: str) -> int:
        found = self.depths[name] = self._depths.get(name, -1)
        if found < 0:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        raise TypeError("the depths are asked for one by one")

    def __len__(self) -> int:
        return len(self._depths)


def visible_digest(summary: Summary) -> bytes:
    """Of all that a caller can see of a summary, in its order: what callers are made of.

    Finer than `Summary.digest`, which tells when a recursion has come to rest: here the places of
    accesses count, too, because they end up in the callers' reports.
    """
    if not summary.visible:
        visible = tuple(_plain(getattr(summary, name)) for name in _VISIBLE)
        summary.visible = hashlib.blake2b(marshal.dumps(visible, 2), digest_size=16).digest()
    return summary.visible


def _digest(summary: Summary | None) -> bytes:
    return _NONE if summary is None else visible_digest(summary)


def _plain(value: Any) -> Any:
    """With an order that is the same in every run."""
    if isinstance(value, dict):
        return tuple(value.items())
    if isinstance(value, frozenset):
        return tuple(sorted(value))
    return value


def _body(outline: Outline, functions: int) -> bytes:
    """Of the function, and of how much a summary may hold in its recursion."""
    text = f"{outline.name}\0{open_limit(functions)}\0".encode()
    return hashlib.blake2b(text + outline.content, digest_size=16).digest()
