"""Which functions keep an address that they are given, as a summary of each parameter.

    void init(struct conn *c) { c->fd = -1; }            keeps nothing
    void push(struct conn *c) { c->next = head; head = c; }         keeps `c`: others find it

A parameter is *captured* if its address, or one computed from it, may get into memory, into the
result, to a new thread or to unknown code. Otherwise no other thread learns the address
from the call: all that is done with it are accesses, comparisons and calls of functions that do not
capture it, either. The summaries are the least fixpoint over all functions, without regard to the
order of statements, and calls through pointers mean all that the points-to sets say.
"""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.analysis.backend import Backend
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import ReturnKind
from raceproof.ir import (
    AtomicUpdate,
    Call,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
    Freeze,
    Function,
    Instruction,
    Load,
    Offset,
    Phi,
    Register,
    Select,
    SetMemory,
    Store,
    Value,
)

_HARMLESS = (Load, Compare, SetMemory, CopyMemory)
_COPIES = ("bitcast", "addrspacecast")
_SYNCHRONISING = (
    ev.LockAcquire,
    ev.LockRelease,
    ev.LockInit,
    ev.LockDestroy,
    ev.LockAttribute,
    ev.ConditionWait,
    ev.ConditionSignal,
    ev.ConditionInit,
    ev.ConditionDestroy,
    ev.BarrierInit,
    ev.BarrierWait,
    ev.BarrierDestroy,
    ev.SemaphoreInit,
    ev.SemaphorePost,
    ev.SemaphoreWait,
    ev.Free,
)
_GIVES_BACK = (
    ReturnKind.ARGUMENT,
    ReturnKind.INTO,
    ReturnKind.POINTEE,
    ReturnKind.REACHABLE,
)


class Captures:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._program = backend.program
        self._captured: set[tuple[str, int]] = set()
        """(function, index of a parameter)."""
        self._uses: dict[str, dict[int, list[Instruction]]] = {}
        self._solve()

    def is_captured(self, function: str, index: int) -> bool:
        """By a function of the program."""
        return (function, index) in self._captured

    def _solve(self) -> None:
        callers: dict[str, set[str]] = {}
        for function in self._program.defined:
            for call in function.instructions:
                if isinstance(call, Call):
                    for name in self._backend.callees(function.name, call):
                        callers.setdefault(name, set()).add(function.name)
        work = dict.fromkeys(function.name for function in self._program.defined)
        while work:
            name = next(iter(work))
            del work[name]
            function = self._program.functions[name]
            for index, parameter in enumerate(function.parameters):
                if (name, index) not in self._captured and self.escapes(function, parameter):
                    self._captured.add((name, index))
                    work.update(dict.fromkeys(callers.get(name, ())))

    def uses(self, function: Function) -> dict[int, list[Instruction]]:
        found = self._uses.get(function.name)
        if found is None:
            found = self._uses[function.name] = {}
            for instruction in function.instructions:
                for operand in instruction.operands:
                    for register in _registers(operand):
                        found.setdefault(register, []).append(instruction)
        return found

    def escapes(self, function: Function, register: Register) -> bool:
        """Does the address in a register, or one computed from it, get anywhere?"""
        uses = self.uses(function)
        work, seen = [register.index], {register.index}
        while work:
            index = work.pop()
            for instruction in uses.get(index, ()):
                if self.keeps(function, instruction, index):
                    return True
                result = instruction.result
                if result is not None and _hands_on(instruction) and result.index not in seen:
                    seen.add(result.index)
                    work.append(result.index)
        return False

    def keeps(self, function: Function, instruction: Instruction, register: int) -> bool:
        """May the address in the register be known beyond the instruction and its result?"""
        match instruction:
            case Store(value=value) | AtomicUpdate(value=value):
                return register in _registers(value)
            case CompareExchange(replacement=value):
                return register in _registers(value)
            case Offset(terms=terms):
                return any(register in _registers(term) for term, _ in terms)
            case Cast(operation="ptrtoint", result=Register(index=number)):
                # `(unsigned long)p == 0` says nothing about where `p` lies.
                return not all(isinstance(i, Compare) for i in self.uses(function).get(number, ()))
            case Call():
                return self._call_keeps(function, instruction, register)
        return not (isinstance(instruction, _HARMLESS) or _hands_on(instruction))

    def _call_keeps(self, function: Function, call: Call, register: int) -> bool:
        if register in _registers(call.callee):
            return True
        given = [i for i, value in enumerate(call.arguments) if register in _registers(value)]
        names = self._backend.callees(function.name, call)
        if not names:
            return True
        copied = dict(call.by_value)
        return any(
            self._callee_keeps(function, call, name, index)
            for name in names
            for index in given
            if index not in copied
        )

    def _callee_keeps(self, function: Function, call: Call, name: str, index: int) -> bool:
        event = self._backend.events.of(call, name)
        if event is not None and not isinstance(event, ev.AtomicFunction):
            return self._event_keeps(function, call, event)
        callee = self._program.functions.get(name)
        if callee is None or not callee.is_defined or index >= len(callee.parameters):
            return True
        return self.is_captured(name, index)

    def _event_keeps(self, function: Function, call: Call, event: ev.Event) -> bool:
        if isinstance(event, ev.AtomicOperation):
            return True
        if event.stores or event.copies or event.callbacks:
            return True
        if event.model.role is not None and not isinstance(event, _SYNCHRONISING):
            return True
        if event.returns.kind in _GIVES_BACK and call.result is not None:
            return bool(self.uses(function).get(call.result.index))
        return False


def _hands_on(instruction: Instruction) -> bool:
    """Is its result an address computed from its operands?"""
    if isinstance(instruction, Cast):
        return instruction.operation in _COPIES
    return isinstance(instruction, Offset | Freeze | Phi | Select)


def _registers(value: Value) -> Iterator[int]:
    if isinstance(value, Register):
        yield value.index
