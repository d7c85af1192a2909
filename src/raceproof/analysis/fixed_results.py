"""Code that runs, or not, by what a library function of fixed meaning returns.

    if (htons(1) != 256) x = 1;          never runs
    if (pthread_equal(self, other)) ...  depends on who is who
    if (fork() == 0) x = 1;              runs in a process of its own

No abstraction of ours says what such functions return, so both branches look possible, and a race
behind them would be called likely. It is only possible: the branch is not decided by the
environment but by a meaning that we did not compute. Results that do come from outside (`input` in
a model) are no such thing, nor are functions of what came from outside (`toupper(getchar())`): only
those whose arguments the program itself has fixed. Where a result has a range, a comparison that
the range decides is one, too: `rand() < 0`.

This takes the word *likely* away and never a candidate, so it has no part in any proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from raceproof.concurrency import Models
from raceproof.concurrency.model import CallbackModel, FunctionModel, ReturnKind, Role
from raceproof.concurrency.purity import leaves_no_trace
from raceproof.ir import (
    Binary,
    Call,
    Cast,
    Compare,
    Constant,
    CopyMemory,
    ExtractField,
    FloatConstant,
    Freeze,
    Function,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    IntConstant,
    Intrinsic,
    Load,
    Negate,
    Offset,
    Phi,
    Program,
    Register,
    Select,
    SetMemory,
    StackSlot,
    Store,
    Value,
)
from raceproof.ir.cfg import ControlFlow, Dominators, reverse_post_order, reversed_edges

_ALWAYS = frozenset({"pthread_equal", "thrd_equal", "fork", "vfork", "_Fork", "__fork"})
"""Fixed, whatever their arguments come from."""
_FOREVER = frozenset({"pause"})
_KILL = 9
_HANDLERS = ("signal", "sigaction", "bsd_signal", "sysv_signal", "sigset")
_STOPS_EARLY = frozenset(
    {
        *("snprintf", "vsnprintf", "__snprintf_chk", "__vsnprintf_chk", "swprintf", "vswprintf"),
        *("strftime", "strftime_l", "wcsftime", "strxfrm", "strlcpy", "strlcat", "memccpy"),
        *("memchr", "memrchr", "memmem", "wmemchr", "mbstowcs", "wcstombs", "inet_ntop"),
        *("strerror_r", "__xpg_strerror_r", "regerror", "confstr", "mbrlen", "mbrtowc"),
        *("poll", "ppoll", "__poll_chk", "select", "__select", "pselect"),
    }
)
"""Functions whose models give an upper bound for the bytes that they touch."""
_KINDS = (ReturnKind.ANY, ReturnKind.INTO)
_PURE = (Binary, Cast, Compare, ExtractField, Freeze, Negate, Offset, Phi, Select)


class FixedResults:
    """What of a program depends on them."""

    def __init__(self, program: Program, models: Models) -> None:
        self._program = program
        self._models = models
        self._blocks: dict[str, frozenset[int]] = {}

    def decide(self, instruction: int) -> bool:
        """Whether an instruction runs by such a result."""
        function = self._program.function_of(instruction)
        if function.name in self._functions:
            return True
        return self._block_of(function, instruction) in self._dependent(function)

    def stops_early(self, instruction: int) -> bool:
        """Whether it is a call that may touch fewer bytes than its model says."""
        return _callee(self._program.instruction(instruction)) in _STOPS_EARLY

    def _block_of(self, function: Function, instruction: int) -> int:
        for block in function.blocks:
            if block.instructions[-1].number >= instruction:
                return block.index
        return 0

    def _dependent(self, function: Function) -> frozenset[int]:
        found = self._blocks.get(function.name)
        if found is None:
            found = _FunctionWalk(self._program, self._models, function).blocks()
            self._blocks[function.name] = found
        return found

    @cached_property
    def _functions(self) -> frozenset[str]:
        """Functions that are mentioned in such code only."""
        sites: dict[str, list[tuple[Function, int]]] = {}
        free = {self._program.entry}
        for variable in self._program.globals.values():
            if variable.initializer is not None:
                free.update(_mentioned((variable.initializer,)))
        for function in self._program.defined:
            for block in function.blocks:
                for instruction in block.instructions:
                    for name in _mentioned(instruction.operands):
                        sites.setdefault(name, []).append((function, block.index))
        found = {name for name in sites if name not in free and name in self._program.functions}
        changed = True
        while changed:
            kept = {
                name
                for name in found
                if all(
                    function.name in found or index in self._dependent(function)
                    for function, index in sites[name]
                )
            }
            changed, found = kept != found, kept
        return frozenset(found)


def _mentioned(values: Iterable[Value]) -> Iterator[str]:
    for value in values:
        if isinstance(value, FunctionAddress):
            yield value.name
        else:
            parts = getattr(value, "elements", None) or getattr(value, "operands", None)
            if parts:
                yield from _mentioned(parts)


class _FunctionWalk:
    """One function: which registers hold such results, which blocks depend on them."""

    def __init__(self, program: Program, models: Models, function: Function) -> None:
        self._program = program
        self._models = models
        self._function = function
        self._definitions: dict[Register, Instruction] = {
            i.result: i for i in function.instructions if i.result is not None
        }
        self._fixed: set[Register] = set()
        self._slots: set[Register] = set()
        """Stack slots that such functions have filled, and nothing else."""

    def blocks(self) -> frozenset[int]:
        if not self._mark():
            return frozenset()
        flow = ControlFlow(self._function)
        after = _after(flow)
        found: set[int] = set()
        for block in self._function.blocks:
            if any(self._ends(i) for i in block.instructions):
                found.update(_reached(flow, block.index, None) | {block.index})
            elif any(operand in self._fixed for operand in block.terminator.operands):
                found.update(_reached(flow, block.index, after[block.index]))
        return frozenset(found)

    def _ends(self, instruction: Instruction) -> bool:
        name = _callee(instruction)
        if name == "kill" and isinstance(instruction, Call):
            number = instruction.arguments[1] if len(instruction.arguments) > 1 else None
            return isinstance(number, IntConstant) and number.value == _KILL
        return name in _FOREVER and not any(h in self._program.functions for h in _HANDLERS)

    def _mark(self) -> bool:
        """Find the registers; whether there is anything to find."""
        calls = [i for i in self._function.instructions if isinstance(i, Call)]
        if not any(self._model(call) is not None or self._ends(call) for call in calls):
            return False
        changed = True
        while changed:
            before = len(self._fixed), len(self._slots)
            for instruction in self._function.instructions:
                self._look_at(instruction)
            changed = before != (len(self._fixed), len(self._slots))
        return bool(self._fixed) or any(self._ends(call) for call in calls)

    def _look_at(self, i: Instruction) -> None:
        if isinstance(i, Call):
            model = self._model(i)
            if model is None or not self._is_fixed(i, model):
                return
            self._slots.update(self._filled(i, model))
            if model.returns.kind not in _KINDS:
                return
        elif isinstance(i, Load):
            if self._slot(i.pointer) not in self._slots:
                return
        elif isinstance(i, Compare) and self._is_decided(i):
            pass
        elif not isinstance(i, _PURE) or not any(o in self._fixed for o in i.operands):
            return
        if i.result is not None:
            self._fixed.add(i.result)

    def _model(self, call: Call) -> FunctionModel | None:
        """Of a plain library function."""
        name = _callee(call)
        model = None if name is None else self._models.applicable(name, self._program)
        return model if model is not None and model.role is None else None

    def _is_fixed(self, call: Call, model: FunctionModel) -> bool:
        if _callee(call) in _ALWAYS:
            return True
        if model.input or model.no_return or model.caveat or not self._is_quiet(call, model):
            return False
        return all(self._is_closed(argument, set()) for argument in call.arguments)

    def _is_quiet(self, call: Call, model: FunctionModel) -> bool:
        """Does it call back, if at all, only functions that leave no trace, as `qsort` does?"""
        given = [call.arguments[c.function.index] for c in model.callbacks if _fits(c, call)]
        return len(given) == len(model.callbacks) and all(
            isinstance(function, FunctionAddress)
            and leaves_no_trace(self._program, self._models, function.name)
            for function in given
        )

    def _is_closed(self, value: Value, seen: set[Register]) -> bool:
        """Whether the program itself says what it is."""
        if isinstance(value, GlobalAddress):
            variable = self._program.globals.get(value.name)
            return variable is not None and variable.is_constant
        if isinstance(value, Constant):
            return True
        if not isinstance(value, Register):
            return False
        if value in self._fixed or value in seen:
            return True
        seen.add(value)
        definition = self._definitions.get(value)
        if isinstance(definition, StackSlot):
            return self._is_own(value)
        if isinstance(definition, Call):
            name = _callee(definition)
            model = None if name is None else self._models.applicable(name, self._program)
            return model is not None and model.role is Role.SELF
        if not isinstance(definition, _PURE):
            return False
        return all(self._is_closed(operand, seen) for operand in definition.operands)

    def _is_own(self, slot: Register) -> bool:
        """Whether only plain code and functions of fixed meaning touch a stack slot."""
        for i in self._function.instructions:
            if not any(self._slot(operand) == slot for operand in i.operands):
                continue
            if isinstance(i, Call):
                model = self._model(i)
                if model is None or model.input or not self._is_quiet(i, model):
                    return False
            elif not isinstance(i, Load | Offset | Cast | Freeze) and not _writes_constants(i):
                return False
        return True

    def _slot(self, value: Value) -> Register | None:
        while isinstance(value, Register):
            definition = self._definitions.get(value)
            match definition:
                case StackSlot():
                    return value
                case Offset(base=base):
                    value = base
                case Cast(value=inner) | Freeze(value=inner):
                    value = inner
                case _:
                    return None
        return None

    def _filled(self, call: Call, model: FunctionModel) -> Iterator[Register]:
        for effect in model.writes:
            if effect.argument < len(call.arguments):
                slot = self._slot(call.arguments[effect.argument])
                if slot is not None and self._is_own(slot):
                    yield slot

    def _has_range(self, value: Value) -> bool:
        """Whether it is a number from outside of which only some are possible."""
        definition = self._definitions.get(value) if isinstance(value, Register) else None
        model = self._model(definition) if isinstance(definition, Call) else None
        return model is not None and model.returns.values is not None

    def _is_decided(self, i: Compare) -> bool:
        """Whether the range of a result decides a comparison with a number."""
        left, right, predicate = i.left, i.right, i.predicate
        if isinstance(left, FloatConstant) or isinstance(right, FloatConstant):
            return self._has_range(left) or self._has_range(right)
        if isinstance(left, IntConstant):
            left, right, predicate = right, left, _MIRROR.get(predicate, predicate)
        if not isinstance(left, Register) or not isinstance(right, IntConstant):
            return False
        definition = self._definitions.get(left)
        model = self._model(definition) if isinstance(definition, Call) else None
        values = None if model is None else model.returns.values
        if values is None:
            return False
        bits = getattr(left.type, "bits", 32)
        number = (right.value ^ 1 << bits - 1) - (1 << bits - 1)
        most = (1 << bits - 1) - 1 if values.most is None else values.most
        below, above = number < values.least, number > most
        match predicate:
            case "slt":
                return number <= values.least or above
            case "sle":
                return below or number >= most
            case "sgt":
                return below or number >= most
            case "sge":
                return number <= values.least or above
            case "eq" | "ne":
                return below or above
        return False


_MIRROR = {"slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle"}


def _fits(callback: CallbackModel, call: Call) -> bool:
    return not callback.function.indirect and callback.function.index < len(call.arguments)


def _callee(instruction: Instruction) -> str | None:
    if isinstance(instruction, Call) and isinstance(instruction.callee, FunctionAddress):
        return instruction.callee.name
    return None


def _writes_constants(i: Instruction) -> bool:
    """A store, fill or copy of what the program says itself."""
    match i:
        case Store(value=value):
            return isinstance(value, Constant)
        case SetMemory(byte=byte):
            return isinstance(byte, Constant)
        case CopyMemory(source=source):
            return isinstance(source, GlobalAddress)
    return isinstance(i, Intrinsic)


def _after(flow: ControlFlow) -> list[int | None]:
    """For each block the one that all ways from it come to; None if there is none."""
    count = len(flow.successors)
    backwards: list[list[int]] = [list(p) for p in flow.predecessors]
    backwards.append([i for i, targets in enumerate(flow.successors) if not targets])
    order = reverse_post_order(backwards, count)
    place = {node: number for number, node in enumerate(order)}
    forwards = reversed_edges(backwards)
    tree = Dominators([[place[p] for p in forwards[node] if p in place] for node in order])
    found: list[int | None] = [None] * count
    for node, number in place.items():
        parent = order[tree.parents[number]]
        if node != count and parent != count:
            found[node] = parent
    return found


def _reached(flow: ControlFlow, start: int, end: int | None) -> set[int]:
    """Blocks on ways from a block that have not come to another one."""
    found: set[int] = set()
    stack = list(flow.successors[start])
    while stack:
        block = stack.pop()
        if block != end and block not in found:
            found.add(block)
            stack.extend(flow.successors[block])
    return found
