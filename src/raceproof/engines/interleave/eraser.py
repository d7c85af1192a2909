"""The static Eraser (the layered paper's section 3.1): a lock set for each shared variable.

For every point of every thread the locks that are held on all ways there, by the maximal fixpoint;
the lock set of a variable is what all its accesses have in common. A variable with a lock in its
set is safe, as is one that nobody writes.

    pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);      {m}
    pthread_mutex_lock(&n); x++; pthread_mutex_unlock(&n);      {m} & {n} = {}: a candidate

Functions are summarised: what a call adds to the locks held and takes away, in terms of the
callee's parameters. The paper assumes that variables do not alias; here a variable is an object, or
a part of it where all accesses name their bytes, and an access counts for every object that its
pointer may point to.

Two things hold "locks" here that are none: atomic accesses and atomic sections (both exclude each
other, and nothing else). A write counts only what is held for writing, a read also what is held for
reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from raceproof.concurrency import events as ev
from raceproof.concurrency.model import LockMode
from raceproof.engines.interleave.abstract import AccessPoint
from raceproof.engines.interleave.objects import EXTERNAL, Thing
from raceproof.engines.interleave.skeleton import Place, Skeleton, is_trial
from raceproof.ir import Call, Function, Instruction, Return
from raceproof.options import MutexRules

Lock = tuple[Place, bool]
"""Where it is, and whether it is held for reading only."""

ATOMIC: Lock = (Place("atomic", "", 0), False)
_Range = tuple[int, int]
MayBe = Callable[[Place, Place], bool]
"""Whether two places, as one function sees them, may be the same."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a stretch of code does to the locks held: takes away, then adds. `None`: all."""

    lost: frozenset[Place] | None = frozenset()
    gained: frozenset[Lock] = frozenset()

    def then(self, later: Change, may_be: MayBe) -> Change:
        if later.lost is None:
            return Change(None, later.gained)
        lost = None if self.lost is None else self.lost | later.lost
        return Change(lost, later.gained | _kept(self.gained, later.lost, may_be))

    def meet(self, other: Change) -> Change:
        """What holds on both ways."""
        if self.lost is None or other.lost is None:
            return Change(None, self.gained & other.gained)
        return Change(self.lost | other.lost, self.gained & other.gained)

    def applied(self, held: frozenset[Lock], may_be: MayBe) -> frozenset[Lock]:
        if self.lost is None:
            return self.gained
        return self.gained | _kept(held, self.lost, may_be)


def _kept(locks: frozenset[Lock], lost: frozenset[Place], may_be: MayBe) -> frozenset[Lock]:
    if not lost:
        return locks
    return frozenset(lock for lock in locks if not any(may_be(lock[0], place) for place in lost))


NO_CHANGE = Change()


@dataclass(slots=True)
class Variable:
    """A shared object or part of it."""

    thing: Thing
    bytes: _Range | None
    """None: all of it, or nobody knows."""
    accesses: dict[int, AccessPoint] = field(default_factory=dict)
    lockset: frozenset[Place] | None = None
    threads: set[str] = field(default_factory=set)

    @property
    def is_written(self) -> bool:
        return any(access.is_write for access in self.accesses.values())

    @property
    def is_safe(self) -> bool:
        return not self.is_written or bool(self.lockset)


class Eraser:
    """The lock sets of one program."""

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
        self._taken: set[Thing] = set()
        self._reached = self._threads_of_functions()
        self._summarise()
        self._enter()
        self._void = self._released_by_others()
        self.variables = self._variables()

    def held(self, number: int) -> frozenset[Lock]:
        """The locks held whenever a thread stands at this instruction."""
        function = self._program.function_of(number).name
        entry = self._at_entry.get(function) or frozenset()
        change = self._inside.get(function, {}).get(number, NO_CHANGE)
        return change.applied(entry, self._aliases(self._program.functions[function]))

    def threads_at(self, number: int) -> set[str]:
        """Names of the threads that may execute an instruction."""
        return self._reached.get(self._program.function_of(number).name, set())

    def _aliases(self, function: Function) -> MayBe:
        registers = {parameter.index: parameter for parameter in function.parameters}
        objects = self._skeleton.objects

        def things(place: Place) -> set[Thing]:
            if place.kind == "parameter":
                return set(objects.of(registers[int(place.name)]))
            return {(place.kind, place.name)}

        def may_be(one: Place, other: Place) -> bool:
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
        lost: set[Place] | None = None if summary.lost is None else set()
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

    def _outside(self, call: Call, target: Function, place: Place) -> Place | None:
        if place.kind in ("global", "atomic"):
            return place
        if place.kind == "parameter" and target.name in self._skeleton.objects.callees(call):
            for parameter, argument in zip(target.parameters, call.arguments, strict=False):
                if parameter.index == place.name:
                    found = self._skeleton.place(argument)
                    if found is None:
                        return None
                    return Place(found.kind, found.name, found.offset + place.offset)
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

    def _released_by_others(self) -> frozenset[Place] | None:
        """Under Linux's rules: the locks that someone may release who does not hold them."""
        if self._rules is MutexRules.POSIX:
            return frozenset()
        found: set[Place] = set()
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

    # --- variables ------------------------------------------------------------

    def _variables(self) -> list[Variable]:
        shareable = self._skeleton.objects.shareable()
        self._taken = self._skeleton.objects.taken()
        found: dict[Thing, list[tuple[int, AccessPoint, _Range | None]]] = {}
        for name in sorted(self._reached):
            for instruction in self._program.functions[name].instructions:
                if instruction.number in self._inside.get(name, {}):
                    for thing, point, where in self._touched(instruction):
                        if thing in shareable and thing[0] != "function":
                            found.setdefault(thing, []).append((instruction.number, point, where))
        variables: list[Variable] = []
        for thing in sorted(found, key=lambda t: (t[0], str(t[1]))):
            variables += self._parts(thing, found[thing])
        return [variable for variable in variables if self._is_shared(variable)]

    def _touched(
        self, instruction: Instruction
    ) -> Iterable[tuple[Thing, AccessPoint, _Range | None]]:
        for effect in self._skeleton.events.effects(instruction):
            point = AccessPoint(effect.is_read, effect.is_write, effect.is_atomic)
            place = self._skeleton.place(effect.pointer)
            where: _Range | None = None
            if place is not None and place.kind == "global" and isinstance(effect.size, int):
                where = (place.offset, place.offset + effect.size)
            things = list(self._skeleton.objects.of(effect.pointer))
            for thing in things or [EXTERNAL]:
                if thing[0] == "global":
                    variable = self._program.globals.get(str(thing[1]))
                    if variable is not None and variable.is_constant:
                        continue
                    if variable is not None and variable.is_thread_local:
                        if thing not in self._taken:
                            continue
                yield thing, point, where

    def _parts(
        self, thing: Thing, accesses: list[tuple[int, AccessPoint, _Range | None]]
    ) -> list[Variable]:
        """One variable for the whole, or one for each stretch of bytes that is accessed apart."""
        ranges = [where for _, _, where in accesses if where is not None]
        if len(ranges) < len(accesses):
            return [self._variable(thing, None, [(n, p) for n, p, _ in accesses])]
        stretches: list[_Range] = []
        for start, end in sorted(set(ranges)):
            if stretches and start < stretches[-1][1]:
                stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
            else:
                stretches.append((start, end))
        return [
            self._variable(
                thing,
                stretch,
                [
                    (n, p)
                    for n, p, where in accesses
                    if where and stretch[0] <= where[0] < stretch[1]
                ],
            )
            for stretch in stretches
        ]

    def _variable(
        self, thing: Thing, where: _Range | None, accesses: list[tuple[int, AccessPoint]]
    ) -> Variable:
        variable = Variable(thing, where)
        for number, point in accesses:
            known = variable.accesses.get(number, AccessPoint(is_atomic=True))
            variable.accesses[number] = AccessPoint(
                known.is_read or point.is_read,
                known.is_write or point.is_write,
                known.is_atomic and point.is_atomic,
            )
        for number, point in variable.accesses.items():
            variable.threads |= self._reached[self._program.function_of(number).name]
            locks = {place for place, reads in self.held(number) if not (reads and point.is_write)}
            if point.is_atomic:
                locks.add(ATOMIC[0])
            known_set = variable.lockset
            variable.lockset = frozenset(locks) if known_set is None else known_set & locks
        variable.lockset = frozenset(
            place
            for place in variable.lockset or ()
            if place.kind == "atomic"
            or (place.kind == "global" and self._void is not None and place not in self._void)
        )
        return variable

    def _is_shared(self, variable: Variable) -> bool:
        return len(variable.threads) > 1
