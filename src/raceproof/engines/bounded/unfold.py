"""From the program to lists of events: bounds, passes, threads.

`Unfolder.run` walks `main` and then every thread that some walk creates, pass after pass, until the
tables of `sharing` stay as they are. The last pass is the result. Until the first thread exists
`main` runs alone, with every constant known; what memory holds at that moment is the start for all
(`publish`).
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

from raceproof.analysis.unrolling import LoopOrder
from raceproof.concurrency import Events, Models
from raceproof.engines.bounded.events import Cut, ThreadBody, Unfolding
from raceproof.engines.bounded.objects import AddressSpace, UnfoldObject
from raceproof.engines.bounded.sharing import SharedPlaces
from raceproof.engines.bounded.state import UnfoldState, Value
from raceproof.errors import UserError
from raceproof.ir import Constant, Function, GlobalAddress, Instruction, Position, Program
from raceproof.ir.cfg import ControlFlow
from raceproof.smt.terms import Term, Terms
from raceproof.verdict import BaseKind


@dataclass(frozen=True, slots=True)
class LoopLimit:
    """Iterations of a function's loops, or of the one at a line."""

    function: str
    line: int | None
    unwind: int

    @classmethod
    def parse(cls, text: str) -> LoopLimit:
        """`FUNCTION=N` or `FUNCTION:LINE=N`."""
        found = re.fullmatch(r"([^:=]+)(?::(\d+))?=(\d+)", text)
        if found is None or not int(found[3]):
            raise UserError(f"--unwind-loop {text}: write FUNCTION=N or FUNCTION:LINE=N")
        return cls(found[1], int(found[2]) if found[2] else None, int(found[3]))


@dataclass(frozen=True, slots=True)
class UnfoldLimits:
    """The bounds of an unfolding. `unwind`, `loops` and `site_threads` are for people to choose."""

    unwind: int = 2
    """Iterations of a loop that depends on data."""
    loops: tuple[LoopLimit, ...] = ()
    """Other numbers for some loops."""
    recursion: int = 4
    concrete_iterations: int = 300
    silent_iterations: int = 11_000
    """Of a loop without visible statements."""
    events: int = 150
    """Visible statements of a thread (four plain accesses count as one), from which on a loop is
    not unrolled for its constants."""
    total_threads: int = 100
    site_threads: int | None = None
    """Threads created at one place; None: no other bound than that of all threads."""
    size: int = 400_000
    """Instructions walked in one pass."""
    passes: int = 16
    cautious: bool = False
    """For proofs: whatever the standards leave open may happen. A wait with a time limit ends for
    any reason, a function that fails returns any error, `main` has any arguments."""
    hides: bool = True
    """Waiting loops may write what no other thread sees; a proof has to show that none does."""
    anyone_unlocks: bool = False
    """A mutex can be unlocked by a thread that did not lock it."""

    def is_within(self, other: UnfoldLimits) -> bool:
        """Whether the other bounds unroll loops at least as far, and differ in nothing else."""
        return (
            self.unwind <= other.unwind
            and self.events <= other.events
            and other == replace(self, unwind=other.unwind, events=other.events)
        )


_FIRST_PATIENCE = 12
"""No loop runs longer while the tables grow: it may be one that waits for a thread that they
don't know yet."""


class UnfoldingTimeout(Exception):
    pass


@dataclass(slots=True, eq=False)
class _Creation:
    number: int
    key: str
    function: Function
    argument: Value | None
    parent: int
    instruction: int
    position: Position | None


class Unfolder:
    """Owns the terms, the objects and the tables of one unfolding."""

    def __init__(
        self,
        program: Program,
        models: Models,
        limits: UnfoldLimits,
        deadline: float = float("inf"),
        shallower: Unfolder | None = None,
        events: Events | None = None,
    ) -> None:
        """`shallower`: another one, within tighter bounds, whose objects, terms and tables to go on
        with; the tables then need few passes, or one, to become stable again."""
        self.program = program
        self.models = models
        self.limits = limits
        self.deadline = deadline
        self.terms = Terms()
        self.space = AddressSpace(program, self.terms)
        self.sharing = SharedPlaces(self.space)
        self.size = 0
        self.patience = _FIRST_PATIENCE
        self.was_impatient = False
        self.result = Unfolding([])
        self._orders: dict[str, LoopOrder] = {}
        self._published: list[UnfoldState] = []
        self._thread_numbers: dict[str, int] = {}
        self._created_at: dict[int, int] = {}
        """Threads by the call that creates them."""
        self._creations: list[_Creation] = []
        self._assumed: set[str] = set()
        self.events = Events(program, models) if events is None else events
        self.has_kinds_of_locks = False
        self.has_trials = False
        """Some thread looks whether it can have a lock, and goes on if not."""
        self.has_timed_waits = False
        """Some wait on a condition tells whether it was woken up."""
        self.has_choices = False
        """Something happened that `UnfoldLimits.cautious` would have made more of."""
        if shallower is not None:
            self._go_on_from(shallower)

    def _go_on_from(self, other: Unfolder) -> None:
        """All of it is known by names that do not depend on the bounds, and only grows."""
        assert other.limits.is_within(self.limits)
        self.terms, self.space, self.sharing = other.terms, other.space, other.sharing
        self.sharing.begin_unfolding()
        self.patience = other.patience
        self._orders = other._orders
        self._thread_numbers = dict(other._thread_numbers)
        self._created_at = dict(other._created_at)
        self.events = other.events
        self.has_kinds_of_locks = other.has_kinds_of_locks
        self.has_trials = other.has_trials
        self.has_timed_waits = other.has_timed_waits
        self.has_choices = other.has_choices

    def run(self) -> Unfolding:
        """Raises `TooBig` or `UnfoldingTimeout` if it cannot be done."""
        for number in range(1, self.limits.passes + 1):
            self.sharing.begin_pass()
            self.was_impatient = False
            self.result = self._pass()
            self.result.passes = number
            if self.sharing.has_grown:
                continue
            if not self.was_impatient:
                return self.result
            self.patience *= _FIRST_PATIENCE
        self.result.threads[0].cuts.append(self._unstable())
        return self.result

    def _unstable(self) -> Cut:

        return Cut(0, self.terms.true, "tables that did not become stable", None)

    def _pass(self) -> Unfolding:
        from raceproof.engines.bounded.thread import ThreadWalker

        self.size = 0
        self._published = []
        self._creations = []
        self._assumed = set()
        result = self.result = Unfolding([])
        main = self.program.functions[self.program.entry]
        body = ThreadBody(0, main.name, -1, -1, main.position)
        result.threads.append(body)
        ThreadWalker(self, body).run_main(main)
        done = 0
        while done < len(self._creations):
            creation = self._creations[done]
            done += 1
            body = ThreadBody(
                creation.number,
                creation.function.name,
                creation.instruction,
                creation.parent,
                creation.position,
            )
            result.threads.append(body)
            ThreadWalker(self, body).run_thread(creation.function, creation.argument)
        for number in set(self._thread_numbers.values()) - {t.number for t in result.threads}:
            result.threads.append(ThreadBody(number, "", -1, -1, None))  # An earlier pass had it.
        result.threads.sort(key=lambda thread: thread.number)
        return result

    def check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise UnfoldingTimeout

    # --- what the walks ask ------------------------------------------------------------

    def order_of(self, function: Function) -> LoopOrder:
        self.check_time()
        found = self._orders.get(function.name)
        if found is None:
            found = self._orders[function.name] = LoopOrder(ControlFlow(function))
        return found

    def unwind_of(self, function: Function, head: int, latch: int) -> int:
        """How often to unroll a loop that depends on data; a line names it by its head's or its
        end's jump."""
        ends = (function.blocks[block].instructions[-1].position for block in (head, latch))
        lines = {position.line for position in ends if position is not None}
        for limit in self.limits.loops:
            if limit.function in (function.name, function.display):
                if limit.line is None or limit.line in lines:
                    return limit.unwind
        return self.limits.unwind

    def assume_once(self, text: str) -> None:
        if text not in self._assumed:
            self._assumed.add(text)
            self.result.assumptions.append(text)

    def is_thread_local(self, constant: Constant) -> bool:
        if not isinstance(constant, GlobalAddress):
            return False
        variable = self.program.globals.get(constant.name)
        return variable is not None and variable.is_thread_local

    def thread_local_address(self, constant: Constant, thread: int) -> Term:
        assert isinstance(constant, GlobalAddress)
        return self.space.pointer(self.space.thread_local(constant.name, thread), constant.offset)

    # --- threads ------------------------------------------------------------

    def create(
        self,
        key: str,
        function: Function,
        argument: Value | None,
        parent: int,
        instruction: Instruction,
    ) -> int | None:
        """Announces a thread; its number, or None if there are too many."""
        number = self._thread_numbers.get(key)
        if number is None:
            number = len(self._thread_numbers) + 1
            if number > self.limits.total_threads or self._is_crowded(instruction):
                return None
            self._thread_numbers[key] = number
            self._created_at[instruction.number] = self._created_at.get(instruction.number, 0) + 1
        if all(creation.number != number for creation in self._creations):
            self._creations.append(
                _Creation(
                    number,
                    key,
                    function,
                    argument,
                    parent,
                    instruction.number,
                    instruction.position,
                )
            )
        return number

    def _is_crowded(self, creation: Instruction) -> bool:
        most = self.limits.site_threads
        return most is not None and self._created_at.get(creation.number, 0) >= most

    def thread_numbers(self) -> list[int]:
        return list(self._thread_numbers.values())

    def notice_kinds_of_locks(self) -> None:
        """Not all mutexes are plain ones."""
        if not self.has_kinds_of_locks:
            self.has_kinds_of_locks = True
            self.sharing.has_grown = True

    def notice_trials(self) -> None:
        if not self.has_trials:
            self.has_trials = True
            self.sharing.has_grown = True

    def notice_timed_waits(self) -> None:
        if not self.has_timed_waits:
            self.has_timed_waits = True
            self.sharing.has_grown = True

    def control(self, what: str, thread: int) -> UnfoldObject:
        """A hidden variable of ours about a thread."""
        return self.space.make(
            ("control", what, thread), BaseKind.EXTERNAL, f"{what} {thread}", 8, is_defined=True
        )

    def publish(self, state: UnfoldState) -> None:
        """From here on other threads may look: what the memory holds now is where they start."""
        self._published.append(state.copy(state.guard))
        state.is_threaded = True
        for number, contents in state.memory.items():
            target = self.space.all[number]
            for offset, value in contents.items():
                self.sharing.stored(target, offset, self.sharing.targets(value))

    def initial_value(self, target: UnfoldObject, offset: int, size: int) -> Term:
        """What a range held when the first thread was created."""
        result: Term | None = None
        for state in self._published:
            value = state.read(target, offset, size)
            result = value if result is None else self.terms.ite(state.guard, value, result)
        if result is None:
            result = UnfoldState(self.terms).read(target, offset, size)
        return result

    def start_state(self) -> UnfoldState:
        """The memory that a new thread finds, where it is not shared."""
        state = UnfoldState(self.terms)
        if self._published:
            from raceproof.engines.bounded.state import merge

            state = merge(self._published, self.space.all)
            state = state.copy(self.terms.true)
            state.registers = {}
        state.is_threaded = True
        state.section = 0
        return state
