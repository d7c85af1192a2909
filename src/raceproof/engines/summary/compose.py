"""From an outline and the summaries of its callees to the summary of the function."""

from __future__ import annotations

from raceproof.engines.summary import effects as fx
from raceproof.engines.summary.effects import Effect
from raceproof.engines.summary.flow import EffectFlow
from raceproof.engines.summary.guarded import Guarded
from raceproof.engines.summary.instance import Instance
from raceproof.engines.summary.outline import ATOMIC, Outline
from raceproof.engines.summary.published import Published
from raceproof.engines.summary.state import EMPTY, Core, is_protected_by, wait
from raceproof.engines.summary.steps import EffectSteps, Lookup, Targets
from raceproof.engines.summary.summary import (
    Accesses,
    AccessKey,
    Binding,
    CallEdge,
    Creation,
    Depths,
    Pending,
    Site,
    Summary,
    add_access,
)
from raceproof.engines.summary.terms import PLACES, Origin, Term, Terms, is_pointer_like, root
from raceproof.engines.summary.tested import MAX_TESTED

MAX_OPEN = 150
"""Open accesses in one summary."""
MANY_FUNCTIONS = 20
MAX_OPEN_OF_MANY = 30
"""The same, in a recursion of many functions (often only by function pointers that we know too
little of), where what one does comes around to all others."""
MAX_CLOSED = 500
"""Closed accesses in one summary, but those to globals."""
Stores = tuple[tuple[Term, Term], ...]

MAX_STORES = 100
MAX_PENDING = 20
MAX_PENDING_OF_MANY = 4
MAX_DEFERRED = 4_000
"""Accesses taken over from calls that a callee left open, in one summary."""
MAX_THREADS = 1_000


def open_limit(functions: int) -> int:
    """How many open accesses a summary has in a recursion of so many functions."""
    return MAX_OPEN if functions <= MANY_FUNCTIONS else MAX_OPEN_OF_MANY


def compose(
    outline: Outline, lookup: Lookup, targets: Targets, depths: Depths, limit: int = MAX_OPEN
) -> Summary:
    """The summary of the function, with what is known of its callees."""
    steps = EffectSteps(outline, lookup, targets, depths)
    return _Composer(steps, limit).summary()


class _Composer:
    def __init__(self, steps: EffectSteps, limit: int) -> None:
        self.steps = steps
        self.limit = limit
        self.name = steps.outline.name
        self.guarded = Guarded(steps.outline, steps.tested)
        self.flow = EffectFlow(steps, self.guarded)
        self.published = Published(steps)
        self.open: Accesses = {}
        self.closed: Accesses = {}
        self.calls: dict[CallEdge, None] = {}
        self.callees: dict[str, None] = {}
        self.needs: set[int] = set()
        self.creations: dict[Creation, None] = {}
        self.pending: dict[Pending, None] = {}
        self.matters = False
        self.deferred = 0
        self.is_cut = steps.is_cut

    def summary(self) -> Summary:
        for index, block in enumerate(self.steps.blocks):
            self._block(index, block)
        steps = self.steps
        returns: dict[Term, None] = {}
        for _, terminator in steps.outline.blocks:
            if terminator[0] == "return":
                for term in steps.scope.resolve_all(terminator[1]):
                    if is_pointer_like(term) and not self._is_own_slot(root(term)):
                        returns[term] = None
        open_stores, closed_stores = self._stores(tuple(returns))
        threads = {
            thread: (ids, signature, leaks, many or 2 * (thread in self.flow.multiple))
            for thread, (ids, signature, leaks, many) in steps.threads.items()
        }
        if len(threads) > MAX_THREADS:
            self.is_cut = True
            threads = dict(list(threads.items())[:MAX_THREADS])
        most_pending = MAX_PENDING if self.limit >= MAX_OPEN else MAX_PENDING_OF_MANY
        self.is_cut = self.is_cut or len(self.pending) > most_pending
        summary = Summary(
            self.name,
            self._limited(self.open),
            self.closed,
            open_stores,
            closed_stores,
            tuple(returns)[:6],
            self.flow.summary_exits(),
            tuple(sorted(self.flow.leaks)),
            threads,
            tuple(self.calls),
            tuple(self.callees),
            frozenset(self.needs),
            tuple(self.creations),
            tuple(self.pending)[:most_pending],
            frozenset(origin[1] for origin in steps.escaped if origin[0] == "p"),
            frozenset(o for o in steps.escaped if o[0] == "h" and o in steps.fresh),
            self.matters or bool(self.closed) or bool(self.creations),
            tuple(steps.unknown),
            self.is_cut,
        )
        summary.tests = self._tests()
        summary.seal()
        return summary

    def _tests(self) -> Terms:
        """The memory that the result depends on, by its value or by the way to it."""
        outline = self.steps.outline
        terms = [*outline.result_tests]
        if any(end[0] == "return" and end[1] for _, end in outline.blocks):
            terms += [term for tests, _ in outline.tests.values() for term in tests]
        found = self.steps.tested(tuple(dict.fromkeys(terms)))
        return tuple(term for term in found if not self._is_own_slot(root(term)))[:MAX_TESTED]

    def _block(self, index: int, block: list[Effect]) -> None:
        states: list[Core] = list(self.flow.states(index))
        published = self.published.at_start(index)
        facts = self.flow.states(index)
        current = [(core, facts[core]) for core in states]
        guards = self.guarded.at(index)
        for effect in block:
            if not current:
                return
            cores = list(dict.fromkeys(core for core, _ in current))
            if guards:
                cores = [wait(core, guards) for core in cores]
            match effect:
                case fx.Accesses():
                    self._access(effect, cores, published)
                case fx.CallsFunction():
                    self._enter(effect.instance, cores, published)
                    self._edges(effect.number, effect.name, effect.instance, cores)
                case fx.CallsDeferred():
                    self._deferred(effect, cores, published)
                case fx.Runs():
                    self._create(effect, cores, published)
                case fx.Pends():
                    self._pend(effect, cores)
                case fx.Makes() | fx.Publishes():
                    published = self.published.after(published, effect)
            current = [after for c, f in current for after in self.flow.apply(effect, c, f)]

    # --- accesses ------------------------------------------------------------

    def _access(self, effect: fx.Accesses, cores: list[Core], published: frozenset[Origin]) -> None:
        number, addresses, size, is_write, is_atomic = effect
        site: Site = (self.name, number, ())
        for address in addresses:
            for core in cores:
                self._add((address, size, is_write, is_atomic, (), core), (site,), published)

    def _add(self, key: AccessKey, sites: tuple[Site, ...], published: frozenset[Origin]) -> None:
        address, size, is_write, is_atomic, thread, core = key
        origin = address[0]
        kind = root(address)[0]
        if kind not in PLACES or address[0] == ATOMIC[0]:
            return
        if kind == "s" and self._is_own_slot(root(address)):
            if root(address) not in self.steps.escaped:
                return
        elif kind == "h" and origin in self.steps.fresh and origin not in published and not thread:
            return
        if not is_atomic and core[0] and is_protected_by(core, ATOMIC):
            key = (address, size, is_write, True, thread, core)
        if _is_open(address, core):
            add_access(self.open, key, sites)
        elif kind == "g" or len(self.closed) < MAX_CLOSED:
            add_access(self.closed, key, sites)
        else:
            self.is_cut = True

    def _is_own_slot(self, origin: Origin) -> bool:
        return bool(origin[0] == "s" and origin[1] == self.name)

    def _enter(
        self,
        instance: Instance,
        outer: list[Core],
        published: frozenset[Origin],
    ) -> None:
        """The open accesses of a callee, in our words; its own thread was in one of `outer`."""
        combine = self.flow.combine
        combined: dict[Core, tuple[Core, ...]] = {EMPTY: tuple(outer)}
        for (
            address,
            size,
            is_write,
            is_atomic,
            thread,
            core,
        ), sites in instance.summary.open.items():
            moved = instance.sites(sites)
            name = instance.thread(thread)
            for choice in instance.choices:
                inner = instance.core(core, choice)
                cores: tuple[Core, ...] | None = (inner,)
                if not thread:
                    cores = combined.get(inner)
                if cores is None:
                    cores = tuple(dict.fromkeys(combine(c, inner) for c in outer))
                    combined[inner] = cores
                for term in instance.terms(address, choice):
                    for final in cores:
                        key = (term, size, is_write, is_atomic, name, final)
                        self._add(key, moved, published)

    # --- calls ------------------------------------------------------------

    def _edges(self, number: int, name: str, instance: Instance, cores: list[Core]) -> None:
        """Remembers the call, for the locks and threads that come down to the callee."""
        self.callees[name] = None
        if not instance.summary.matters:
            return
        self.matters = True
        binding = self._binding(instance)
        for core in cores:
            self._note_needs(core)
            self.calls[number, name, core, binding] = None

    def _binding(self, instance: Instance) -> Binding:
        """The arguments that the callee's states speak of."""
        binding = tuple(
            (index, instance.arguments[index])
            for index in sorted(instance.summary.needs)
            if index < len(instance.arguments)
        )
        for _, terms in binding:
            self.needs.update(origin[1] for term in terms if (origin := root(term))[0] == "p")
        return binding

    def _note_needs(self, core: Core) -> None:
        terms = [lock for lock, _, _, _ in core[0]] + [lock for lock, _ in core[1]]
        terms += [*core[3], *core[4]]
        self.needs.update(origin[1] for term in terms if (origin := root(term))[0] == "p")

    def _deferred(
        self, effect: fx.CallsDeferred, cores: list[Core], published: frozenset[Origin]
    ) -> None:
        inner = effect.cores or (EMPTY,)
        outer = list(dict.fromkeys(self.flow.combine(c, i) for c in cores for i in inner))
        instance = effect.instance
        self.deferred += len(instance.summary.open) * len(instance.choices) * len(outer)
        if self.deferred > MAX_DEFERRED:
            self.is_cut = True
        else:
            self._enter(instance, outer, published)
        self._edges(effect.number, effect.name, instance, outer)

    def _create(self, effect: fx.Runs, cores: list[Core], published: frozenset[Origin]) -> None:
        thread, name, instance, inner, _ = effect
        starts = list(effect.starts) or [EMPTY]
        self._enter(instance, starts, published)
        binding = self._binding(instance)
        outer = dict.fromkeys(self.flow.combine(c, i) for c in cores for i in inner or (EMPTY,))
        for core in outer:
            self._note_needs(core)
            for start in starts:
                self._note_needs(start)
                self.creations[thread, name, core, start, binding] = None

    def _pend(self, effect: fx.Pends, cores: list[Core]) -> None:
        kind, path, callees, arguments, inner, thread = effect
        for core in [EMPTY] if thread else cores:
            for after in inner or (EMPTY,):
                combined = self.flow.combine(core, after)
                self.pending[kind, path, callees, arguments, combined, thread] = None

    # --- limits ------------------------------------------------------------

    def _stores(self, returns: Terms) -> tuple[Stores, Stores]:
        """The points-to effects that callers must hear of, and the others."""
        opened: list[tuple[Term, Term]] = []
        closed: list[tuple[Term, Term]] = []
        inside: dict[Origin, list[tuple[Term, Term]]] = {}
        handed_out = {term[0] for term in returns}
        for address, value in self.steps.stores:
            container, content = root(address), root(value)
            if self._is_own_slot(container) and container not in self.steps.escaped:
                continue
            if container[0] == "p" or content[0] == "p":
                opened.append((address, value))
                handed_out.add(value[0])
            elif container in self.steps.fresh and container not in self.steps.escaped:
                inside.setdefault(container, []).append((address, value))
            else:
                closed.append((address, value))
        # What a new object holds is told to the caller with the object.
        stack = [origin for origin in handed_out if origin in inside]
        while stack:
            for address, value in inside.pop(stack.pop(), ()):
                opened.append((address, value))
                if value[0] in inside:
                    stack.append(value[0])
        most = min(self.limit, MAX_STORES)
        if len(opened) > most or len(closed) > MAX_CLOSED:
            self.is_cut = True
        return tuple(opened[:most]), tuple(closed[:MAX_CLOSED])

    def _limited(self, accesses: Accesses) -> Accesses:
        if len(accesses) <= self.limit:
            return accesses
        self.is_cut = True
        kept = sorted(accesses.items(), key=lambda item: (not item[0][2], len(repr(item[0][0]))))
        return dict(kept[: self.limit])


def _is_open(address: Term, core: Core) -> bool:
    if _speaks_of_caller(address):
        return True
    if core is EMPTY:
        return False
    return any(_speaks_of_caller(lock) for lock, _, _, _ in core[0]) or any(
        _speaks_of_caller(flag) for flag in core[4]
    )


def _speaks_of_caller(term: Term) -> bool:
    if root(term)[0] == "p":
        return True
    symbol = term[3]
    return bool(symbol) and root(symbol)[0] == "p"
