"""A callee's summary at one call: actual for formal, in the caller's words.

Where an argument may be one of several things, an access and the locks around it are put in
together for each, so that `lock(&p->lock); p->count++` stays one object with one lock.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from raceproof.engines.summary.state import EMPTY, Core, ThreadId
from raceproof.engines.summary.summary import Depths, Site, Summary, is_folded, nested, prefixed
from raceproof.engines.summary.terms import (
    MAX_CHAIN,
    Origin,
    Term,
    Terms,
    dereference,
    index_of,
    is_known,
    shift,
    unite,
)

Contents = Callable[[Term], Terms | None]
"""What the caller knows to be in memory at an address; None: nothing, keep the path."""

MAX_CHOICES = 4


class Instance:
    """Translates the terms of a callee for one call site.

    With `base` the callee is the entry of that thread.
    """

    def __init__(
        self,
        summary: Summary,
        arguments: tuple[Terms, ...],
        site: tuple[str, int],
        contents: Contents,
        depths: Depths,
        base: ThreadId = (),
    ) -> None:
        self.summary = summary
        self.site = site
        self.arguments = arguments
        self._contents = contents
        self._base = base
        self._depths = depths
        several = [i for i, terms in enumerate(arguments) if len(terms) > 1]
        choices = [arguments[i] for i in several]
        self._bindings: list[dict[int, Term]] = []
        single = {i: terms[0] for i, terms in enumerate(arguments) if len(terms) == 1}
        for chosen in product(*choices):
            self._bindings.append({**single, **dict(zip(several, chosen, strict=True))})
            if len(self._bindings) >= MAX_CHOICES:
                break
        self._memos: list[dict[Term, Terms]] = [{} for _ in self._bindings]
        self._core_memos: list[dict[Core, Core]] = [{} for _ in self._bindings]

    @property
    def base(self) -> ThreadId:
        return self._base

    @property
    def choices(self) -> range:
        return range(len(self._bindings))

    def terms(self, term: Term, choice: int) -> Terms:
        """A callee's term under one choice of the arguments."""
        memo = self._memos[choice]
        found = memo.get(term)
        if found is None:
            found = memo[term] = self._translate(term, choice)
        return found

    def all_terms(self, terms: Terms) -> Terms:
        """Callee's terms under every choice."""
        if not terms:
            return ()
        found: list[Term] = []
        for choice in self.choices:
            for term in terms:
                found.extend(self.terms(term, choice))
        return unite(found)

    def _translate(self, term: Term, choice: int) -> Terms:
        origin, constant, stride, symbol = term
        kind = origin[0]
        if kind == "p":
            actual = self._bindings[choice].get(origin[1])
            bases: Terms = () if actual is None else (actual,)
        elif kind == "*":
            found: list[Term] = []
            for address in self.terms(origin[1], choice):
                known = self._contents(address)
                found.extend((dereference(address),) if known is None else known)
            bases = unite([base for base in found if is_known(base)])
        elif kind in "ht":
            bases = ((self._object(origin), 0, 0, ()),)
        elif kind == "s":
            return (term,)
        else:
            bases = ((origin, 0, 0, ()),)
        if not bases:
            return ()
        if stride and symbol:
            index = self.terms(symbol, choice)
            if len(index) == 1:
                known_part, rest = index_of(index[0])
                constant += known_part * stride
                stride, symbol = (0, ()) if rest is None else (stride, rest)
            else:
                symbol = ()
        return tuple(shift(base, constant, stride, symbol) for base in bases)

    def _object(self, origin: Origin) -> Origin:
        kind, function, number, chain = origin
        if origin in self.summary.published or len(chain) >= MAX_CHAIN or self.site in chain:
            return origin
        return (kind, function, number, (self.site, *chain))

    def core(self, core: Core, choice: int) -> Core:
        """A callee's state in the caller's words."""
        if core is EMPTY or core == EMPTY:
            return EMPTY
        memo = self._core_memos[choice]
        found = memo.get(core)
        if found is None:
            found = memo[core] = self._translate_core(core, choice)
        return found

    def _translate_core(self, core: Core, choice: int) -> Core:
        locks: dict[tuple[Term, str], tuple[bool, int]] = {}
        for lock, mode, sure, count in core[0]:
            terms = self.terms(lock, choice)
            for term in terms:
                locks[term, mode] = (sure and len(terms) == 1, count)
        released: dict[Term, bool] = {}
        for lock, sure in core[1]:
            terms = self.terms(lock, choice)
            for term in terms:
                released[term] = sure and len(terms) == 1
        active = {self.thread(thread): sure for thread, sure in core[2]}
        joined = {
            term
            for handle in core[3]
            if len(terms := self.terms(handle, choice)) == 1
            for term in terms
        }
        return (
            tuple(sorted((lock, mode, *rest) for (lock, mode), rest in locks.items())),
            tuple(sorted(released.items())),
            tuple(sorted(active.items())),
            tuple(sorted(joined)),
            self._flags(core[4], choice),
        )

    def _flags(self, flags: Terms, choice: int) -> Terms:
        if not flags:
            return ()
        found = [
            t
            for flag in flags
            for t in (self.terms(flag, choice) if flag[0][0] != "?" else (flag,))
        ]
        return tuple(sorted(set(found)))

    def thread(self, thread: ThreadId) -> ThreadId:
        """A thread of the callee, as the caller names it."""
        if self._base:
            return nested(self._base, thread)
        return prefixed(thread, self.site, self._depths) if thread else ()

    def folds(self, thread: ThreadId) -> bool:
        """Whether the caller takes the thread and others for one."""
        return bool(self._base) and is_folded(self._base, thread, nested(self._base, thread))

    def sites(self, sites: tuple[Site, ...]) -> tuple[Site, ...]:
        """Where an access happens, with the call to get there."""
        if self._base:
            return sites
        return tuple((f, n, (*calls, self.site)[:MAX_TRACE]) for f, n, calls in sites)


MAX_TRACE = 4
