"""Creation, joining and ending of threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.analysis.facets.facet import Creation
from raceproof.analysis.state import ThreadState
from raceproof.analysis.transfer import scalar
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import Success, Wait
from raceproof.domains import values as domain
from raceproof.domains.values import AbstractValue
from raceproof.ir import Call, Value

if TYPE_CHECKING:
    from raceproof.analysis.calls import Calls
    from raceproof.analysis.interpreter import Activation


UNRESOLVED = "the start of a thread whose entry is not known"


def without_body(entry: str) -> str:
    return f"the start of a thread with `{entry}`, which has no body"


class ThreadEvents:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.run = calls.run
        self.analysis = calls.analysis
        self.threads = calls.analysis.threads

    def handlers(self) -> dict[type[ev.Event], Any]:
        return {
            ev.ThreadCreate: self._create,
            ev.ThreadJoin: self._join,
            ev.ThreadDetach: self._detach,
            ev.ThreadExit: self._exit,
            ev.ProcessExit: self._end,
            ev.ThreadSelf: self._self,
            ev.ThreadCancel: self._cancel,
        }

    # --- creation ------------------------------------------------------------

    def _create(
        self, act: Activation, call: Call, event: ev.ThreadCreate, state: ThreadState
    ) -> list[ThreadState]:
        memory = self.calls.memory
        entry = scalar(self.run.value(act, state, event.entry))
        argument = domain.constant(0, memory.bits)
        if event.argument is not None:
            argument = scalar(self.run.value(act, state, event.argument))
        if event.virtual_slot is not None:
            entry, argument = self._virtual(entry, event.virtual_slot, state)
        names = sorted(
            name
            for base in entry.pointers
            if (name := self.analysis.objects[base].function) is not None
        )
        if entry.is_unknown or not names:
            self.analysis.records.not_followed(UNRESOLVED, call.number)
        for name in names:
            if not self.analysis.program.functions[name].is_defined:
                self.analysis.records.not_followed(without_body(name), call.number)
        ids = domain.BOTTOM
        before = state.facets.may_parallel
        known, create_loop = state.pools, None
        given = None
        if self.run.own is not None:
            given = self.run.own.given(act, state, event.argument)
        if event.id_pointer is not None:
            self._record_id(act, call, event.id_pointer, state)
            if self.run.pools is not None:
                create_loop = self.run.pools.create_loop(act, state, event.id_pointer, given)
        for name in names:
            ids = domain.join(ids, self._start(act, call, name, argument, state, before))
        created = self._threads_of(ids)
        if ids.is_bottom:
            ids = domain.any_integer(memory.bits)
        address = None
        if event.id_pointer is not None:
            address = memory.address(act, state, event.id_pointer)
            memory.write(state, address, 0, memory.bits // 8, ids)
        if self.run.pools is not None:
            self.run.pools.created(state, known, before, created, create_loop, address)
        if self.run.own is not None:
            infos = [info for info in self.threads.all if created >> info.index & 1]
            self.run.own.handed(state, known, before, infos, given)
        self.analysis.hand_over(argument)
        memory.publish(state, argument)
        result = ids if event.id_is_result else domain.constant(0, 32)
        self.calls.result(act, call, state, result if call.result is not None else None)
        return [state]

    def _virtual(
        self, holder: AbstractValue, slot: int, state: ThreadState
    ) -> tuple[AbstractValue, AbstractValue]:
        """The virtual function of an object whose address is held somewhere, and the object."""
        memory = self.calls.memory
        size = memory.bits // 8
        made = memory.read(state, holder, 0, size, memory.bits)
        table = memory.read(state, made, 0, size, memory.bits)
        return memory.read(state, table, slot * size, size, memory.bits), made

    def _start(
        self,
        act: Activation,
        call: Call,
        name: str,
        argument: AbstractValue,
        state: ThreadState,
        before: int,
        is_handler: bool = False,
    ) -> AbstractValue:
        """One thread that is created; returns its id."""
        threads = self.threads
        creator = threads[self.run.thread]
        site = self.analysis.contexts.enter(
            act.context, call.number, act.counters, name, act.is_capped
        )
        info = threads.find(self.run.thread, site, call.number, name)
        creator.consulted |= info.bit
        info.is_handler = info.is_handler or is_handler
        if info.parent != creator.index:
            threads.adopted(info)
        if info is creator or before & info.bit or not creator.is_unique:
            threads.not_unique(info)
        is_repeated = site.is_capped or self.run.is_repeated(act)
        threads.created(info, before, is_repeated, state.facets.may_lockset)
        family = info.bit | info.children
        others = before | creator.bit
        if info.is_unique:
            threads.together(info, others & ~info.bit)
        else:
            threads.together(info, others | info.bit)
        for child in threads.all:
            if info.children >> child.index & 1:
                threads.together(child, others)
        if not is_handler:
            self.threads.sure_together(info, state.facets.must_parallel | creator.bit)
        state.facets = state.facets.create(Creation(info.index, family, not is_handler))
        self.run.creates(info, argument, state)
        base = self.analysis.objects.thread_id(info.index, name)
        return domain.address(base, 0, self.calls.memory.bits)

    def start_handler(
        self, act: Activation, call: Call, name: str, argument: AbstractValue, state: ThreadState
    ) -> None:
        """A signal handler: from here on it may run at any time."""
        self._start(act, call, name, argument, state, state.facets.may_parallel, is_handler=True)

    def _record_id(self, act: Activation, call: Call, pointer: Value, state: ThreadState) -> None:
        """The id is written before the new thread runs."""
        memory = self.calls.memory
        address = memory.address(act, state, pointer)
        memory.record(act, call, state, pointer, address, memory.bits // 8, True, False)

    # --- joining ------------------------------------------------------------

    def _join(
        self, act: Activation, call: Call, event: ev.ThreadJoin, state: ThreadState
    ) -> list[ThreadState]:
        memory = self.calls.memory
        value = scalar(self.run.value(act, state, event.thread))
        if event.is_indirect:
            value = memory.read(state, value, 0, memory.bits // 8, memory.bits)
        is_certain = event.wait is Wait.BLOCK and event.success in (Success.ALWAYS, Success.ZERO)
        joined = self._only_thread(value) if is_certain else None
        self._note_waiting(value, state)
        if joined is not None:
            info = self.threads[joined]
            is_other = joined != self.run.thread
            if info.left is None and info.runs and is_other:
                if not self.analysis.is_cancelled(joined):
                    return []
            if info.is_unique and is_other:
                info.joins[call.number] = None
                self._gone(state, joined)
        if event.result_pointer is not None:
            self._store_result(act, call, event, state, value)
        if is_certain and self.run.pools is not None:
            self.run.pools.waited(act, state, event.thread, event.is_indirect)
        width = self.run.evaluator.width(call.result.type) if call.result is not None else None
        is_zero = is_certain and not self._may_be_own(value)
        zero = domain.constant(0, width) if width is not None and is_zero else None
        self.calls.result(act, call, state, zero)
        return [state]

    def _only_thread(self, value: AbstractValue) -> int | None:
        """The thread that an id stands for, if it is clear. Joining what was never created is
        undefined, so numbers and uninitialised ids don't count."""
        place = value.pointers_only().only_address
        return None if place is None else self.analysis.objects.thread_ids.get(place[0])

    def _may_be_own(self, value: AbstractValue) -> bool:
        """Whether an id may be the thread's own: then the call may fail (EDEADLK)."""
        ids = self.analysis.objects.thread_ids
        return any(ids.get(base, self.run.thread) == self.run.thread for base in value.pointers)

    def _note_waiting(self, value: AbstractValue, state: ThreadState) -> None:
        """This thread waits for those; when it has ended, they may have too."""
        me = self.threads[self.run.thread]
        ids = self.analysis.objects.thread_ids
        waited = [self.threads[ids[base]] for base in value.pointers if base in ids]
        if len(waited) != len(value.pointers) or not waited:
            waited = self.threads.all
            me.consulted = -1
        before = me.waits_for
        for info in waited:
            me.consulted |= info.bit
            me.waits_for |= info.bit | info.waits_for
            state.facets = state.facets.may_have_ended(info.bit | info.waits_for)
        if me.waits_for != before:
            me.ends_anew()

    def _gone(self, state: ThreadState, thread: int) -> None:
        """The thread has ended, and those of its children that it waited for."""
        info = self.threads[thread]
        self.threads[self.run.thread].consulted |= info.bit
        left = info.children if self.analysis.is_cancelled(thread) else info.left or 0
        gone = info.bit | (info.children & ~left)
        ended = gone & state.facets.may_parallel
        state.facets = state.facets.ended(gone)
        self.calls.memory.absorb(state, ended)

    def none_left(self, state: ThreadState, threads: int) -> None:
        """All instances of these threads that this one knows of have been waited for."""
        for info in self.threads.all:
            if threads >> info.index & 1 and not (info.is_adopted or info.is_detached):
                self._gone(state, info.index)

    def _threads_of(self, ids: AbstractValue) -> int:
        """Bit set of the threads that ids stand for."""
        known = self.analysis.objects.thread_ids
        found = 0
        for base in ids.pointers:
            if base in known:
                found |= self.threads[known[base]].bit
        return found

    def _detach(
        self, act: Activation, call: Call, event: ev.ThreadDetach, state: ThreadState
    ) -> list[ThreadState]:
        """Whoever waits for the thread later may not wait at all."""
        value = scalar(self.run.value(act, state, event.thread))
        if event.is_indirect:
            memory = self.calls.memory
            value = memory.read(state, value, 0, memory.bits // 8, memory.bits)
        ids = self._threads_of(value)
        for info in self.threads.all:
            if value.is_unknown or not ids or ids >> info.index & 1:
                self.threads.detached(info)
        return self.calls.library.plain(act, call, event, state)

    def _store_result(
        self,
        act: Activation,
        call: Call,
        event: ev.ThreadJoin,
        state: ThreadState,
        value: AbstractValue,
    ) -> None:
        assert event.result_pointer is not None
        memory = self.calls.memory
        address = memory.address(act, state, event.result_pointer)
        if not address.pointers:
            return
        result = domain.BOTTOM
        for base in value.pointers:
            thread = self.analysis.objects.thread_ids.get(base)
            if thread is not None and self.threads[thread].result is not None:
                found = self.threads[thread].result
                assert found is not None
                result = domain.join(result, found)
        if result.is_bottom:
            result = self.analysis.external_pointer
        if self.analysis.cancelled or value.integers is not None:
            result = domain.join(result, domain.any_integer(memory.bits))
        size = self.analysis.program.layout.pointer_size
        memory.record(act, call, state, event.result_pointer, address, size, True, False)
        memory.write(state, address, 0, size, result)

    # --- ending ------------------------------------------------------------

    def _cancel(
        self, act: Activation, call: Call, event: ev.ThreadCancel, state: ThreadState
    ) -> list[ThreadState]:
        """The thread may end wherever it is, leaving all its children running."""
        memory = self.calls.memory
        value = scalar(self.run.value(act, state, event.thread))
        if event.is_indirect:
            value = memory.read(state, value, 0, memory.bits // 8, memory.bits)
        ids = self.analysis.objects.thread_ids
        found = {ids[base] for base in value.pointers if base in ids}
        if value.is_unknown or not found:
            found = {info.index for info in self.threads.all}
        self.analysis.cancel(found)
        return self.calls.library.plain(act, call, event, state)

    def _exit(
        self, act: Activation, call: Call, event: ev.ThreadExit, state: ThreadState
    ) -> list[ThreadState]:
        value = None if event.value is None else scalar(self.run.value(act, state, event.value))
        state = self.analysis.endings.after_thread(self.run, state)
        self.analysis.thread_ended(self.run.thread, state, value)
        return []

    def _end(
        self, act: Activation, call: Call, event: ev.ProcessExit, state: ThreadState
    ) -> list[ThreadState]:
        if event.status is not None:
            self.analysis.endings.after_process(self.run, state)
        return []

    def _self(
        self, act: Activation, call: Call, event: ev.ThreadSelf, state: ThreadState
    ) -> list[ThreadState]:
        info = self.threads[self.run.thread]
        base = self.analysis.objects.thread_id(info.index, info.entry)
        self.calls.result(act, call, state, domain.address(base, 0, self.calls.memory.bits))
        return [state]
