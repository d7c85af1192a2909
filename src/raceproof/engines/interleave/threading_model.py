"""The threading model (the layered paper's section 3.2): threads x locks x conditions, no data.

A configuration is where each thread stands, who holds which lock, who waits, which thread each
handle stands for. The rules over-approximate what a program can do:

- every branch may go either way; `Once` may run its routine or not;
- a lock whose address is not clear is not taken; releasing one releases any one lock of the thread,
  or none; locking again what one holds counts (a recursive mutex) or does not (an error-checking
  one);
- a trial (`trylock`, a time limit) may always fail;
- waiting for a condition gives the lock back and takes it again; a wake-up needs no signal, as
  POSIX allows (with `wakes_spuriously` off it needs one, as in the paper);
- semaphores and barriers hold no thread up;
- a join waits for its thread only if it is clear which one that is;
- a cancelled thread may end at a cancellation point, or go on.

**Any number of threads.** A created thread is *live* or *dormant*: a dormant one does nothing, and
joining it succeeds. At most `bound` live threads of one creation site exist at a time. With the
rules above no thread needs another one to get on, but for being created: locks are only ever
released by their holders (POSIX rules), and a join of a dormant thread does not wait. So take any
execution to a race and make all threads dormant but the two that race and those that created them,
their creators, and so on: it is still an execution. If no thread descends from its own creation
site, there are at most two of each site among these, one for each of the two racing threads. Hence
with a bound of two or more, no race in the model is no race with any number of threads
(`is_cut_off` says whether these conditions hold; else it is so "within k threads").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from raceproof.concurrency import events as ev
from raceproof.concurrency.model import LockMode
from raceproof.engines.interleave.model_state import (
    DORMANT,
    NOWHERE,
    ModelFrame,
    ModelState,
    ModelThread,
    added,
    handled,
    put,
    released,
    taken,
)
from raceproof.engines.interleave.objects import Thing
from raceproof.engines.interleave.skeleton import Key, ModelPlace, Points, is_trial
from raceproof.engines.interleave.stack_successors import StackSuccessors
from raceproof.ir import Return, Value
from raceproof.options import MutexRules


class ThreadingModel:
    """The transitions of one program, sliced to the points that matter."""

    def __init__(
        self,
        points: Points,
        bound: int,
        rules: MutexRules,
        *,
        wakes_spuriously: bool = True,
    ) -> None:
        self._skeleton = points.skeleton
        self._bound = bound
        self._rules = rules
        self._wakes_spuriously = wakes_spuriously
        self._doubtful = self._skeleton.doubtful_handles()
        self._stack_successors = StackSuccessors(points)
        self.was_cut = False
        """Whether a thread was kept dormant only because of the bound."""

    @property
    def is_cut_off(self) -> bool:
        """Whether the bound loses nothing, see above. What constructors start is not modelled."""
        if self._skeleton.program.constructors:
            return False
        if not self.was_cut:
            return True
        is_posix = self._rules is MutexRules.POSIX and self._wakes_spuriously
        return self._bound >= 2 and is_posix and not self._creates_its_own()

    def _creates_its_own(self) -> bool:
        """Whether a thread may descend from its own creation site."""
        skeleton = self._skeleton
        creates = skeleton.creates()
        inside: dict[int, set[int]] = {}
        for number, _ in creates:
            reaching = skeleton.reaching([number])
            for site, create in creates:
                if any(entry.name in reaching for entry in skeleton.entries(create)):
                    inside.setdefault(site, set()).add(number)
        for site in inside:
            work, seen = list(inside[site]), set(inside[site])
            while work:
                for below in inside.get(work.pop(), ()):
                    if below not in seen:
                        seen.add(below)
                        work.append(below)
            if site in seen:
                return True
        return False

    def start(self) -> Iterator[ModelState]:
        program = self._skeleton.program
        for stack in self._stack_successors.entered((), program.functions[program.entry], ()):
            yield ModelState((ModelThread(-1, stack),))

    # --- steps ------------------------------------------------------------

    def next(self, state: ModelState) -> Iterator[ModelState]:
        inside = [i for i, thread in enumerate(state.threads) if thread.atomic and thread.stack]
        for number in inside or range(len(state.threads)):
            if state.threads[number].stack:
                yield from self._steps(state, number)

    def _steps(self, state: ModelState, number: int) -> Iterator[ModelState]:
        thread = state.threads[number]
        if thread.waits is not None:
            yield from self._wake_up(state, number)
            return
        point = thread.point
        if point == NOWHERE:
            return
        instruction = self._skeleton.program.instruction(point)
        if isinstance(instruction, Return):
            yield from self._return(state, number)
            return
        if self._stack_successors.is_atomic_call(point):
            for function in self._skeleton.entered(point):
                keys = self._stack_successors.keys(thread.stack, point, function)
                for stack in self._stack_successors.entered(thread.stack, function, keys) or [
                    (ModelFrame(NOWHERE),)
                ]:
                    yield put(state, number, replace(thread, stack=stack, atomic=thread.atomic + 1))
            return
        event = self._skeleton.event(point)
        if event is None:
            yield from self._go_on(state, number)
            return
        if self._skeleton.is_unclear(point):
            yield from self._go_on(state, number)
        if number in state.cancelled and isinstance(
            event, ev.CancelPoint | ev.ThreadJoin | ev.ConditionWait
        ):
            yield put(state, number, replace(thread, stack=()))
        yield from self._do(state, number, event)

    def _do(self, state: ModelState, number: int, event: ev.Event) -> Iterator[ModelState]:
        match event:
            case ev.ThreadCreate():
                yield from self._create(state, number, event)
            case ev.ThreadJoin():
                target = self._target(state, number, event.thread, event.is_indirect)
                if is_trial(event) or target is None or not state.threads[target].stack:
                    yield from self._go_on(state, number)
            case ev.ThreadExit():
                yield put(state, number, replace(state.threads[number], stack=()))
            case ev.ThreadCancel():
                target = self._target(state, number, event.thread, event.is_indirect)
                all_of_them = range(len(state.threads)) if target is None else [target]
                state = replace(state, cancelled=state.cancelled | set(all_of_them))
                yield from self._go_on(state, number)
            case ev.LockAcquire():
                yield from self._acquire(state, number, event)
            case ev.LockRelease():
                key = self._stack_successors.key(
                    state, number, None if event.is_indirect else self._place(event)
                )
                for after in released(state, number, key, self._rules):
                    yield from self._go_on(after, number)
            case ev.ConditionWait():
                yield from self._wait(state, number, event)
            case ev.ConditionSignal():
                yield from self._signal(state, number, event)
            case ev.AtomicBegin():
                thread = state.threads[number]
                state = put(state, number, replace(thread, atomic=thread.atomic + 1))
                yield from self._go_on(state, number)
            case ev.AtomicEnd():
                thread = state.threads[number]
                state = put(state, number, replace(thread, atomic=max(0, thread.atomic - 1)))
                yield from self._go_on(state, number)
            case _:
                yield from self._go_on(state, number)

    def _place(self, event: ev.LockAcquire | ev.LockRelease) -> ModelPlace | None:
        return self._skeleton.place(event.lock)

    def _go_on(
        self, state: ModelState, number: int, blocks: list[int] | None = None
    ) -> Iterator[ModelState]:
        thread = state.threads[number]
        for stack in self._stack_successors.stepped(thread.stack, blocks):
            yield put(state, number, replace(thread, stack=stack))

    def _return(self, state: ModelState, number: int) -> Iterator[ModelState]:
        thread = state.threads[number]
        if len(thread.stack) > 1:  # of an atomic function
            below = thread.stack[:-1]
            for stack in self._stack_successors.stepped(below):
                yield put(state, number, replace(thread, stack=stack, atomic=thread.atomic - 1))
        elif number:
            yield put(state, number, replace(thread, stack=()))
        # the end of `main` ends everything: no race comes after it

    # --- threads ------------------------------------------------------------

    def _create(
        self, state: ModelState, number: int, event: ev.ThreadCreate
    ) -> Iterator[ModelState]:
        site = event.call.number
        pointer = event.id_pointer
        handle = (
            None
            if pointer is None
            else self._stack_successors.key(state, number, self._skeleton.place(pointer))
        )
        if handle is None and pointer is not None:
            state = self._forget_handles(state, pointer)
        yield from self._go_on(handled(state, handle, DORMANT), number)
        live = sum(thread.site == site and bool(thread.stack) for thread in state.threads)
        if live >= self._bound:
            self.was_cut = True
            return
        argument = event.argument
        key = (
            None
            if argument is None
            else self._stack_successors.key(state, number, self._skeleton.place(argument))
        )
        for entry in self._skeleton.entries(event):
            for stack in self._stack_successors.entered((), entry, (key,)):
                after, index = added(state, ModelThread(site, stack))
                after = handled(after, handle, index)
                after = replace(
                    after, cancelled=after.cancelled - {index}, woken=after.woken - {index}
                )
                yield from self._go_on(after, number)

    def _target(
        self, state: ModelState, number: int, value: Value, is_indirect: bool
    ) -> int | None:
        """The thread that an id stands for; None if that is not clear, or it is dormant."""
        place = self._skeleton.handle(value, is_indirect)
        key = self._stack_successors.key(state, number, place)
        if key is None or self._is_doubtful(key):
            return None
        found = [thread for held, thread in state.handles if held == key]
        return found[0] if found and found[0] != DORMANT else None

    def _forget_handles(self, state: ModelState, pointer: Value) -> ModelState:
        """Something was written to one of them: who knows which."""
        things = set(self._skeleton.objects.of(pointer))
        if not things:
            return replace(state, handles=frozenset())
        kept = frozenset(item for item in state.handles if _thing(item[0]) not in things)
        return replace(state, handles=kept)

    def _is_doubtful(self, key: Key) -> bool:
        return _thing(key) in self._doubtful

    # --- locks ------------------------------------------------------------

    def _acquire(
        self, state: ModelState, number: int, event: ev.LockAcquire
    ) -> Iterator[ModelState]:
        key = self._stack_successors.key(
            state, number, None if event.is_indirect else self._place(event)
        )
        reads = event.mode is LockMode.READ
        trial = self._skeleton.after_trial(event.call.number)
        succeeded, failed = (None, None) if trial is None else trial
        for after in taken(state, number, key, reads):
            yield from self._go_on(after, number, succeeded)
        if is_trial(event):
            yield from self._go_on(state, number, failed)

    # --- conditions ------------------------------------------------------------

    def _wait(
        self, state: ModelState, number: int, event: ev.ConditionWait
    ) -> Iterator[ModelState]:
        lock = self._stack_successors.key(
            state, number, None if event.is_indirect else self._skeleton.place(event.lock)
        )
        condition = self._stack_successors.key(state, number, self._skeleton.place(event.condition))
        for after in released(state, number, lock, self._rules):
            thread = replace(after.threads[number], waits=(condition, lock))
            yield put(replace(after, woken=after.woken - {number}), number, thread)

    def _wake_up(self, state: ModelState, number: int) -> Iterator[ModelState]:
        thread = state.threads[number]
        assert thread.waits is not None
        if number in state.cancelled:
            yield put(state, number, replace(thread, stack=(), waits=None))
        event = self._skeleton.event(thread.point)
        needs_signal = not (self._wakes_spuriously or (event is not None and is_trial(event)))
        if needs_signal and number not in state.woken:
            return
        awake = put(state, number, replace(thread, waits=None))
        awake = replace(awake, woken=awake.woken - {number})
        for after in taken(awake, number, thread.waits[1], False):
            yield from self._go_on(after, number)

    def _signal(
        self, state: ModelState, number: int, event: ev.ConditionSignal
    ) -> Iterator[ModelState]:
        key = self._stack_successors.key(state, number, self._skeleton.place(event.condition))
        waiting = {
            index
            for index, thread in enumerate(state.threads)
            if thread.waits is not None and (key is None or thread.waits[0] in (key, None))
        }
        if self._wakes_spuriously or not waiting:
            yield from self._go_on(state, number)
        elif event.broadcast:
            yield from self._go_on(replace(state, woken=state.woken | waiting), number)
        else:
            for index in sorted(waiting):
                yield from self._go_on(replace(state, woken=state.woken | {index}), number)


def _thing(key: Key) -> Thing:
    """The object that an exact address is in."""
    return ("slot" if key[0].startswith("slot") else "global", key[1])
