"""What the library's thread and memory functions do, as C statements.

The printed program does step by step what the concrete machine does: a visible statement here is a
visible step there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.concurrency.model import AtomicOperationKind, FunctionModel, Role, Wait
from raceproof.ir import Call, FloatType, FunctionAddress, IntType, PointerType
from raceproof.sequentialize.c_text import comment
from raceproof.sequentialize.calls import as_address, enter, size_text
from raceproof.sequentialize.endings import end_process, end_thread
from raceproof.sequentialize.frames import Given, PrintedFrame
from raceproof.sequentialize.instructions import any_value
from raceproof.sequentialize.operation import PrintedOperation
from raceproof.sequentialize.synchronisation import SYNCHRONISATION
from raceproof.sequentialize.writer import END

if TYPE_CHECKING:
    from raceproof.sequentialize.thread_printer import ThreadPrinter

# --- threads ------------------------------------------------------------


def _create(o: PrintedOperation) -> None:
    o.step()
    entry = o.argument("entry")
    context = o.frame.context
    if isinstance(entry, FunctionAddress):
        context.add_entry(entry.name)
    else:
        for function in context.created(o.call):
            context.add_entry(function.name)
    child = o.writer.field("child", "unsigned")
    argument = o.argument("argument")
    given = as_address(o.frame, argument) if argument is not None else "0"
    bound = "/* the bound on threads */"
    o.writer.line(f"if (threads == THREADS) {{ stuck(t); {o.writer.jump(END)} }} {bound}")
    o.writer.line(f"{child} = create({o.operand('entry')}, {given});")
    pointer = o.optional("id_pointer")
    if o.model.id_is_result:
        o.returns(f"{child} + 1")
        return
    if pointer:
        o.writer.line(f"if ({pointer}) put({pointer}, {child} + 1, {o.pointer_size});")
    o.succeed()


def _join(o: PrintedOperation) -> None:
    target = f"thread[thread_of({o.operand('thread')})]"
    over = f"{target}.state == FINISHED"
    o.step(over if o.model.wait is Wait.BLOCK else "", is_cancel_point=True)
    pointer = o.optional("result_pointer")
    if pointer:
        o.writer.line(
            f"if ({pointer} && {over}) put({pointer}, {target}.result, {o.pointer_size});"
        )
    if o.model.wait is Wait.BLOCK:
        o.succeed()
    else:
        o.succeed(over, "16")


def _nothing(o: PrintedOperation) -> None:
    o.writer.line(comment(f"{o.name}: no effect here"))
    o.returns("0")


def _exit_thread(o: PrintedOperation) -> None:
    end_thread(o.printer, o.frame, o.operand("value") or "thread[t].result", cleans_up=True)


def _exit_process(o: PrintedOperation) -> None:
    o.step()
    if o.name == "exit":
        end_process(o.printer, o.frame, "exit ends every thread")
    else:
        o.writer.line(f"must(0); {comment(f'{o.name} ends every thread')}")


def _cancel(o: PrintedOperation) -> None:
    o.step()
    o.writer.line(f"thread[thread_of({o.operand('thread')})].cancelled = 1;")
    o.returns("0")


def _cancel_state(o: PrintedOperation) -> None:
    state, old = o.operand("state"), o.call.arguments[1:2]
    for pointer in map(o.frame.address, old):
        before = "thread[t].uncancellable" if state else "0"
        o.writer.line(f"if ({pointer}) put({pointer}, {before}, 4);")
    if state:
        o.writer.line(f"thread[t].uncancellable = {state} != 0;")
    o.returns("0")


def _cancel_point(o: PrintedOperation) -> None:
    o.step(is_cancel_point=True)
    o.returns("0")


def _self(o: PrintedOperation) -> None:
    o.returns("t + 1")


def _cleanup_push(o: PrintedOperation) -> None:
    o.writer.line("must(cleanup_count[t] < CLEANUPS);")
    o.writer.line(f"cleanups[t][cleanup_count[t]][0] = {o.operand('routine')};")
    o.writer.line(f"cleanups[t][cleanup_count[t]][1] = {o.operand('argument') or '0'};")
    o.writer.line("++cleanup_count[t];")
    o.returns("0")


def _cleanup_pop(o: PrintedOperation) -> None:
    after = o.writer.fresh("o")
    o.writer.line(f"if (cleanup_count[t] == 0) {o.writer.jump(after)}")
    o.writer.line("--cleanup_count[t];")
    o.writer.line(f"if (!{o.operand('execute')}) {o.writer.jump(after)}")
    routine = "cleanups[t][cleanup_count[t]][0]"
    argument = Given(PointerType(), ("cleanups[t][cleanup_count[t]][1]",))
    enter(o.printer, o.frame, o.call, routine, (argument,))
    o.writer.label(after)
    o.returns("0")


# --- memory and values ------------------------------------------------------------


_UPDATES = {
    AtomicOperationKind.LOAD: "old",
    AtomicOperationKind.STORE: "value",
    AtomicOperationKind.EXCHANGE: "value",
    AtomicOperationKind.ADD: "old + value",
    AtomicOperationKind.SUB: "old - value",
    AtomicOperationKind.AND: "old & value",
    AtomicOperationKind.OR: "old | value",
    AtomicOperationKind.XOR: "old ^ value",
    AtomicOperationKind.NAND: "~(old & value)",
    AtomicOperationKind.TEST_AND_SET: "1",
    AtomicOperationKind.CLEAR: "0",
}


def _atomic_operation(o: PrintedOperation) -> None:
    o.step()
    event = o.frame.context.events.of(o.call, o.name)
    size = size_text(o.frame, getattr(event, "size", None), "0") if event is not None else "0"
    size = f"(unsigned)({size})" if not size.isdigit() else size
    pointer = o.operand("pointer")
    value, place = o.operand("value") or "0", o.operand("value_pointer")
    old = o.writer.field("old", "uint64_t")
    new = o.writer.field("new", "uint64_t")
    o.writer.line(f"must({size} >= 1 && {size} <= 8);")
    o.writer.line(f"{old} = get({pointer}, {size});")
    given = f"get({place}, {size})" if place else value
    if o.model.operation is AtomicOperationKind.COMPARE_EXCHANGE:
        _compare_exchange(o, pointer, size, old, given)
        return
    operation = o.model.operation or AtomicOperationKind.LOAD
    text = _UPDATES[operation]
    o.writer.line(
        f"{{ uint64_t old = {old}, value = {given}; {new} = {text}; (void)old, (void)value; }}"
    )
    if operation is not AtomicOperationKind.LOAD:
        o.writer.line(f"put({pointer}, {new}, {size});")
    target = o.optional("result_pointer")
    if target:
        o.writer.line(f"put({target}, {old}, {size});")
    o.returns(new if o.model.returns_new else old)


def _compare_exchange(o: PrintedOperation, pointer: str, size: str, old: str, given: str) -> None:
    place = o.operand("expected_pointer")
    expected = f"get({place}, {size})" if place else o.operand("expected") or "0"
    same = o.writer.field("same", "unsigned")
    o.writer.line(f"{same} = {old} == {expected};")
    o.writer.line(f"if ({same}) put({pointer}, {given}, {size});")
    if place:
        o.writer.line(f"if (!{same}) put({place}, {old}, {size});")
    o.returns(same if o.model.returns_success else old)


def _size(o: PrintedOperation) -> str:
    event = o.frame.context.events.of(o.call, o.name)
    return size_text(o.frame, getattr(event, "size", 0), "0")


def _allocate(o: PrintedOperation) -> None:
    o.access()
    text = f"allocate({_size(o)}, {'0' if o.model.zeroed else 'UNKNOWN'})"
    pointer = o.operand("pointer_to")
    if pointer:
        o.writer.line(f"put({pointer}, {text}, {o.pointer_size});")
        o.returns("0")
    else:
        o.returns(text)


def _reallocate(o: PrintedOperation) -> None:
    o.access()
    made = o.writer.field("made", "address")
    old, size = o.operand("pointer"), _size(o)
    o.writer.line(f"{made} = allocate({size}, {'0' if o.model.zeroed else 'UNKNOWN'});")
    o.writer.line(
        f"if ({old}) {{ copy({made}, {old}, extent({old}) < {size} ? extent({old}) : {size}); "
        f"release({old}); }}"
    )
    o.returns(made)


def _free(o: PrintedOperation) -> None:
    o.access()
    o.writer.line(f"release({o.operand('pointer')});")
    o.returns("0")


def _specific_create(o: PrintedOperation) -> None:
    o.access()
    destructor = o.optional("destructor")
    if o.frame.context.endings.destructors.calls:
        o.writer.line(f"destructors[keys] = {destructor or '0'};")
    o.writer.line(f"put({o.operand('key_pointer')}, specific_create(), 4);")
    o.returns("0")


def _specific_delete(o: PrintedOperation) -> None:
    key = o.operand("key")
    if o.frame.context.endings.destructors.calls:
        o.writer.line(f"must({key} < KEYS);")
        o.writer.line(f"destructors[{key}] = 0;")
    o.returns("0")


def _specific_get(o: PrintedOperation) -> None:
    key = o.operand("key")
    o.writer.line(f"must({key} < KEYS);")
    o.returns(f"specifics[t][{key}]")


def _specific_set(o: PrintedOperation) -> None:
    key, value = o.operand("key"), o.argument("value")
    o.writer.line(f"must({key} < KEYS);")
    o.writer.line(
        f"specifics[t][{key}] = {as_address(o.frame, value) if value is not None else '0'};"
    )
    o.returns("0")


def _nondeterministic(o: PrintedOperation) -> None:
    if o.call.result is None:
        return
    type_ = o.call.result.type
    name = o.frame.registers(o.call.result)[0]
    if isinstance(type_, IntType) and (type_.bits == 1 or o.name.endswith("_bool")):
        o.writer.line(f"{name} = any(1) & 1;")
        return
    o.writer.line(f"{name} = {any_value(type_, o.frame)};")
    if o.model.range is not None and not isinstance(type_, FloatType):
        low, high = o.model.range
        value = f"(int64_t){name}"
        if o.model.signed and isinstance(type_, IntType):
            value = f"sign({name}, {type_.bits})"
        o.writer.line(f"must({value} >= {low} && {value} <= {high});")


def _assume(o: PrintedOperation) -> None:
    o.writer.line(
        f"if ({o.operand('condition')} == 0) {{ stuck(t); {o.writer.jump(END)} }} {comment(o.name)}"
    )


_WRITERS: dict[Role, Callable[[PrintedOperation], None]] = {
    Role.CREATE: _create,
    Role.JOIN: _join,
    Role.DETACH: _nothing,
    Role.EXIT_THREAD: _exit_thread,
    Role.EXIT_PROCESS: _exit_process,
    Role.CANCEL: _cancel,
    Role.CANCEL_STATE: _cancel_state,
    Role.CANCEL_POINT: _cancel_point,
    Role.CLEANUP_PUSH: _cleanup_push,
    Role.CLEANUP_POP: _cleanup_pop,
    Role.SELF: _self,
    Role.ATOMIC_OPERATION: _atomic_operation,
    Role.ALLOCATE: _allocate,
    Role.REALLOCATE: _reallocate,
    Role.FREE: _free,
    Role.SPECIFIC_CREATE: _specific_create,
    Role.SPECIFIC_DELETE: _specific_delete,
    Role.SPECIFIC_GET: _specific_get,
    Role.SPECIFIC_SET: _specific_set,
    Role.NONDETERMINISTIC: _nondeterministic,
    Role.ASSUME: _assume,
    **SYNCHRONISATION,
}


def write_operation(
    printer: ThreadPrinter, frame: PrintedFrame, call: Call, name: str, model: FunctionModel
) -> None:
    """A call of a function with a role."""
    assert model.role is not None
    operation = PrintedOperation(printer, frame, call, name, model)
    if model.role not in (Role.ATOMIC_OPERATION,):
        operation.touched = [t for t in operation.touched if t.is_shared != "0"]
    _WRITERS[model.role](operation)
