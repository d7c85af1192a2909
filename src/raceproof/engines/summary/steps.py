"""The events of an outline with the callees' summaries put in: what the function does, in order
(`effects`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from raceproof.engines.summary import effects as fx
from raceproof.engines.summary.effects import Effect
from raceproof.engines.summary.instance import Instance
from raceproof.engines.summary.outline import Event, Outline
from raceproof.engines.summary.scope import Scope
from raceproof.engines.summary.state import ThreadId
from raceproof.engines.summary.summary import Depths, Pending, Summary, ThreadInfo
from raceproof.engines.summary.terms import (
    CARRIERS,
    OBJECTS,
    PLACES,
    Origin,
    Term,
    Terms,
    dereference,
    is_function,
    is_heap,
    is_pointer_like,
    is_thread_id,
    root,
    unite,
)

Lookup: TypeAlias = Callable[[str], Summary | None]
Targets: TypeAlias = Callable[[Term, int], tuple[str, ...]]
"""The functions that an indirect call through a path with so many arguments may mean."""

MAX_TARGETS = 12
MAX_RESUMES = 4
"""Pending calls inside each other: a thread may create itself by a pointer to itself."""


class EffectSteps:
    """Walks the outline once and gathers steps, stores and threads."""

    def __init__(self, outline: Outline, lookup: Lookup, targets: Targets, depths: Depths) -> None:
        self.outline = outline
        self.scope = Scope(outline)
        self._lookup = lookup
        self._targets = targets
        self._depths = depths
        self.blocks: list[list[Effect]] = []
        self.stores: dict[tuple[Term, Term], None] = {}
        self.threads: dict[ThreadId, ThreadInfo] = {}
        self.fresh: set[Origin] = set()
        self.escaped: set[Origin] = set()
        self.unknown: dict[str, None] = {}
        self.is_flat = outline.is_flat
        self.is_cut = False
        self._contained: dict[Origin, set[Origin]] = {}
        self._steps: list[Effect] = []
        self._resuming = 0
        self._call_tests: dict[int, Terms] = {}
        for events, _ in outline.blocks:
            self._steps = []
            for event in events:
                handler = _HANDLERS.get(event[0])
                if handler is not None:
                    handler(self, event)
            self.blocks.append(self._steps)
        self._close_escapes()

    # --- calls ------------------------------------------------------------

    def _call(self, event: Event) -> None:
        _, number, callees, arguments = event
        resolved = self.scope.resolve_all(callees)
        actual = tuple(self.scope.resolve_all(terms) for terms in arguments)
        pending: list[Term] = []
        returned: list[Term] = []
        for name in self._names(resolved, len(arguments), pending):
            summary = self._lookup(name)
            if summary is None:
                self.unknown[name] = None
                continue
            returned.extend(self._enter(number, name, summary, actual))
        if pending:
            site = (self.outline.name, number)
            self._steps.append(fx.Pends("call", (site,), tuple(pending), actual, (), ()))
        self.scope.set_result(number, unite(returned))

    def _names(self, terms: Terms, arity: int, pending: list[Term]) -> list[str]:
        names: dict[str, None] = {}
        for term in terms:
            kind = root(term)[0]
            if is_function(term):
                names[term[0][1]] = None
            elif kind == "p":
                pending.append(term)
            elif kind in (*OBJECTS, "*"):
                for name in self._targets(term, arity)[:MAX_TARGETS]:
                    names[name] = None
        return list(names)

    def _enter(self, number: int, name: str, summary: Summary, actual: tuple[Terms, ...]) -> Terms:
        site = (self.outline.name, number)
        instance = Instance(summary, actual, site, self.scope.contents, self._depths)
        if summary.escapes:
            self._escape([t for i in summary.escapes if i < len(actual) for t in actual[i]])
        self._effects(instance)
        for thread, info in summary.threads.items():
            self._thread(instance, thread, info)
        returned = instance.all_terms(summary.returns)
        self._new(returned)
        if summary.tests:
            known = self._call_tests.get(number, ())
            self._call_tests[number] = unite([*known, *instance.all_terms(summary.tests)])
        self._steps.append(fx.CallsFunction(number, name, instance))
        self.is_flat = self.is_flat and summary.is_flat
        self._resume_all(instance)
        return returned

    def tested(self, terms: Terms) -> Terms:
        """The addresses that a branch tests, with what the results of calls depend on."""
        found: list[Term] = []
        for term in terms:
            if term[0][0] == "y":
                found.extend(self._call_tests.get(term[0][2], ()))
            else:
                found.extend(self.scope.resolve(term))
        return tuple(dict.fromkeys(term for term in found if root(term)[0] in PLACES))

    def _new(self, terms: Terms) -> None:
        made = [term[0] for term in terms if is_heap(term)]
        if made:
            self.fresh.update(made)
            self._steps.append(fx.Makes(tuple(made)))

    def _effects(self, instance: Instance) -> None:
        for address, value in instance.summary.open_stores:
            for choice in instance.choices:
                values = instance.terms(value, choice)
                for target in instance.terms(address, choice):
                    for stored in values:
                        if is_pointer_like(stored) and is_pointer_like(target):
                            self._remember(target, stored)

    def _thread(self, instance: Instance, thread: ThreadId, info: ThreadInfo) -> None:
        ids, signature, leaks, is_multiple = info
        if signature:
            bound = instance.all_terms((signature[3],))
            signature = (*signature[:3], bound[0]) if len(bound) == 1 else ()
        self._add_thread(
            instance.thread(thread),
            (
                instance.all_terms(ids),
                signature,
                tuple(instance.thread(left) for left in leaks),
                max(is_multiple, int(instance.folds(thread))),
            ),
        )

    def _add_thread(self, thread: ThreadId, info: ThreadInfo) -> None:
        known = self.threads.get(thread)
        if known is not None:
            info = (
                unite([*known[0], *info[0]]),
                known[1] if known[1] == info[1] else (),
                tuple(dict.fromkeys((*known[2], *info[2]))),
                max(known[3], info[3]),
            )
        self.threads[thread] = info

    def _resume_all(self, instance: Instance) -> None:
        if self._resuming >= MAX_RESUMES:
            self.is_cut = self.is_cut or bool(instance.summary.pending)
            return
        self._resuming += 1
        for pending in instance.summary.pending:
            self._resume(instance, pending)
        self._resuming -= 1

    def _resume(self, instance: Instance, waiting: Pending) -> None:
        """A callee's pending call: do we know now whom it calls?"""
        kind, path, callees, arguments, core, inner_thread = waiting
        running = instance.thread(inner_thread)
        resolved = instance.all_terms(callees)
        actual = tuple(instance.all_terms(terms) for terms in arguments)
        pending: list[Term] = []
        cores = tuple(dict.fromkeys(instance.core(core, choice) for choice in instance.choices))
        site = instance.site
        for name in self._names(resolved, len(arguments), pending):
            summary = self._lookup(name)
            if summary is None:
                continue
            if summary.escapes:
                self._escape([t for i in summary.escapes if i < len(actual) for t in actual[i]])
            if kind == "create":
                thread = instance.thread((*inner_thread, path))
                inner = Instance(summary, actual, site, self.scope.contents, self._depths, thread)
                self._escape([term for terms in actual for term in terms])
                self._enter_thread(inner, thread, ids=())
                self._steps.append(fx.Runs(thread, name, inner, cores, ()))
                self._resume_all(inner)
            elif running:
                inner = Instance(summary, actual, site, self.scope.contents, self._depths, running)
                self._enter_thread(inner, running, ids=())
                self._steps.append(fx.Runs(running, name, inner, (), cores))
            else:
                inner = Instance(summary, actual, site, self.scope.contents, self._depths)
                self._effects(inner)
                self._steps.append(fx.CallsDeferred(site[1], name, inner, cores))
        if pending:
            longer = path if site in path or running else (site, *path)[:4]
            self._steps.append(fx.Pends(kind, longer, tuple(pending), actual, cores, running))

    # --- threads ------------------------------------------------------------

    def _create(self, event: Event) -> None:
        _, number, handles, entries, arguments = event
        site = (self.outline.name, number)
        thread: ThreadId = ((site,),)
        identity: Term = (("t", self.outline.name, number, ()), 0, 0, ())
        addresses = self.scope.resolve_all(handles)
        for address in addresses:
            if is_pointer_like(address):
                self._remember(address, identity)
        ids = (identity, *(dereference(address) for address in addresses))
        actual = (self.scope.resolve_all(arguments),)
        self._escape(list(actual[0]))
        pending: list[Term] = []
        names = self._names(self.scope.resolve_all(entries), 1, pending)
        self._add_thread(thread, (ids, self._signature(addresses), (), 0))
        self._steps.append(fx.Starts(thread))
        for name in names:
            summary = self._lookup(name)
            if summary is None:
                self.unknown[name] = None
                continue
            instance = Instance(summary, actual, site, self.scope.contents, self._depths, thread)
            self._enter_thread(instance, thread, ids)
            self._steps.append(fx.Runs(thread, name, instance, (), ()))
            self._resume_all(instance)
        if pending:
            self._steps.append(fx.Pends("create", (site,), tuple(pending), actual, (), ()))

    def _enter_thread(self, instance: Instance, thread: ThreadId, ids: Terms) -> None:
        summary = instance.summary
        self._effects(instance)
        leaks = tuple(instance.thread(left) for left in summary.leaks)
        known = self.threads.get(thread)
        signature = known[1] if known is not None else ()
        self._add_thread(thread, (ids, signature, leaks, 0))
        for inner, info in summary.threads.items():
            self._thread(instance, inner, info)

    def _signature(self, addresses: Terms) -> tuple[Any, ...]:
        """The counting loop over an array of ids."""
        if len(addresses) != 1:
            return ()
        return self.loop_signature(addresses[0])

    def loop_signature(self, term: Term) -> tuple[Any, ...]:
        """The counting loop whose variable is the term's index."""
        symbol = term[3]
        if not term[2] or not symbol or symbol[0][0] != "r":
            return ()
        found = self.outline.inductions.get(symbol[0][2])
        if found is None or symbol[0][1] != self.outline.name:
            return ()
        start, step, predicate, bound = found
        resolved = self.scope.resolve(bound)
        if not predicate or len(resolved) != 1:
            return ()
        return (start, step, predicate, resolved[0])

    # --- memory ------------------------------------------------------------

    def _access(self, event: Event) -> None:
        _, number, addresses, size, is_write, is_atomic = event
        resolved = self.scope.resolve_all(addresses)
        if resolved:
            self._steps.append(fx.Accesses(number, resolved, size, is_write, is_atomic))

    def _store(self, event: Event) -> None:
        _, _, addresses, values = event
        stored = [v for v in self.scope.resolve_all(values) if is_pointer_like(v)]
        for address in self.scope.resolve_all(addresses):
            if is_pointer_like(address):
                for value in stored:
                    self._remember(address, value)

    def _remember(self, address: Term, value: Term) -> None:
        """The points-to effect of a store, and what becomes visible by it."""
        if value[0][0] in "xcr?":
            return
        if is_thread_id(value):
            self._keep_id(address, value)
        self.scope.remember(address, value)
        self.stores[address, value] = None
        container = address[0]
        if self._is_own(container):
            self._contained.setdefault(container, set()).add(value[0])
        else:
            self._escape([value])

    def _keep_id(self, address: Term, identity: Term) -> None:
        """`ids[0] = begin(worker)`: a join of `ids[0]` means that thread."""
        for thread, (ids, signature, leaks, is_multiple) in self.threads.items():
            if identity in ids:
                longer = unite([*ids, dereference(address)])
                self.threads[thread] = (longer, signature, leaks, is_multiple)

    def _is_own(self, origin: Origin) -> bool:
        if origin[0] == "s":
            return bool(origin[1] == self.outline.name)
        return origin in self.fresh

    def _escape(self, terms: list[Term]) -> None:
        origins = tuple(term[0] for term in terms if term[0][0] in CARRIERS)
        if origins:
            self.escaped.update(origins)
            self._steps.append(fx.Publishes(origins))

    def _close_escapes(self) -> None:
        stack = list(self.escaped)
        while stack:
            for inner in self._contained.get(stack.pop(), ()):
                if inner not in self.escaped:
                    self.escaped.add(inner)
                    stack.append(inner)

    def contained(self, origins: tuple[Origin, ...]) -> set[Origin]:
        """The origins and what lies in their memory."""
        found = set(origins)
        stack = list(origins)
        while stack:
            for inner in self._contained.get(stack.pop(), ()):
                if inner not in found:
                    found.add(inner)
                    stack.append(inner)
        return found

    # --- the rest ------------------------------------------------------------

    def _lock(self, event: Event) -> None:
        _, number, locks, mode, success = event
        key = (("x", self.outline.name, number), 0, 0, ())
        self._steps.append(fx.Acquires(self.scope.resolve_all(locks), mode, success, key))

    def _unlock(self, event: Event) -> None:
        self._steps.append(fx.Releases(self.scope.resolve_all(event[2])))

    def _join(self, event: Event) -> None:
        handles = tuple(
            dict.fromkeys((*event[2], *self.scope.resolve_all(event[2])))
            if len(event[2]) == 1
            else self.scope.resolve_all(event[2])
        )
        self._steps.append(fx.Joins(handles))

    def _wait(self, event: Event) -> None:
        self._steps.append(fx.Waits(self.scope.resolve_all(event[2])))

    def _fresh(self, event: Event) -> None:
        origin = ("h", self.outline.name, event[1], ())
        self.fresh.add(origin)
        self._steps.append(fx.Makes((origin,)))

    def _result(self, event: Event) -> None:
        self.scope.set_result(event[1], self.scope.resolve_all(event[2]))

    def _exit(self, event: Event) -> None:
        self._steps.append(fx.Exits())


_HANDLERS: dict[str, Callable[[EffectSteps, Event], None]] = {
    "access": EffectSteps._access,
    "store": EffectSteps._store,
    "call": EffectSteps._call,
    "lock": EffectSteps._lock,
    "unlock": EffectSteps._unlock,
    "create": EffectSteps._create,
    "join": EffectSteps._join,
    "wait": EffectSteps._wait,
    "fresh": EffectSteps._fresh,
    "result": EffectSteps._result,
    "exit": EffectSteps._exit,
}
