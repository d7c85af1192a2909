"""Code that runs when a thread or the process ends, or when a signal arrives.

    pthread_key_create(&key, destroy);   pthread_cleanup_push(undo, p);   atexit(bye);

Such functions were handed over long before. They are kept, with all arguments they may get, and run
at every place where a thread ends (destructors of thread-specific data, cleanup routines) or where
the process does (`exit`, the end of `main`), in the state there: other threads may still be
running. A signal handler is interpreted as a thread of its own that starts at its registration, so
that all others see what it writes; its own accesses are not paired with others (an assumption).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.analysis.state import ThreadState
from raceproof.analysis.transfer import scalar
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import CallbackTime
from raceproof.domains import integers as ints
from raceproof.domains import values as domain
from raceproof.domains.values import AbstractValue
from raceproof.ir import Call, Value

if TYPE_CHECKING:
    from raceproof.analysis.calls import Calls
    from raceproof.analysis.interpreter import Activation, Interpreter
    from raceproof.analysis.thread_modular import Analysis

Arguments = tuple[AbstractValue, ...]


class Endings:
    """What was handed over, in the whole program."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.destructors: set[str] = set()
        """Of thread-specific data."""
        self.at_thread_end: dict[int, dict[str, Arguments]] = {}
        self.at_process_end: dict[str, Arguments] = {}

    def add_destructors(self, names: set[str]) -> None:
        if not names <= self.destructors:
            self.destructors |= names
            self.analysis.threads.version += 1

    def add(self, thread: int | None, name: str, arguments: Arguments) -> None:
        """The function runs when the thread (None: the process) ends."""
        table = self.at_process_end
        if thread is not None:
            table = self.at_thread_end.setdefault(thread, {})
        old = table.get(name)
        new = arguments
        if old is not None:
            new = tuple(domain.join(a, b) for a, b in zip(old, arguments, strict=False))
        if old is None or any(a is not b for a, b in zip(old, new, strict=True)):
            table[name] = new
            self.analysis.threads.version += 1

    # --- running it ------------------------------------------------------------

    def after_thread(self, run: Interpreter, state: ThreadState) -> ThreadState:
        """The state when all that runs at the end of the thread has run, or not."""
        pending: dict[str, Arguments] = dict(self.at_thread_end.get(run.thread, {}))
        if self.destructors:
            base = self.analysis.objects.library_object("thread-specific data", run.thread)
            bits = run.calls.memory.bits
            value = state.memory.read(base, ints.constant(0, bits), bits // 8)
            for name in self.destructors:
                if value.pointers or value.integers is not None or value.is_unknown:
                    pending[name] = (value,)
        return self._run(run, pending, state)

    def after_process(self, run: Interpreter, state: ThreadState) -> None:
        self._run(run, self.at_process_end, state)

    def _run(
        self, run: Interpreter, pending: dict[str, Arguments], state: ThreadState
    ) -> ThreadState:
        from raceproof.analysis.state import join_states

        for name in sorted(pending):
            function = self.analysis.program.functions.get(name)
            if function is None or not function.is_defined:
                continue
            context = self.analysis.contexts.root(run.thread, name, is_capped=True)
            missing = len(function.parameters) - len(pending[name])
            given = pending[name] + (self.analysis.external_pointer,) * max(0, missing)
            for left, _ in run.run(function, given[: len(function.parameters)], {}, state, context):
                left.registers = state.registers
                state = join_states(state, left).copy()
        return state


class EndingEvents:
    """The calls that hand functions over."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.run = calls.run
        self.analysis = calls.analysis

    def handlers(self) -> dict[type[ev.Event], Any]:
        return {
            ev.SpecificCreate: self._specific_create,
            ev.CleanupPush: self._push,
            ev.CleanupPop: self._pop,
        }

    def _names(self, act: Activation, state: ThreadState, function: Value) -> set[str]:
        target = scalar(self.run.value(act, state, function))
        return {
            name
            for base in target.pointers
            if (name := self.analysis.objects[base].function) is not None
        }

    def _specific_create(
        self, act: Activation, call: Call, event: ev.SpecificCreate, state: ThreadState
    ) -> list[ThreadState]:
        if event.destructor is not None:
            self.analysis.endings.add_destructors(self._names(act, state, event.destructor))
        return self.calls.library.plain(act, call, event, state)

    def _push(
        self, act: Activation, call: Call, event: ev.CleanupPush, state: ThreadState
    ) -> list[ThreadState]:
        arguments: Arguments = ()
        if event.argument is not None:
            arguments = (scalar(self.run.value(act, state, event.argument)),)
        for name in self._names(act, state, event.routine):
            self.analysis.endings.add(self.run.thread, name, arguments)
        return self.calls.library.plain(act, call, event, state)

    def _pop(
        self, act: Activation, call: Call, event: ev.CleanupPop, state: ThreadState
    ) -> list[ThreadState]:
        execute = scalar(self.run.value(act, state, event.execute))
        if execute.constant != 0:
            state = self.analysis.endings.after_thread(self.run, state)
        return self.calls.library.plain(act, call, event, state)

    def later(
        self,
        act: Activation,
        call: Call,
        callback: ev.Callback,
        arguments: Arguments,
        state: ThreadState,
    ) -> None:
        """A function that is called some time after this call."""
        for name in sorted(self._names(act, state, callback.function)):
            if callback.time is CallbackTime.SIGNAL:
                self.analysis.records.assume("signal handlers do not race with the rest")
                value = arguments[0] if arguments else domain.any_integer(32)
                self.calls.threads.start_handler(act, call, name, value, state)
            else:
                is_thread = callback.time is CallbackTime.THREAD_EXIT
                thread = self.run.thread if is_thread else None
                self.analysis.endings.add(thread, name, arguments)
