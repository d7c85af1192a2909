"""Locks, conditions, barriers, semaphores, once and atomic sections, as C statements.

What a call does to its object is a C function, printed from the table of synchronisation (see
`semantics.synchronisation`): `sync_lock(t, o)` does the first case that applies, `can_lock(t, o)`
says whether one does. One thing is left out: attributes of mutexes are known by their address, so
that the copy of one is that of a normal mutex.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from raceproof.concurrency.model import Role
from raceproof.concurrency.synchronisation import (
    SYNCHRONISING,
    error_value,
    flags_of,
    success_value,
    sync_call,
    waits,
)
from raceproof.ir import FunctionAddress
from raceproof.semantics.sync_expressions import errors_of, mentions, operands_of
from raceproof.semantics.synchronisation import Part, SyncStep
from raceproof.sequentialize.calls import enter
from raceproof.sequentialize.operation import PrintedOperation
from raceproof.sequentialize.sync_functions import GOES_ON, can_always, function_name, guard_name


def synchronise(o: PrintedOperation) -> None:
    """A call that the table describes."""
    call = sync_call(o.model)
    if o.model.is_result:
        _make(o, call.steps[0].parts[0])
        return
    done = _step(o, call.steps[0])
    if call.runs:
        _run(o, done, call.steps[1])
    elif len(call.steps) > 1:
        after = o.writer.fresh("o")
        if not _always_goes_on(call.steps[0]):
            goes_on = o.writer.fresh("o")
            o.writer.line(f"if ({done} == {GOES_ON}) {o.writer.jump(goes_on)}")
            _returns(o, call.steps[0], done)
            o.writer.goto(after)
            o.writer.label(goes_on)
        o.touched = []
        _returns(o, call.steps[1], _step(o, call.steps[1]))
        o.writer.label(after)
    else:
        _returns(o, call.steps[0], done)


def _always_goes_on(step: SyncStep) -> bool:
    return all(case.goes_on for case in step.parts[0].meaning.cases)


def _step(o: PrintedOperation, step: SyncStep) -> str:
    """One step; the C text of what its first part returned."""
    enabled, when_cancelled = _enabled(o, step)
    if sync_call(o.model).is_visible:
        o.step(
            " && ".join(enabled),
            is_cancel_point=step.is_cancel_point,
            when_cancelled=when_cancelled,
        )
    first, *rest = step.parts
    done = o.writer.field("done", "unsigned")
    o.writer.line(f"{done} = {_call(o, first)};")
    for part in rest:
        o.writer.line(f"(void){_call(o, part)};")
    return done


def _enabled(o: PrintedOperation, step: SyncStep) -> tuple[list[str], tuple[str, ...]]:
    """When a step can be done, and what a cancelled thread still does there."""
    flags = _flags(o)
    if not waits(o.model):
        return [], ()
    guards = {
        part: f"{guard_name(o.frame.context, part.command, flags)}(t, {_found(o, part)})"
        for part in step.parts
        if not can_always(part.command, flags)
    }
    if not step.completes_when_cancelled or not o.frame.context.has_cancellation:
        return list(guards.values()), ()
    first, *rest = step.parts
    woken = {**flags, "spurious": True}
    last = (
        *(f"must({guards[part]});" for part in rest if part in guards),
        f"(void){function_name(o.frame.context, first.command, woken)}(t, {_found(o, first)});",
        *(f"(void){_call(o, part)};" for part in rest),
    )
    return list(guards.values()), last


def _flags(o: PrintedOperation) -> dict[str, bool | str]:
    flags: dict[str, bool | str] = {
        **flags_of(o.model),
        "anyone": "ANYONE_UNLOCKS",
        "spurious": "SPURIOUS",
    }
    if _rule_value(o):
        flags["recursive"] = "recursive"
    return flags


def _rule_value(o: PrintedOperation) -> str:
    """The argument that decides whether a lock is recursive; empty if there is none."""
    rule = o.model.recursive_when
    if rule is None or rule.argument >= len(o.call.arguments):
        return ""
    return o.frame.value(o.call.arguments[rule.argument])


def _found(o: PrintedOperation, part: Part) -> str:
    return o.find(part.meaning.object.upper(), part.operand)


def _call(o: PrintedOperation, part: Part, found: str = "") -> str:
    """The call of the function that does a command."""
    flags = _flags(o)
    arguments = ["t", found or _found(o, part)]
    if flags["recursive"] == "recursive" and mentions(part.command, "recursive"):
        rule = o.model.recursive_when
        assert rule is not None
        mask = rule.mask & 0xFFFFFFFF
        arguments.append(f"({_rule_value(o)} & {mask}u) == {rule.equals}u")
    arguments += [_operand(o, name) for name in operands_of(part.command)]
    return f"{function_name(o.frame.context, part.command, flags)}({', '.join(arguments)})"


def _operand(o: PrintedOperation, name: str) -> str:
    if name == "number":
        return f"(uint32_t){_rule_value(o) or '0'}"
    if name == "type":
        attribute = o.optional("attribute")
        return "0" if not attribute or _rule_value(o) else f"attribute_type({attribute})"
    return f"(uint32_t){o.operand(name) or o.model.initial}"


def _returns(o: PrintedOperation, step: SyncStep, done: str) -> None:
    """What the call returns, from what its step did."""
    meaning = step.parts[0].meaning
    if o.model.role is Role.SEMAPHORE_VALUE:
        pointer = o.optional("result_pointer")
        if pointer:
            o.writer.line(f"if ({pointer}) put({pointer}, {done}, 4);")
        o.returns("0" if pointer else done)
    elif any(case.value for case in meaning.cases):
        o.returns(done)
    else:
        known = {
            error: error_value(o.model, o.name, error)
            for error in errors_of(step.parts[0].command, flags_of(o.model), waits(o.model))
        }
        o.returns(_result(done, known, success_value(o.model)))


def _result(done: str, known: Mapping[int, int | None], success: int) -> str:
    values = {error if value is None else value for error, value in known.items()}
    if not known:
        return str(success)
    if all(value is None or value == error for error, value in known.items()) and not success:
        return done
    if len(values) == 1:
        return f"{done} ? {values.pop() & 0xFFFFFFFF}u : {success}"
    text = str(success)
    for error, value in known.items():
        text = f"{done} == {error} ? {(error if value is None else value) & 0xFFFFFFFF}u : {text}"
    return text


def _make(o: PrintedOperation, part: Part) -> None:
    """The call returns a new object."""
    o.step()
    made = o.writer.field("made", "address")
    o.writer.line(f"{made} = allocate(32, 0);")
    found = f"find({part.meaning.object.upper()}, {made})"
    o.writer.line(f"(void){_call(o, part, found)};")
    o.returns(made)


def _run(o: PrintedOperation, done: str, last: SyncStep) -> None:
    """A routine between the two steps of a call."""
    after = o.writer.fresh("o")
    o.writer.line(f"if (!{done}) {o.writer.jump(after)}")
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
    o.touched = []
    _step(o, last)
    o.writer.label(after)
    o.returns(str(success_value(o.model)))


def _atomic_begin(o: PrintedOperation) -> None:
    o.step()
    o.writer.line("++thread[t].atomic;")


def _atomic_end(o: PrintedOperation) -> None:
    o.writer.line("if (thread[t].atomic) --thread[t].atomic;")


SYNCHRONISATION: dict[Role, Callable[[PrintedOperation], None]] = {
    **dict.fromkeys(SYNCHRONISING, synchronise),
    Role.ATOMIC_BEGIN: _atomic_begin,
    Role.ATOMIC_END: _atomic_end,
}
