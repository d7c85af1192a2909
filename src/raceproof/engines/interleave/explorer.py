"""The explorer: all schedules, breadth first, until a race or the end.

What a transition is, and why no race is lost by taking whole blocks, says `transitions`. On top of
that come three ways to leave out transitions whose order does not matter (`Reduction`).

**Values first.** Choices of values (an input, a branch on an unknown value) depend on no other
thread, nor does a block that was cut because it was long: such a thread goes on, and no other
thread does. So that no thread waits for ever (`for (;;) if (input()) x = 1;`), that is done only if
it leads to a configuration that was not expanded yet; else all threads go.

**Sleep sets.** Of two transitions that commute, one order is enough. After thread 1 has been
explored in a configuration, it *sleeps* in what comes after thread 2, until some thread touches
what its transition touches. The sleep set is stored with the configuration: one that is reached
again with a smaller sleep set is expanded again for those who are awake now.

**Persistent sets.** Where some threads cannot be disturbed by the others, only they go
(`persistent`), under the same condition as for values. Since what threads may do is learned on the
way, all such choices are checked again at the end, and the configurations where one does not hold
any more are expanded in full.

No race is lost. Take a configuration s with sleep set Z, and an execution w from s to a race such
that no thread in Z could begin an execution that differs from w in the order of commuting
transitions only. The race is met, by induction over the length of w, then over the order of
expansion, latest first. If s is expanded in full, take among the threads that could begin w the one
a that was explored first in the last round that has any; what is left of w is shorter, and who
sleeps after a could not begin it. If only a persistent set was expanded and w has a transition of
it, the first of these could begin w, and the same holds. If w has none, take the transition that
led to a configuration expanded later: w is still possible there, and as long.

On an open machine inputs are unknown values and every branch on them goes both ways; then "no
race" holds for all inputs, and a race may be one that no input leads to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum

from raceproof.engines.interleave.access_sets import NOTHING, AccessSet, AccessSets
from raceproof.engines.interleave.configuration import Configuration, Identities
from raceproof.engines.interleave.future_accesses import FutureAccesses, Need, Node
from raceproof.engines.interleave.persistent import Choice, PersistentSets, Situation
from raceproof.engines.interleave.situations import Situations
from raceproof.engines.interleave.transitions import MetRace, Move, RaceMet, Stepper, synchronises
from raceproof.machine.control import Cancel
from raceproof.machine.faults import ChoiceNeeded, Unsupported
from raceproof.machine.inputs import Inputs
from raceproof.machine.machine import Machine
from raceproof.machine.thread import Pending

MOST_STATES = 400_000
MOST_THREADS = 64

Sleep = dict[int, AccessSet]
"""Threads whose next transition needs no exploration, with what it touches."""


class Reduction(IntEnum):
    """How much of the order of steps is left out; each level includes those before it."""

    NONE = 0
    BLOCKS = 1
    SLEEP = 2
    PERSISTENT = 3


class Conclusion(Enum):
    RACE_FREE = "race-free"
    RACE = "race"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Exploration:
    conclusion: Conclusion
    states: int
    transitions: int
    reason: str = ""
    is_stuck: bool = False
    """Whether it is incomplete because of a step that could not be taken."""
    race: MetRace | None = None
    moves: tuple[Move, ...] = ()
    """How the race was met; the last one is cut short by it."""


class NoInputs:
    """For the exploration of exact values: a program that asks for one is not for it."""

    needs_all = True

    def next(self, bits: int, limits: tuple[int, int] | None) -> int:
        raise Unsupported("the program depends on its inputs")


@dataclass(slots=True, eq=False)
class _State:
    """A configuration that was reached, and what of it was explored."""

    number: int
    configuration: Configuration | None
    """None if it was expanded and is not needed any more."""
    sleep: Sleep
    is_expanded: bool = False
    explored: set[int] = field(default_factory=set)
    only: frozenset[int] | None = None
    """The threads that go first; None if all go."""
    is_queued: bool = True
    is_kept: bool = False
    """Whether a choice was made that may turn out to be wrong."""

    def wants(self, threads: Iterable[int]) -> bool:
        """Whether one of these is still to be explored."""
        return any(self.has_to_explore(number) for number in threads)

    def has_to_explore(self, number: int) -> bool:
        return (
            number not in self.sleep
            and number not in self.explored
            and (self.only is None or number in self.only)
        )


class Explorer:
    """Explores one machine."""

    def __init__(
        self,
        machine: Machine,
        *,
        reduction: Reduction = Reduction.PERSISTENT,
        inputs: Inputs | None = None,
    ) -> None:
        self._machine = machine
        self._reduction = reduction
        self._access_sets = AccessSets()
        self._future_accesses = FutureAccesses()
        self._persistent = PersistentSets(
            self._access_sets, self._future_accesses, machine.mutex_rules
        )
        self._stepper = Stepper(
            machine,
            inputs,
            has_blocks=reduction >= Reduction.BLOCKS,
            access_sets=self._access_sets if reduction >= Reduction.SLEEP else None,
        )
        self._identities = Identities()
        self._situations = Situations(self._identities, self._access_sets)
        self._visited: dict[object, _State] = {}
        self._parents: list[tuple[int, Move]] = []
        self._queue: deque[_State] = deque()
        self._choices: list[tuple[_State, Choice, int]] = []
        """States of which only some threads were explored, why, and as of which knowledge."""
        self._transitions = 0
        self._at = (-1, Move(0))
        """The state being left, and how."""

    def run(self, seconds_left: Callable[[], float], most_states: int = MOST_STATES) -> Exploration:
        try:
            self._stepper.begin()
            self._check_end()
            self._add(-1, Move(0), {})
            while self._queue:
                if seconds_left() <= 0:
                    return self._stop("the time is over")
                if len(self._visited) > most_states:
                    return self._stop(f"more than {most_states} states")
                self._expand(self._queue.popleft())
                if not self._queue:
                    self._check_choices()
        except RaceMet as met:
            return self._race(met)
        except Unsupported as unsupported:
            return replace(self._stop(str(unsupported)), is_stuck=True)
        except ChoiceNeeded:
            reason = "an unknown value where a known one is needed"
            return replace(self._stop(reason), is_stuck=True)
        left_out = self._machine.left_out
        if left_out:
            return self._stop(f"not done by the machine: {', '.join(sorted(left_out))}")
        return Exploration(Conclusion.RACE_FREE, len(self._visited), self._transitions)

    def steps(self, moves: tuple[Move, ...]) -> list[tuple[int, Pending]]:
        """The visible steps that these moves take, each with its thread."""
        return self._stepper.steps(moves)

    def pending_of(self, number: int) -> Pending | None:
        """What a thread is about to do, after `steps`."""
        return self._machine.threads[number].pending

    # --- states ------------------------------------------------------------

    def _add(self, parent: int, move: Move, sleep: Sleep) -> bool:
        """Enter where the machine stands; whether that is still to be expanded."""
        if self._machine.ended is not None:
            return False
        configuration = self._stepper.capture()
        identity = self._identities.key(configuration)
        known = self._visited.get(identity)
        if known is None:
            state = _State(len(self._parents), configuration, sleep)
            self._visited[identity] = state
            self._queue.append(state)
            self._parents.append((parent, move))
            return True
        woken = known.sleep.keys() - sleep.keys()
        if woken:
            known.sleep = {n: f for n, f in known.sleep.items() if n not in woken}
            if known.is_expanded and not known.is_queued and known.wants(woken):
                known.configuration = configuration
                self._enqueue(known)
        return not known.is_expanded

    def _enqueue(self, state: _State) -> None:
        state.is_queued = True
        self._queue.append(state)

    def _check_end(self) -> None:
        """Raises `Unsupported` if the machine gave up here."""
        machine = self._machine
        if isinstance(machine.ended, Unsupported):
            raise machine.ended
        if len(machine.threads) > MOST_THREADS:
            raise Unsupported(f"more than {MOST_THREADS} threads")

    def _check_choices(self) -> None:
        """Everything is explored, as far as was known; expand what needs more by now."""
        kept = []
        for state, choice, version in self._choices:
            if version == self._future_accesses.version or self._persistent.holds(choice):
                kept.append((state, choice, self._future_accesses.version))
                continue
            state.only = None
            state.is_kept = False
            if not state.is_queued:
                self._enqueue(state)
        self._choices = kept

    def _stop(self, reason: str) -> Exploration:
        return Exploration(Conclusion.INCOMPLETE, len(self._visited), self._transitions, reason)

    def _race(self, met: RaceMet) -> Exploration:
        moves = []
        parent, move = self._at
        while parent >= 0:
            moves.append(move)
            parent, move = self._parents[parent]
        return Exploration(
            Conclusion.RACE,
            len(self._visited),
            self._transitions,
            race=met.race,
            moves=tuple(reversed(moves)),
        )

    # --- expansion ------------------------------------------------------------

    def _expand(self, state: _State) -> None:
        configuration = state.configuration
        assert configuration is not None
        state.is_queued = False
        self._stepper.resume(configuration, -1)
        enabled = self._machine.enabled()
        if self._reduction >= Reduction.PERSISTENT:
            self._announce(configuration, enabled)
        round_ = _Round(state, configuration)
        if not self._expand_some(round_, enabled):
            for number in enabled:
                if state.has_to_explore(number):
                    self._explore(round_, number)
        if not state.is_queued and not state.is_kept:
            state.configuration = None

    def _announce(self, configuration: Configuration, enabled: list[int]) -> None:
        """Learn what threads that are held up here look at: they may never be seen to go."""
        machine = self._machine
        is_atomic = any(thread.atomic_depth for thread in configuration.threads)
        for thread in configuration.threads:
            pending = thread.pending
            if pending is None or thread.number in enabled:
                continue
            need = None
            if is_atomic:
                access_set = self._persistent.anything
            else:
                assert pending.operation is not None
                access_set = self._stepper.looked_at(thread, pending)
                need = pending.operation.awaits(machine, pending.arguments)
            self._future_accesses.learn(
                self._identities.node(thread), need, (), access_set, access_set
            )

    def _expand_some(self, round_: _Round, enabled: list[int]) -> bool:
        """Explore only some of the threads; whether that is enough."""
        state = round_.state
        is_first, state.is_expanded = not state.is_expanded, True
        if state.only is not None:
            return False
        quiet = self._quiet(round_)
        if quiet is not None and is_first:
            return self._expand_quiet(round_, quiet)
        if self._reduction < Reduction.PERSISTENT:
            return False
        situation: Situation | None = None
        while True:
            waiting = frozenset(filter(state.has_to_explore, enabled))
            if len(waiting) < 2:
                return False
            if situation is None:
                situation = self._situations.of(self._machine, round_.configuration, enabled)
            choice = self._persistent.choose(situation, waiting)
            if choice is None:
                return False
            if self._expand_choice(round_, situation, choice):
                return True

    def _expand_quiet(self, round_: _Round, quiet: int) -> bool:
        self._explore(round_, quiet)
        own_end = self._access_sets.key(("thread", quiet))
        if not round_.is_fresh or (round_.touched.reads | round_.touched.writes) & ~own_end:
            return False
        round_.state.only = frozenset((quiet,))
        return True

    def _expand_choice(self, round_: _Round, situation: Situation, choice: Choice) -> bool:
        """Explore a persistent set; whether it is one, and leads on."""
        state = round_.state
        round_.is_fresh = False
        for number in situation.enabled:
            if number in choice.members and state.has_to_explore(number):
                self._explore(round_, number)
        if not round_.is_fresh:
            return False
        touched = NOTHING
        for number in choice.members.intersection(situation.enabled):
            found = self._future_accesses.next(situation.nodes[number])
            touched = touched.union(found or NOTHING)
            touched = touched.union(situation.forgotten[number])
        choice = replace(choice, touched=choice.touched.union(touched))
        if not self._persistent.holds(choice):
            return False
        state.only = choice.members
        state.is_kept = True
        self._choices.append((state, choice, self._future_accesses.version))
        return True

    def _quiet(self, round_: _Round) -> int | None:
        """A thread that is awake and has values to choose, or does not synchronise next."""
        for thread in round_.configuration.threads:
            pending = thread.pending
            if pending is None or thread.number in round_.state.sleep:
                continue
            is_unseen = self._reduction > Reduction.NONE and not synchronises(pending)
            if pending.options or is_unseen:
                return thread.number
        return None

    def _explore(self, round_: _Round, number: int) -> None:
        """Take all transitions of a thread."""
        state, configuration = round_.state, round_.configuration
        pending = configuration.threads[number].pending
        assert pending is not None
        whole = NOTHING
        options: Iterable[int | None] = range(pending.options) if pending.options else (None,)
        for choice in options:
            move = Move(number, choice)
            self._stepper.resume(configuration, number)
            self._transitions += 1
            self._at = (state.number, move)
            need = self._need(number, pending)
            self._stepper.advance(move)
            self._check_end()
            sleep: Sleep = {}
            if self._reduction >= Reduction.SLEEP:
                sleep = self._sleeping(round_, self._stepper.whole)
                whole = whole.union(self._stepper.whole)
                round_.touched = round_.touched.union(self._stepper.strong)
            round_.is_fresh |= self._add(state.number, move, sleep)
            if self._reduction >= Reduction.PERSISTENT:
                self._learn(configuration, number, need)
        state.explored.add(number)
        if self._reduction >= Reduction.SLEEP and not whole.is_final:
            round_.done[number] = whole

    def _sleeping(self, round_: _Round, whole: AccessSet) -> Sleep:
        """Who sleeps after a transition that touched `whole`."""
        commute = self._access_sets.commute
        return {
            number: theirs
            for asleep in (round_.state.sleep, round_.done)
            for number, theirs in asleep.items()
            if commute(theirs, whole)
        }

    def _need(self, number: int, pending: Pending) -> Need | None:
        if pending.operation is None or self._reduction < Reduction.PERSISTENT:
            return None
        if isinstance(pending.operation, Cancel):
            self._future_accesses.note_cancellation()
        return pending.operation.awaits(self._machine, pending.arguments)

    def _learn(self, configuration: Configuration, number: int, need: Need | None) -> None:
        machine = self._machine
        targets: list[Node] = []
        if machine.ended is None:
            started = machine.threads[len(configuration.threads) :]
            targets = [
                self._identities.node(thread)
                for thread in (machine.threads[number], *started)
                if thread.is_alive
            ]
        node = self._identities.node(configuration.threads[number])
        self._future_accesses.learn(
            node, need, tuple(targets), self._stepper.strong, self._stepper.whole
        )


@dataclass(slots=True, eq=False)
class _Round:
    """One time that a state is expanded."""

    state: _State
    configuration: Configuration
    done: Sleep = field(default_factory=dict)
    """The threads explored, with all that their transitions touch."""
    touched: AccessSet = NOTHING
    """What they touch but for plain accesses."""
    is_fresh: bool = False
    """Whether one led to a state that is still to be expanded."""
