"""Locks, conditions, barriers, semaphores, once and atomic sections, as C statements."""

from __future__ import annotations

from collections.abc import Callable

from raceproof.concurrency.model import LockKind, LockMode, Role, Wait
from raceproof.ir import FunctionAddress
from raceproof.sequentialize.calls import enter
from raceproof.sequentialize.operation import Operation

# --- locks ------------------------------------------------------------


def _lock(o: Operation) -> None:
    found = o.find("LOCK", "lock")
    is_blocking = o.model.wait is Wait.BLOCK
    error = o.writer.field("error", "unsigned")
    if o.model.kind is LockKind.READ_WRITE:
        reads = int(o.model.mode is LockMode.READ)
        o.step(f"lock_is_free_shared({found}, {reads})" if is_blocking else "")
        o.writer.line(f"{error} = lock_take_shared(t, {found}, {reads});")
    else:
        recursive = int(o.model.recursive)
        o.step(f"lock_is_free(t, {found}, {recursive})" if is_blocking else "")
        o.writer.line(f"{error} = lock_take(t, {found}, {recursive});")
    o.succeed(f"{error} == 0", error)


def _unlock(o: Operation) -> None:
    o.step()
    o.returns(f"lock_release(t, {o.find('LOCK', 'lock')})")


def _type_by_rule(o: Operation, otherwise: str) -> str:
    rule = o.model.recursive_when
    if rule is not None and rule.argument < len(o.call.arguments):
        value = o.frame.value(o.call.arguments[rule.argument])
        return f"({value} & {rule.mask & 0xFFFFFFFF}u) == {rule.equals}u ? RECURSIVE : {otherwise}"
    return "RECURSIVE" if o.model.recursive else ""


def _lock_init(o: Operation) -> None:
    o.step()
    attribute = o.optional("attribute")
    type_ = _type_by_rule(o, "NORMAL")
    if not type_:
        type_ = f"attribute_type({attribute})" if attribute else "NORMAL"
    o.writer.line(f"lock_initialise({o.find('LOCK', 'lock')}, {type_});")
    o.returns("0")


def _lock_attribute(o: Operation) -> None:
    otherwise = "NORMAL"
    rule = o.model.recursive_when
    if rule is not None and rule.argument < len(o.call.arguments):
        if o.name == "pthread_mutexattr_settype":
            value = o.frame.value(o.call.arguments[rule.argument])
            otherwise = f"{value} == 2 ? CHECKING : NORMAL"
    type_ = _type_by_rule(o, otherwise) or "NORMAL"
    o.writer.line(f"{o.find('ATTRIBUTE', 'attribute')}->type = {type_};")
    o.returns("0")


def _lock_destroy(o: Operation) -> None:
    o.step()
    o.writer.line(f"lock_initialise({o.find('LOCK', 'lock')}, 0);")
    o.returns("0")


# --- conditions, barriers, semaphores ------------------------------------------------------------


def _condition_wait(o: Operation) -> None:
    condition, lock = o.find("CONDITION", "condition"), o.find("LOCK", "lock")
    o.step(is_cancel_point=True)
    o.writer.line(f"{condition}->who[t] = 1;")
    o.writer.line(f"(void)lock_release(t, {lock});")
    is_timed = o.model.wait is Wait.TIMED
    woken = f"{condition}->count > 0"
    back = (f"condition_leave(t, {condition});", f"(void)lock_take(t, {lock}, 0);")
    is_free = f"lock_is_free(t, {lock}, 0)"
    may_wake = "1" if is_timed else f"SPURIOUS || {woken}"
    o.step(
        f"{is_free} && ({may_wake})",
        is_cancel_point=True,
        when_cancelled=(f"must({is_free});", *back),
    )
    o.succeed(woken if is_timed else "1", "110")
    for text in back:
        o.writer.line(text)


def _condition_signal(o: Operation) -> None:
    o.step()
    o.writer.line(
        f"condition_signal({o.find('CONDITION', 'condition')}, {int(o.model.broadcast)});"
    )
    o.returns("0")


def _reset(kind: str, operand: str) -> Callable[[Operation], None]:
    def write(o: Operation) -> None:
        o.step()
        o.writer.line(f"clear({o.find(kind, operand)});")
        o.returns("0")

    return write


def _barrier_init(o: Operation) -> None:
    o.step()
    found = o.find("BARRIER", "barrier")
    o.writer.line(f"clear({found});")
    o.writer.line(f"{found}->count = (uint32_t){o.operand('count')};")
    o.returns("0")


def _barrier_wait(o: Operation) -> None:
    found = o.find("BARRIER", "barrier")
    waits, after = o.writer.fresh("o"), o.writer.fresh("o")
    o.step()
    o.writer.line(f"if (!barrier_arrive(t, {found})) {o.writer.jump(waits)}")
    o.returns("0xffffffffu")
    o.writer.goto(after)
    o.writer.label(waits)
    o.touched = []
    o.step(f"{found}->who[t] == 2")
    o.writer.line(f"{found}->who[t] = 0;")
    o.returns("0")
    o.writer.label(after)


def _semaphore_init(o: Operation) -> None:
    o.step()
    value = o.operand("value") or str(o.model.initial or 1)
    if o.model.is_result:
        made = o.writer.field("made", "address")
        o.writer.line(f"{made} = allocate(32, 0);")
        o.writer.line(f"find(SEMAPHORE, {made})->count = (uint32_t){value};")
        o.returns(made)
        return
    o.writer.line(f"{o.find('SEMAPHORE', 'semaphore')}->count = (uint32_t){value};")
    o.returns("0")


def _semaphore_wait(o: Operation) -> None:
    found = o.find("SEMAPHORE", "semaphore")
    is_blocking = o.model.wait is Wait.BLOCK
    o.step(f"{found}->count > 0" if is_blocking else "", is_cancel_point=True)
    o.succeed(f"{found}->count > 0", "0xffffffffu")
    o.writer.line(f"if ({found}->count > 0) --{found}->count;")


def _semaphore_post(o: Operation) -> None:
    o.step()
    o.writer.line(f"++{o.find('SEMAPHORE', 'semaphore')}->count;")
    o.returns("0")


def _semaphore_value(o: Operation) -> None:
    o.step()
    found, pointer = o.find("SEMAPHORE", "semaphore"), o.optional("result_pointer")
    if pointer:
        o.writer.line(f"if ({pointer}) put({pointer}, {found}->count, 4);")
    o.returns("0" if pointer else f"{found}->count")


# --- once and atomic ------------------------------------------------------------


def _once(o: Operation) -> None:
    found = o.find("CONTROL", "control")
    after = o.writer.fresh("o")
    o.step(f"{found}->count != 1")
    o.writer.line(f"if ({found}->count == 2) {o.writer.jump(after)}")
    o.writer.line(f"{found}->count = 1;")
    routine, argument = o.argument("routine"), o.argument("argument")
    given = () if argument is None else (o.frame.given(argument),)
    function = (
        o.frame.context.program.functions.get(routine.name)
        if isinstance(routine, FunctionAddress)
        else None
    )
    if function is not None and function.is_defined:
        o.printer.inline(o.frame, o.call.number, function, given, None)
    else:
        enter(o.printer, o.frame, o.call, o.operand("routine"), given)
    o.step()
    o.writer.line(f"{found}->count = 2;")
    o.writer.label(after)
    o.returns("0")


def _once_begin(o: Operation) -> None:
    found = o.find("CONTROL", "control")
    first = o.writer.field("first", "unsigned")
    o.step(f"{found}->count != 1")
    o.writer.line(f"{first} = {found}->count != 2;")
    o.writer.line(f"if ({first}) {found}->count = 1;")
    o.returns(first)


def _once_end(count: int) -> Callable[[Operation], None]:
    def write(o: Operation) -> None:
        o.step()
        o.writer.line(f"{o.find('CONTROL', 'control')}->count = {count};")
        o.returns("0")

    return write


def _atomic_begin(o: Operation) -> None:
    o.step()
    o.writer.line("++thread[t].atomic;")


def _atomic_end(o: Operation) -> None:
    o.writer.line("if (thread[t].atomic) --thread[t].atomic;")


SYNCHRONISATION: dict[Role, Callable[[Operation], None]] = {
    Role.LOCK: _lock,
    Role.UNLOCK: _unlock,
    Role.LOCK_INIT: _lock_init,
    Role.LOCK_DESTROY: _lock_destroy,
    Role.LOCK_ATTRIBUTE: _lock_attribute,
    Role.CONDITION_WAIT: _condition_wait,
    Role.CONDITION_SIGNAL: _condition_signal,
    Role.CONDITION_INIT: _reset("CONDITION", "condition"),
    Role.CONDITION_DESTROY: _reset("CONDITION", "condition"),
    Role.BARRIER_INIT: _barrier_init,
    Role.BARRIER_WAIT: _barrier_wait,
    Role.BARRIER_DESTROY: _reset("BARRIER", "barrier"),
    Role.SEMAPHORE_INIT: _semaphore_init,
    Role.SEMAPHORE_WAIT: _semaphore_wait,
    Role.SEMAPHORE_POST: _semaphore_post,
    Role.SEMAPHORE_VALUE: _semaphore_value,
    Role.SEMAPHORE_DESTROY: _reset("SEMAPHORE", "semaphore"),
    Role.ONCE: _once,
    Role.ONCE_BEGIN: _once_begin,
    Role.ONCE_END: _once_end(2),
    Role.ONCE_ABORT: _once_end(0),
    Role.ATOMIC_BEGIN: _atomic_begin,
    Role.ATOMIC_END: _atomic_end,
}
