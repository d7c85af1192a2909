"""Summaries of all functions, callees first.

The strongly connected components of the call graph come in the order callees before callers. The
functions of a component that calls itself are composed until their summaries stay the same,
starting from "never returns, does nothing". A function whose address is named counts as called by
the one that names it: it may be the entry of a thread that a wrapper creates.

Who an indirect call means is looked up by the place where the pointer was loaded from: functions
stored at the same offset of some object, with the same number of parameters.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import rustworkx

from raceproof.engines.summary.compose import compose
from raceproof.engines.summary.outline import Outline
from raceproof.engines.summary.summary import MAX_SEGMENT, Summary
from raceproof.engines.summary.terms import Term

MAX_ROUNDS = 6
MAX_TARGETS = 12
MAX_NAMES = 8
"""Threads told apart that one creation makes."""


@dataclass(slots=True)
class Pointers:
    """Where function addresses are kept: (offset, whole structure unknown) -> functions."""

    by_offset: dict[int, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    anywhere: dict[str, None] = field(default_factory=dict)
    by_object: dict[tuple[str, int], dict[str, None]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def add(self, address: Term, function: str) -> None:
        origin, offset, stride, _ = address
        if stride:
            offset %= stride
        self.by_offset[offset][function] = None
        self.anywhere[function] = None
        if origin[0] == "g":
            self.by_object[origin[1], offset][function] = None


class BottomUp:
    """Composes summaries; `store` finds one made before for the same content."""

    def __init__(
        self,
        outlines: Mapping[str, Outline],
        initial_stores: Iterable[tuple[Term, Term]],
        find: Callable[[bytes], Summary | None] = lambda key: None,
        keep: Callable[[bytes, Summary], None] = lambda key, summary: None,
    ) -> None:
        self.outlines = outlines
        self.summaries: dict[str, Summary] = {}
        self.composed = 0
        self._find = find
        self._keep = keep
        self._pointers = Pointers()
        for address, value in initial_stores:
            if value[0][0] == "f":
                self._pointers.add(address, value[0][1])
        for outline in outlines.values():
            for events, _ in outline.blocks:
                for event in events:
                    if event[0] == "store":
                        self._note_pointers(event[2], event[3])
        self.depths = naming_depths(outlines)
        self._salt = hashlib.blake2b(repr(sorted(self.depths.items())).encode()).digest()
        self._targets_memo: dict[tuple[object, int, int], tuple[str, ...]] = {}

    def _note_pointers(self, addresses: tuple[Term, ...], values: tuple[Term, ...]) -> None:
        for value in values:
            if value[0][0] == "f":
                for address in addresses:
                    self._pointers.add(address, value[0][1])

    def run(self, progress: Callable[[int], None] = lambda done: None) -> dict[str, Summary]:
        for component in self._components():
            if len(component) == 1 and component[0] not in self._callees(component[0]):
                self._one(component[0])
            else:
                self._recursive(component)
            progress(len(self.summaries))
        return self.summaries

    def targets(self, term: Term, arity: int) -> tuple[str, ...]:
        """The functions that a pointer loaded from memory may mean."""
        origin = term[0]
        if origin[0] != "*":
            return ()
        inner, offset, stride, _ = origin[1]
        if stride:
            offset %= stride
        key = (inner if inner[0] == "g" else None, offset, arity)
        found = self._targets_memo.get(key)
        if found is None:
            candidates: Iterable[str] = ()
            if inner[0] == "g":
                candidates = self._pointers.by_object.get((inner[1], offset), ())
            if not candidates:
                candidates = self._pointers.by_offset.get(offset, ())
            found = tuple(
                name
                for name in candidates
                if (outline := self.outlines.get(name)) is not None
                and (outline.parameters == arity or outline.signature.endswith("+"))
            )[:MAX_TARGETS]
            self._targets_memo[key] = found
        return found

    def _callees(self, name: str) -> tuple[str, ...]:
        outline = self.outlines[name]
        found: dict[str, None] = dict.fromkeys(outline.mentions)
        for events, _ in outline.blocks:
            for event in events:
                if event[0] == "call":
                    arity = len(event[3])
                    terms = event[2]
                elif event[0] == "create":
                    arity, terms = 1, event[3]
                else:
                    continue
                for term in terms:
                    if term[0][0] == "*":
                        found.update(dict.fromkeys(self.targets(term, arity)))
        return tuple(callee for callee in found if callee in self.outlines)

    def _components(self) -> list[list[str]]:
        graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph()
        names = list(self.outlines)
        numbers = {name: number for number, name in enumerate(names)}
        graph.add_nodes_from(names)
        self._edges = {name: self._callees(name) for name in names}
        graph.add_edges_from_no_data(
            [(numbers[name], numbers[callee]) for name in names for callee in self._edges[name]]
        )
        # Tarjan's algorithm finds a component after all that it can reach.
        components = rustworkx.strongly_connected_components(graph)
        return [[names[number] for number in component] for component in components]

    def _lookup(self, name: str) -> Summary | None:
        return self.summaries.get(name)

    def _key(self, names: list[str]) -> bytes:
        """The content of the functions and of what they call."""
        digest = hashlib.blake2b(self._salt, digest_size=16)
        inside = set(names)
        for name in names:
            outline = self.outlines[name]
            digest.update(outline.name.encode())
            digest.update(outline.content)
            for callee in self._edges[name]:
                if callee not in inside:
                    digest.update(callee.encode())
                    digest.update(self.summaries[callee].digest)
        return digest.digest()

    def _one(self, name: str) -> None:
        key = self._key([name])
        found = self._find(key)
        if found is None:
            found = compose(self.outlines[name], self._lookup, self.targets, self.depths)
            self.composed += 1
            self._keep(key, found)
        self.summaries[name] = found

    def _recursive(self, names: list[str]) -> None:
        key = self._key(names)
        keys = [hashlib.blake2b(key + name.encode(), digest_size=16).digest() for name in names]
        found = [self._find(one) for one in keys]
        if all(summary is not None for summary in found):
            for name, summary in zip(names, found, strict=True):
                assert summary is not None
                self.summaries[name] = summary
            return
        for name in names:
            self.summaries[name] = Summary(name)
            self.summaries[name].seal()
        inside = set(names)
        callers: dict[str, list[str]] = {name: [] for name in names}
        for name in names:
            for callee in self._edges[name]:
                if callee in inside:
                    callers[callee].append(name)
        rounds = dict.fromkeys(names, 0)
        work = deque(names)
        waiting = set(names)
        while work:
            name = work.popleft()
            waiting.discard(name)
            rounds[name] += 1
            summary = compose(self.outlines[name], self._lookup, self.targets, self.depths)
            self.composed += 1
            if summary.digest == self.summaries[name].digest:
                self.summaries[name] = summary
                continue
            self.summaries[name] = summary
            for caller in callers[name]:
                if caller not in waiting and rounds[caller] < MAX_ROUNDS:
                    waiting.add(caller)
                    work.append(caller)
        for name, one in zip(names, keys, strict=True):
            self._keep(one, self.summaries[name])


def naming_depths(outlines: Mapping[str, Outline]) -> dict[str, int]:
    """How many calls around a creation are told apart, so that no creation makes many threads."""
    callers: dict[str, list[str]] = defaultdict(list)
    creators = set()
    for name, outline in outlines.items():
        for events, _ in outline.blocks:
            for event in events:
                if event[0] == "call":
                    for term in event[2]:
                        if term[0][0] == "f":
                            callers[term[0][1]].append(name)
                elif event[0] == "create":
                    creators.add(name)
    found = {}
    for name in creators:
        level, depth = [name], 1
        while depth < MAX_SEGMENT:
            above = [caller for inner in level for caller in callers[inner] or [inner]]
            if len(above) > MAX_NAMES:
                break
            level, depth = above, depth + 1
        if depth < MAX_SEGMENT:
            found[name] = depth
    return found
