"""What a call means to an outline: the events of the function's model, or a plain call.

Conditions, barriers and semaphores leave a `wait` and a `post`: what happened before a post and
after the wait for it is ordered, which the race check takes as a doubt. `pthread_once` is a lock
held for writing by the routine and, from then on, for reading by everyone who called it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

from raceproof.concurrency import events
from raceproof.concurrency.effects import Product, Size
from raceproof.concurrency.meaning import event as event_of
from raceproof.concurrency.model import (
    AtomicOperationKind,
    CallbackTime,
    CallbackValue,
    LockMode,
    ReturnKind,
    Wait,
)
from raceproof.engines.summary.handlers import handler_events
from raceproof.engines.summary.outline import ATOMIC
from raceproof.engines.summary.terms import UNKNOWN, Terms, dereference, shift
from raceproof.ir import Call, IntConstant, Value

if TYPE_CHECKING:
    from raceproof.engines.summary.extract import Extractor


def call_events(extractor: Extractor, call: Call) -> None:
    """Appends what the call does."""
    event = event_of(call, extractor.program, extractor.models)
    if event is None:
        _plain_call(extractor, call)
        return
    for effect in event.effects:
        size = effect.constant_size
        if isinstance(effect.size, Value):
            size = extractor.size_of(effect.size)
        extractor.access(
            call, effect.pointer, size, writes=effect.is_write, atomic=effect.is_atomic
        )
    handler = _HANDLERS.get(type(event))
    if handler is not None:
        handler(extractor, call, event)
    _callbacks(extractor, call, event)
    if event.model.callbacks or event.model.runs:
        handler_events(extractor, call, event.model)
    _result(extractor, call, event)
    if event.no_return or call.no_return:
        extractor.events.append(("exit", extractor.place(call)))


def _plain_call(extractor: Extractor, call: Call) -> None:
    callees = extractor.terms(call.callee)
    arguments = tuple(extractor.terms(argument) for argument in call.arguments)
    extractor.events.append(("call", extractor.place(call), callees, arguments))
    if call.no_return:
        extractor.events.append(("exit", extractor.place(call)))


def _callbacks(extractor: Extractor, call: Call, event: events.Event) -> None:
    for callback in event.callbacks:
        if callback.time is not CallbackTime.NOW:
            continue
        arguments = []
        for operand in callback.arguments:
            terms: Terms = (UNKNOWN,)
            if operand.value is not None:
                terms = extractor.terms(operand.value)
                if operand.how is CallbackValue.INTO:
                    terms = tuple(shift(term, 0, 1) for term in terms)
                elif operand.how is CallbackValue.POINTEE:
                    terms = tuple(dereference(term) for term in terms)
            arguments.append(terms)
        extractor.events.append(
            ("call", extractor.place(call), extractor.terms(callback.function), tuple(arguments))
        )


def _result(extractor: Extractor, call: Call, event: events.Event) -> None:
    if call.result is None:
        return
    number = extractor.place(call)
    returned = event.returned
    if returned is not None:
        terms = extractor.terms(returned)
        if event.returns.kind is ReturnKind.INTO:
            terms = tuple(shift(term, 0, 1) for term in terms)
        extractor.events.append(("result", number, terms))
    elif event.returns.kind is ReturnKind.FRESH:
        _fresh(extractor, call)
    elif event.returns.kind is ReturnKind.STATIC:
        term = (("g", f"${event.returns.name}"), 0, 0, ())
        extractor.events.append(("result", number, (term,)))


def _fresh(extractor: Extractor, call: Call, size: int = 0) -> None:
    number = extractor.place(call)
    term = (("h", extractor.name, number, ()), 0, 0, ())
    extractor.allocations[number] = (extractor.heap_type(call), size)
    extractor.events.append(("fresh", number))
    extractor.events.append(("result", number, (term,)))


def _indirect(extractor: Extractor, value: Value, is_indirect: bool) -> Terms:
    terms = extractor.terms(value)
    return tuple(dereference(term) for term in terms) if is_indirect else terms


def _create(extractor: Extractor, call: Call, event: events.ThreadCreate) -> None:
    number = extractor.place(call)
    handles: Terms = ()
    if event.id_pointer is not None:
        handles = extractor.terms(event.id_pointer)
    arguments = () if event.argument is None else extractor.terms(event.argument)
    entries = extractor.terms(event.entry)
    extractor.events.append(("create", number, handles, entries, arguments))
    if event.id_is_result and call.result is not None:
        term = (("t", extractor.name, number, ()), 0, 0, ())
        extractor.events.append(("result", number, (term,)))


def _join(extractor: Extractor, call: Call, event: events.ThreadJoin) -> None:
    if event.wait is Wait.BLOCK:
        handles = _indirect(extractor, event.thread, event.is_indirect)
        extractor.events.append(("join", extractor.place(call), handles))


def _exit(extractor: Extractor, call: Call, event: events.Event) -> None:
    extractor.events.append(("exit", extractor.place(call)))


def _lock(extractor: Extractor, call: Call, event: events.LockAcquire) -> None:
    locks = _indirect(extractor, event.lock, event.is_indirect)
    success = "always" if event.wait is Wait.BLOCK else str(event.success)
    mode = "read" if event.mode is LockMode.READ else "write"
    extractor.events.append(("lock", extractor.place(call), locks, mode, success))


def _unlock(extractor: Extractor, call: Call, event: events.LockRelease) -> None:
    locks = _indirect(extractor, event.lock, event.is_indirect)
    extractor.events.append(("unlock", extractor.place(call), locks))


def _wait_condition(extractor: Extractor, call: Call, event: events.ConditionWait) -> None:
    extractor.events.append(("wait", extractor.place(call), extractor.terms(event.condition)))


def _signal(extractor: Extractor, call: Call, event: events.ConditionSignal) -> None:
    extractor.events.append(("post", extractor.place(call), extractor.terms(event.condition)))


def _barrier(extractor: Extractor, call: Call, event: events.BarrierWait) -> None:
    barrier = extractor.terms(event.barrier)
    extractor.events.append(("post", extractor.place(call), barrier))
    extractor.events.append(("wait", extractor.place(call), barrier))


def _wait_semaphore(extractor: Extractor, call: Call, event: events.SemaphoreWait) -> None:
    extractor.events.append(("wait", extractor.place(call), extractor.terms(event.semaphore)))


def _post(extractor: Extractor, call: Call, event: events.SemaphorePost) -> None:
    extractor.events.append(("post", extractor.place(call), extractor.terms(event.semaphore)))


def _once(extractor: Extractor, call: Call, event: events.Once) -> None:
    number = extractor.place(call)
    control = extractor.terms(event.control)
    arguments = () if event.argument is None else (extractor.terms(event.argument),)
    extractor.events += [
        ("lock", number, control, "write", "always"),
        ("call", number, extractor.terms(event.routine), arguments),
        ("unlock", number, control),
        ("lock", number, control, "read", "always"),
    ]


def _once_begin(extractor: Extractor, call: Call, event: events.OnceBegin) -> None:
    control = extractor.terms(event.control)
    extractor.events.append(("lock", extractor.place(call), control, "write", "always"))


def _once_end(extractor: Extractor, call: Call, event: events.OnceEnd) -> None:
    control = extractor.terms(event.control)
    number = extractor.place(call)
    extractor.events.append(("unlock", number, control))
    extractor.events.append(("lock", number, control, "read", "always"))


def _begin(extractor: Extractor, call: Call, event: events.Event) -> None:
    extractor.events.append(("lock", extractor.place(call), (ATOMIC,), "write", "always"))


def _end(extractor: Extractor, call: Call, event: events.Event) -> None:
    extractor.events.append(("unlock", extractor.place(call), (ATOMIC,)))


def _atomic_function(extractor: Extractor, call: Call, event: events.Event) -> None:
    _begin(extractor, call, event)
    _plain_call(extractor, call)
    _end(extractor, call, event)


def _atomic(extractor: Extractor, call: Call, event: events.AtomicOperation) -> None:
    if event.operation is not AtomicOperationKind.LOAD and event.value is not None:
        extractor.store(call, extractor.terms(event.pointer), extractor.terms(event.value))


def _allocate(extractor: Extractor, call: Call, event: events.Allocate) -> None:
    _fresh(extractor, call, _constant_size(event.size))
    if event.pointer_to is not None:
        term = (("h", extractor.name, extractor.place(call), ()), 0, 0, ())
        extractor.store(call, extractor.terms(event.pointer_to), (term,))


def _constant_size(size: Size) -> int:
    """How many bytes, if the call says so; else 0."""
    if isinstance(size, int):
        return size
    if isinstance(size, IntConstant):
        return size.value
    if isinstance(size, Product):
        return size.scale * prod(_constant_size(factor) for factor in size.factors)
    return 0


def _reallocate(extractor: Extractor, call: Call, event: events.Reallocate) -> None:
    number = extractor.place(call)
    _fresh(extractor, call, _constant_size(event.size))
    fresh = (("h", extractor.name, number, ()), 0, 0, ())
    old = extractor.terms(event.pointer)
    extractor.copy(call, (fresh,), old, None)


_HANDLERS: dict[type[events.Event], Callable[..., Any]] = {
    events.ThreadCreate: _create,
    events.ThreadJoin: _join,
    events.ThreadExit: _exit,
    events.ProcessExit: _exit,
    events.LockAcquire: _lock,
    events.LockRelease: _unlock,
    events.ConditionWait: _wait_condition,
    events.ConditionSignal: _signal,
    events.BarrierWait: _barrier,
    events.SemaphoreWait: _wait_semaphore,
    events.SemaphorePost: _post,
    events.Once: _once,
    events.OnceBegin: _once_begin,
    events.OnceEnd: _once_end,
    events.AtomicBegin: _begin,
    events.AtomicEnd: _end,
    events.AtomicFunction: _atomic_function,
    events.AtomicOperation: _atomic,
    events.Allocate: _allocate,
    events.Reallocate: _reallocate,
}
