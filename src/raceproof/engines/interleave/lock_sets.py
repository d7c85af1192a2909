"""The static Eraser (the layered paper's section 3.1): a lock set for each shared variable.

For every point of every thread the locks that are held on all ways there, by the maximal fixpoint;
the lock set of a variable is what all its accesses have in common. A variable with a lock in its
set is safe, as is one that no thread writes.

    pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);      {m}
    pthread_mutex_lock(&n); x++; pthread_mutex_unlock(&n);      {m} & {n} = {}: a candidate

Functions are summarised: what a call adds to the locks held and takes away, in terms of the
callee's parameters. What a variable is, says `variables`.

Two things hold "locks" here that are none: atomic accesses and atomic sections (both exclude each
other, and nothing else). A write counts only what is held for writing, a read also what is held for
reading.
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.concurrency import events as ev
from raceproof.concurrency.model import LockMode
from raceproof.engines.interleave.lock_changes import ATOMIC, NO_CHANGE, Change, Lock, MayBe
from raceproof.engines.interleave.objects import EXTERNAL, Thing
from raceproof.engines.interleave.skeleton import ModelPlace, Skeleton, is_trial
from raceproof.ir import Call, Function, Return
from raceproof.options import MutexRules


class LockSets:
    """The locks held at each instruction of one program."""

    def __init__(
        self,
        skeleton: Skeleton,
        rules: MutexRules = MutexRules.POSIX,
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        self._skeleton = skeleton
        self._rules = rules
        self._program = skeleton.program
        self._is_late = is_late
        self._summaries: dict[str, Change] = {}
        self._inside: dict[str, dict[int, Change]] = {}
        """Function -> instruction -> what has changed since the function was entered."""
        self._at_entry: dict[str, frozenset[Lock] | None] = {}
        """Function -> locks held whenever it is entered; None: never seen."""
        self.is_complete = True
        self._reached = self._threads_of_functions()
        self._summarise()
        self._enter()
        self.void = self._released_by_others()
        """Locks that also others than their holders release; None: who knows which."""

    def held(self, number: int) -> frozenset[Lock]:
        """The locks held whenever a thread stands at this instruction."""
        function = self._program.function_of(number).name
        entry = self._at_entry.get(function) or frozenset()
        change = self._inside.get(function, {}).get(number, NO_CHANGE)
        return change.applied(entry, self._aliases(self._program.functions[function]))

    def threads_at(self, number: int) -> set[str]:
        """Names of the threads that may execute an instruction."""
        return self._reached.get(self._program.function_of(number).name, set())

    def functions(self) -> list[str]:
        """Those that some thread may run."""
        return sorted(self._reached)

    def reaches(self, number: int) -> bool:
        """Whether there is a way to an instruction in its function."""
        return number in self._inside.get(self._program.function_of(number).name, {})

    def _aliases(self, function: Function) -> MayBe:
        registers = {parameter.index: parameter for parameter in function.parameters}
        objects = self._skeleton.objects

        def things(place: ModelPlace) -> set[Thing]:
            if place.kind == "parameter":
                return set(objects.of(registers[int(place.name)]))
            return {(place.kind, place.name)}

        def may_be(one: ModelPlace, other: ModelPlace) -> bool:
            if one == other:
                return True
            if "parameter" not in (one.kind, other.kind):
                return False
            mine, theirs = things(one), things(other)
            return bool(mine & theirs) or EXTERNAL in mine or EXTERNAL in theirs

        return may_be

    # --- threads ------------------------------------------------------------

    def _threads_of_functions(self) -> dict[str, set[str]]:
        """Function -> the threads that run it; two names stand for many instances of one."""
        skeleton = self._skeleton
        reached: dict[str, set[str]] = {}
        self._run(reached, self._program.functions[self._program.entry], {"main"})
        for name in self._program.constructors:
            self._run(reached, self._program.functions[name], {"main"})
        for number, create in skeleton.creates():
            for entry in skeleton.entries(create):
                names = {f"{entry.name}@{number}", f"{entry.name}@{number}'"}
                self._run(reached, entry, names)
        return reached

    def _run(self, reached: dict[str, set[str]], entry: Function, threads: set[str]) -> None:
        work = [entry]
        seen = {entry.name}
        while work:
            function = work.pop()
            reached.setdefault(function.name, set()).update(threads)
            for instruction in function.instructions:
                for target in self._skeleton.entered(instruction.number):
                    if target.name not in seen:
                        seen.add(target.name)
                        work.append(target)

    # --- fixpoints ------------------------------------------------------------

    def _summarise(self) -> None:
        """What each function does to the locks, from above: the greatest solution."""
        functions = [self._program.functions[name] for name in sorted(self._reached)]
        callers: dict[str, set[str]] = {}
        for function in functions:
            for instruction in function.instructions:
                for target in self._skeleton.entered(instruction.number):
                    callers.setdefault(target.name, set()).add(function.name)
        work = [function.name for function in functions]
        while work:
            if self._is_late():
                self.is_complete = False
                return
            name = work.pop()
            summary = self._flow(self._program.functions[name])
            if summary is not None and summary != self._summaries.get(name):
                self._summaries[name] = summary
                work.extend(callers.get(name, ()))

    def _flow(self, function: Function) -> Change | None:
        """The change at each instruction, and at the return; None if it never returns (yet)."""
        may_be = self._aliases(function)
        before: dict[int, Change] = {0: NO_CHANGE}
        inside: dict[int, Change] = {}
        returned: Change | None = None
        work = [0]
        while work:
            index = work.pop()
            change: Change | None = before[index]
            block = function.blocks[index]
            tried: tuple[list[int], Change] | None = None
            for instruction in block.instructions:
                assert change is not None
                inside[instruction.number] = change
                if isinstance(instruction, Return):
                    returned = change if returned is None else returned.meet(change)
                if isinstance(instruction, Call):
                    tried = self._tried(instruction) or tried
                    change = self._called(instruction, change, may_be)
                    if change is None:
                        break
            if change is None:
                continue
            for target in block.terminator.targets:
                after = change
                if tried is not None and tried[0] == [target]:
                    after = change.then(tried[1], may_be)
                known = before.get(target)
                joined = after if known is None else known.meet(after)
                if joined != known:
                    before[target] = joined
                    work.append(target)
        self._inside[function.name] = inside
        return returned

    def _called(self, call: Call, change: Change, may_be: MayBe) -> Change | None:
        """After a call; None if it does not come back as far as we know now."""
        skeleton = self._skeleton
        event = skeleton.event(call.number)
        ways: list[Change] = []
        match event:
            case ev.LockAcquire() if not is_trial(event):
                place = None if event.is_indirect else skeleton.place(event.lock)
                if place is None or place.kind == "slot":
                    ways.append(change)
                else:
                    gained = frozenset({(place, event.mode is LockMode.READ)})
                    ways.append(change.then(Change(frozenset(), gained), may_be))
            case ev.LockRelease():
                place = None if event.is_indirect else skeleton.place(event.lock)
                lost = None if place is None else frozenset({place})
                ways.append(change.then(Change(lost), may_be))
            case ev.AtomicBegin():
                ways.append(change.then(Change(frozenset(), frozenset({ATOMIC})), may_be))
            case ev.AtomicEnd():
                ways.append(change.then(Change(frozenset({ATOMIC[0]})), may_be))
            case None if skeleton.entered(call.number):
                for target in skeleton.entered(call.number):
                    summary = self._summaries.get(target.name)
                    if summary is not None:
                        ways.append(change.then(self._seen_by(call, target, summary), may_be))
                if skeleton.may_skip(call.number):
                    ways.append(change)
            case _:
                ways.append(change)
        if event is not None and skeleton.is_unclear(call.number):
            ways.append(change)
        if not ways:
            return None
        met = ways[0]
        for way in ways[1:]:
            met = met.meet(way)
        return met

    def _tried(self, call: Call) -> tuple[list[int], Change] | None:
        """The block in which a trial has succeeded, and what it has gained there."""
        event = self._skeleton.event(call.number)
        if not isinstance(event, ev.LockAcquire) or not is_trial(event):
            return None
        place = None if event.is_indirect else self._skeleton.place(event.lock)
        after = self._skeleton.after_trial(call.number)
        if place is None or place.kind == "slot" or after is None or after[0] == after[1]:
            return None
        if self._skeleton.is_unclear(call.number):
            return None
        return after[0], Change(frozenset(), frozenset({(place, event.mode is LockMode.READ)}))

    def _seen_by(self, call: Call, target: Function, summary: Change) -> Change:
        """A callee's change in the words of its caller."""
        if self._skeleton.is_atomic_function(call.number, target.name):
            summary = Change(summary.lost, summary.gained - {ATOMIC})
        lost: set[ModelPlace] | None = None if summary.lost is None else set()
        for place in summary.lost or ():
            found = self._outside(call, target, place)
            if found is None:
                lost = None
            elif lost is not None:
                lost.add(found)
        gained = set()
        for place, reads in summary.gained:
            found = self._outside(call, target, place)
            if found is not None and found.kind != "slot":
                gained.add((found, reads))
        return Change(None if lost is None else frozenset(lost), frozenset(gained))

    def _outside(self, call: Call, target: Function, place: ModelPlace) -> ModelPlace | None:
        if place.kind in ("global", "atomic"):
            return place
        if place.kind == "parameter" and target.name in self._skeleton.objects.callees(call):
            for parameter, argument in zip(target.parameters, call.arguments, strict=False):
                if parameter.index == place.name:
                    found = self._skeleton.place(argument)
                    if found is None:
                        return None
                    return ModelPlace(found.kind, found.name, found.offset + place.offset)
        return None

    def _enter(self) -> None:
        """The locks held at the entry of each function, from above."""
        work: list[str] = []

        def meet(name: str, held: frozenset[Lock]) -> None:
            known = self._at_entry.get(name)
            joined = held if known is None else known & held
            if joined != known:
                self._at_entry[name] = joined
                work.append(name)

        meet(self._program.entry, frozenset())
        for name in self._program.constructors:
            meet(name, frozenset())
        for _, create in self._skeleton.creates():
            for entry in self._skeleton.entries(create):
                meet(entry.name, frozenset())
        while work:
            name = work.pop()
            may_be = self._aliases(self._program.functions[name])
            for number, change in self._inside.get(name, {}).items():
                if not self._skeleton.entered(number):
                    continue
                held = change.applied(self._at_entry[name] or frozenset(), may_be)
                for target in self._skeleton.entered(number):
                    given = {lock for lock in held if lock[0].kind in ("global", "atomic")}
                    if self._skeleton.is_atomic_function(number, target.name):
                        given.add(ATOMIC)
                    meet(target.name, frozenset(given))

    def _released_by_others(self) -> frozenset[ModelPlace] | None:
        """Under Linux's rules: the locks that someone may release who does not hold them."""
        if self._rules is MutexRules.POSIX:
            return frozenset()
        found: set[ModelPlace] = set()
        for name in sorted(self._reached):
            for number in self._inside.get(name, {}):
                event = self._skeleton.event(number)
                if not isinstance(event, ev.LockRelease):
                    continue
                place = None if event.is_indirect else self._skeleton.place(event.lock)
                if place in {held for held, _ in self.held(number)}:
                    continue
                if place is None or place.kind != "global":
                    return None
                found.add(place)
        return frozenset(found)
