"""Summaries of all functions, callees first.

The strongly connected components of the call graph come level by level: a component stands one
level above the highest of those it calls, so the components of a level do not need each other and
are composed side by side. The functions of a component that calls itself are composed until their
summaries stay the same, starting from "never returns, does nothing". A function whose address is
named counts as called by the one that names it: it may be the entry of a thread that a wrapper
creates.

Who an indirect call means is looked up by the place where the pointer was loaded from: functions
stored at the same offset of some object, with the same number of parameters. A function that gets
to its place as an argument (`on_event(handler)`, a C++ thread's callable) is known only when the
summaries are; then they are composed once more with what was learned.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raceproof.engines.summary.compose import MANY_FUNCTIONS
from raceproof.engines.summary.forks import forked_map
from raceproof.engines.summary.outline import Outline
from raceproof.engines.summary.summary import MAX_SEGMENT, Summary
from raceproof.engines.summary.terms import OBJECTS, Origin, Term, is_dereference, is_function
from raceproof.engines.summary.traces import Near, NoMemory, SummaryMemory, Tracer, visible_digest
from raceproof.ir.components import strongly_connected

MIN_BLOCKS_TO_FORK = 400
"""Below this, starting processes costs more than it saves."""
MAX_ROUNDS = 6
ROUNDS_OF_MANY = 2
"""The same in a recursion of many functions, see `_large_recursion`."""
MAX_PASSES = 3
"""Times that all functions are composed, with more and more known of function pointers."""
MUCH_WORK = 8_000
"""Summaries worked out, after which nothing is composed once more for what was learned."""
MAX_TARGETS = 12
MAX_NAMES = 8
"""Threads told apart that one creation makes of one entry."""


@dataclass(slots=True)
class Pointers:
    """Where function addresses are kept: (offset, whole structure unknown) -> functions."""

    by_offset: dict[int, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    by_object: dict[Origin, dict[int, dict[str, None]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict))
    )

    def add(self, address: Term, function: str) -> bool:
        """Takes note; says whether that is new."""
        origin, offset, stride, _ = address
        if stride:
            offset %= stride
        known = self.by_offset[offset]
        if origin[0] in OBJECTS:
            known = self.by_object[origin[:3]][offset]
        is_new = function not in known
        known[function] = self.by_offset[offset][function] = None
        return is_new

    def find(self, inner: Term) -> Iterable[str]:
        """The functions kept at an address, or at the same offset of anything."""
        origin, offset, stride, _ = inner
        cells = self.by_object.get(origin[:3], {}) if origin[0] in OBJECTS else {}
        if stride:
            offset %= stride
            found = {
                name: None
                for at, names in sorted(cells.items())
                if at % stride == offset
                for name in names
            }
        else:
            found = cells.get(offset, {})
        return found or self.by_offset.get(offset) or ()


class BottomUp:
    """Composes summaries; `memory` may know those of earlier runs."""

    def __init__(
        self,
        outlines: Mapping[str, Outline],
        initial_stores: Iterable[tuple[Term, Term]],
        memory: SummaryMemory | None = None,
        jobs: int = 1,
    ) -> None:
        self.outlines = outlines
        self.summaries: dict[str, Summary] = {}
        self._jobs = jobs
        self._pointers = Pointers()
        for address, value in initial_stores:
            if is_function(value):
                self._pointers.add(address, value[0][1])
        for outline in outlines.values():
            for events, _ in outline.blocks:
                for event in events:
                    if event[0] == "store":
                        self._note_pointers(event[2], event[3])
        self.depths = naming_depths(outlines)
        self._asked: dict[str, dict[tuple[Term, int], tuple[str, ...]]] = {}
        """By the functions composed in this process: the indirect calls they asked for."""
        self._composing = ""
        self.is_cut = False
        """Was something learned that not all summaries know?"""
        self.work = 0
        self._targets_memo: dict[tuple[Term, int], tuple[str, ...]] = {}
        self._tracer = Tracer(memory or NoMemory(), self.summaries, self._answer, self.depths)

    @property
    def composed(self) -> int:
        """How often a summary had to be worked out."""
        return self._tracer.composed

    def _note_pointers(self, addresses: tuple[Term, ...], values: tuple[Term, ...]) -> None:
        for value in values:
            if is_function(value):
                for address in addresses:
                    self._pointers.add(address, value[0][1])

    def run(self, progress: Callable[[int], None] = lambda done: None) -> dict[str, Summary]:
        for _ in range(MAX_PASSES):
            self._compose_all(progress)
            if not self._learn():
                break
            if self.work + len(self.outlines) > MUCH_WORK:
                self.is_cut = True
                break
        return self.summaries

    def _learn(self) -> bool:
        """Where the summaries say that functions are kept; whether there was something new."""
        news = [
            self._pointers.add(address, value[0][1])
            for summary in self.summaries.values()
            for address, value in (*summary.closed_stores, *summary.open_stores)
            if is_function(value)
        ]
        self._targets_memo.clear()
        return any(news)

    def _compose_all(self, progress: Callable[[int], None]) -> None:
        changed: set[str] = set()
        for level in self._levels():
            # What a level finds is seen from the next one on, so that the number of processes
            # and the order inside of a level make no difference.
            found: dict[str, Summary] = {}
            open_ = []
            for component in level:
                if self._is_settled(component, changed):
                    continue
                known = self._recall(component)
                if known is None:
                    open_.append(component)
                else:
                    found[known.name] = known
            for solved in self._solve_all(open_):
                found.update(solved)
                self.work += len(solved)
            for name, summary in found.items():
                before = self.summaries.get(name)
                if before is None or visible_digest(before) != visible_digest(summary):
                    changed.add(name)
            self.summaries.update(found)
            progress(len(self.summaries))

    def _is_settled(self, component: list[str], changed: set[str]) -> bool:
        """Whether a former pass has composed it, and would do so again."""
        return all(
            name in self.summaries
            and name in self._asked
            and changed.isdisjoint(self._edges[name])
            and all(
                self.targets(term, arity) == names
                for (term, arity), names in self._asked[name].items()
            )
            for name in component
        )

    def _recall(self, component: list[str]) -> Summary | None:
        """The summary of an earlier run, if nothing that it was made of has changed."""
        if self._is_recursive(component):
            for name in component:
                self._tracer.prepare(self.outlines[name], len(component))
            return None
        return self._tracer.recall(self.outlines[component[0]])

    def _solve_all(self, components: list[list[str]]) -> list[dict[str, Summary]]:
        """Side by side; a recursion of many functions by itself, it forks as it goes."""
        large = [component for component in components if len(component) > MANY_FUNCTIONS]
        small = [component for component in components if len(component) <= MANY_FUNCTIONS]
        return [
            *self._side_by_side(small, self._solve),
            *(self._large_recursion(component) for component in large),
        ]

    def _side_by_side(
        self, components: list[list[str]], work: Callable[[list[str]], dict[str, Summary]]
    ) -> list[dict[str, Summary]]:
        blocks = sum(len(self.outlines[name].blocks) for c in components for name in c)
        if self._jobs == 1 or len(components) <= 1 or blocks < MIN_BLOCKS_TO_FORK:
            return [work(component) for component in components]

        def solve(component: list[str]) -> tuple[object, ...]:
            solved = work(component)
            made = self._tracer.take_made()
            return (tuple(summary.to_tuple() for summary in solved.values()), made)

        self._tracer.take_made()
        answers = []
        for data, made in forked_map(solve, components, self._jobs):
            summaries = [Summary.from_tuple(one) for one in data]
            answers.append({summary.name: summary for summary in summaries})
            self._tracer.put_made(made)
        return answers

    def _solve(self, component: list[str]) -> dict[str, Summary]:
        if self._is_recursive(component):
            return self._recursive(component)
        return {component[0]: self._compose(component[0], {})}

    def _is_recursive(self, component: list[str]) -> bool:
        return len(component) > 1 or component[0] in self._edges[component[0]]

    def _answer(self, term: Term, arity: int) -> tuple[str, ...]:
        found = self.targets(term, arity)
        self._asked.setdefault(self._composing, {})[term, arity] = found
        return found

    def _compose(self, name: str, near: Near) -> Summary:
        self._composing = name
        self._asked[name] = {}
        return self._tracer.compose(self.outlines[name], near)

    def targets(self, term: Term, arity: int) -> tuple[str, ...]:
        """The functions that a pointer loaded from memory may mean."""
        origin = term[0]
        if origin[0] != "*":
            return ()
        key = (origin[1], arity)
        found = self._targets_memo.get(key)
        if found is None:
            found = tuple(
                name
                for name in self._pointers.find(origin[1])
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
                    if is_dereference(term):
                        found.update(dict.fromkeys(self.targets(term, arity)))
        return tuple(callee for callee in found if callee in self.outlines)

    def _levels(self) -> list[list[list[str]]]:
        self._edges = {name: self._callees(name) for name in self.outlines}
        return component_levels(list(self.outlines), self._edges)

    def _recursive(self, names: list[str]) -> dict[str, Summary]:
        found = {name: Summary(name) for name in names}
        for summary in found.values():
            summary.seal()
        callers = self._callers_within(names)
        rounds = dict.fromkeys(names, 0)
        work = deque(names)
        waiting = set(names)
        while work:
            name = work.popleft()
            waiting.discard(name)
            rounds[name] += 1
            outline = self.outlines[name]
            summary = self._tracer.recall(outline, found) or self._compose(name, found)
            is_new = summary.digest != found[name].digest
            found[name] = summary
            if is_new:
                for caller in callers[name]:
                    if caller not in waiting and rounds[caller] < MAX_ROUNDS:
                        waiting.add(caller)
                        work.append(caller)
        return found

    def _callers_within(self, names: list[str]) -> dict[str, list[str]]:
        callers: dict[str, list[str]] = {name: [] for name in names}
        for name in names:
            for callee in self._edges[name]:
                if callee in callers:
                    callers[callee].append(name)
        return callers

    def _large_recursion(self, names: list[str]) -> dict[str, Summary]:
        """A recursion of many functions, as function pointers that we know too little of make it.

        Left to itself what one function does comes around to all others, slowly. But without the
        calls through pointers most of it is no recursion: so in the order of the direct calls,
        callees first, level by level, and twice over. A later pass starts with what the former one
        has found, and composes again only what depends on something new.
        """
        found: dict[str, Summary] = {}
        for name in names:
            found[name] = self.summaries.get(name) or Summary(name)
            if name not in self.summaries:
                found[name].seal()
        callers = self._callers_within(names)
        open_ = set(names)
        inside = set(names)
        direct = {name: inside.intersection(self._direct_callees(name)) for name in names}
        levels = component_levels(names, direct)
        for _ in range(ROUNDS_OF_MANY):
            for level in levels:
                todo = [[name] for component in level for name in component if name in open_]
                solved: dict[str, Summary] = {}
                for one in self._side_by_side(todo, lambda one: self._again(one[0], found)):
                    solved.update(one)
                open_.difference_update(solved)
                self.work += len(solved)
                for name, summary in solved.items():
                    if summary.digest != found[name].digest:
                        open_.update(callers[name])
                    found[name] = summary
        return found

    def _again(self, name: str, near: Near) -> dict[str, Summary]:
        """One function of a recursion, with what is known of the others."""
        return {name: self._tracer.recall(self.outlines[name], near) or self._compose(name, near)}

    def _direct_callees(self, name: str) -> Iterator[str]:
        for events, _ in self.outlines[name].blocks:
            for event in events:
                if event[0] == "call":
                    yield from (term[0][1] for term in event[2] if term[0][0] == "f")


def component_levels(
    names: Sequence[str], edges: Mapping[str, Iterable[str]]
) -> list[list[list[str]]]:
    """Strongly connected components, each one level above the highest of those it calls."""
    numbers = {name: number for number, name in enumerate(names)}
    graph = [[numbers[callee] for callee in edges[name]] for name in names]
    height: dict[str, int] = {}
    levels: list[list[list[str]]] = []
    for found in strongly_connected(graph):
        component = [names[number] for number in sorted(found)]
        below = [height.get(callee, -1) for name in component for callee in edges[name]]
        level = 1 + max(below, default=-1)
        height.update(dict.fromkeys(component, level))
        while len(levels) <= level:
            levels.append([])
        levels[level].append(component)
    return levels


def naming_depths(outlines: Mapping[str, Outline]) -> dict[str, int]:
    """How many calls around a creation are told apart, so that no entry is run by many threads.

    A wrapper may have any number of callers as long as they start different functions:
    `spawn(reader)`, `spawn(writer)`.
    """
    callers: dict[str, list[tuple[str, str]]] = defaultdict(list)
    creators = set()
    for name, outline in outlines.items():
        for events, _ in outline.blocks:
            for event in events:
                if event[0] == "call":
                    passed = _passed(event[3])
                    for term in event[2]:
                        if is_function(term):
                            callers[term[0][1]].append((name, passed))
                elif event[0] == "create":
                    creators.add(name)
    found = {}
    for name in creators:
        level, depth = [(name, "")], 1
        while depth < MAX_SEGMENT:
            above = [
                (caller, entry or passed)
                for inner, entry in level
                for caller, passed in callers[inner] or [(inner, entry)]
            ]
            if max(Counter(entry for _, entry in above).values()) > MAX_NAMES:
                break
            level, depth = above, depth + 1
        if depth < MAX_SEGMENT:
            found[name] = depth
    return found


def _passed(arguments: Iterable[Iterable[Term]]) -> str:
    """The functions whose addresses are among the arguments."""
    return " ".join(term[0][1] for terms in arguments for term in terms if is_function(term))
