"""Which blocks can be reached, as far as parameters that only take a few constants decide.

`std::atomic` and wrappers in C hand the memory order down as an argument, and the compiler makes a
`switch` over it with one atomic instruction per order:

    int load(std::memory_order order) { switch (order) { case acquire: ...; default: ... } }
    flag.load(std::memory_order_acquire);

This is sparse conditional constant propagation (Wegman, Zadeck 1991) over small sets of constants,
through direct calls and returns, context-insensitively. Functions whose address is taken, and the
entry, get any arguments; in a library, all do.
"""

from __future__ import annotations

from collections.abc import Iterable

from raceproof.ir.instructions import (
    Branch,
    Call,
    Cast,
    Compare,
    Freeze,
    Instruction,
    Phi,
    Return,
    Select,
    Switch,
)
from raceproof.ir.program import Function, Program
from raceproof.ir.types import IntType
from raceproof.ir.values import FunctionAddress, IntConstant, Register, Value

_MOST = 8
Constants = frozenset[int] | None
"""At most `_MOST` unsigned values; None is any value."""
_NONE: frozenset[int] = frozenset()


class ConstantSets:
    """The fixpoint for one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._values: dict[tuple[str, int], Constants] = {}
        self._returns: dict[str, Constants] = {}
        self._callers: dict[str, set[str]] = {}
        self.blocks: dict[str, set[int]] = {}
        """Function -> the blocks that may be reached."""
        self._queue: list[str] = []
        starts = [program.entry, *program.constructors, *sorted(_taken(program))]
        entry = program.functions.get(program.entry)
        if entry is None or not entry.is_defined:
            starts += [function.name for function in program.defined]
        for name in starts:
            self._enter_with_anything(name)
        while self._queue:
            self._function(program.functions[self._queue.pop()])

    def reachable(self) -> Iterable[tuple[Function, Instruction]]:
        for name in sorted(self.blocks):
            function = self._program.functions[name]
            for index in sorted(self.blocks[name]):
                for instruction in function.blocks[index].instructions:
                    yield function, instruction

    def of(self, function: Function, value: Value) -> Constants:
        """The constants that a value takes."""
        if isinstance(value, IntConstant):
            return frozenset((value.value,))
        if isinstance(value, Register):
            return self._values.get((function.name, value.index), _NONE)
        return None

    def _enter_with_anything(self, name: str) -> None:
        function = self._program.functions.get(name)
        if function is None or not function.is_defined:
            return
        for parameter in function.parameters:
            self._values[(name, parameter.index)] = None
        self._enter(name)

    def _enter(self, name: str) -> None:
        self.blocks.setdefault(name, {0})
        if name not in self._queue:
            self._queue.append(name)

    def _function(self, function: Function) -> None:
        name = function.name
        reached = self.blocks[name]
        is_changed = True
        while is_changed:
            is_changed = False
            for index in sorted(reached):
                for instruction in function.blocks[index].instructions:
                    is_changed |= self._instruction(function, instruction)
                for target in self._targets(function, function.blocks[index].instructions[-1]):
                    if target not in reached:
                        reached.add(target)
                        is_changed = True

    def _targets(self, function: Function, last: Instruction) -> Iterable[int]:
        match last:
            case Branch(condition=condition, if_true=yes, if_false=no):
                found = self.of(function, condition)
                return (yes, no) if found is None else tuple(yes if c else no for c in found)
            case Switch(value=value, default=default, cases=cases):
                found = self.of(function, value)
                if found is None:
                    return last.targets
                blocks = dict(cases)
                return tuple(blocks.get(c, default) for c in found)
        return getattr(last, "targets", ())

    def _instruction(self, function: Function, i: Instruction) -> bool:
        if isinstance(i, Return):
            if i.value is None:
                return False
            joined = _join(self._returns.get(function.name, _NONE), self.of(function, i.value))
            if joined != self._returns.get(function.name, _NONE):
                self._returns[function.name] = joined
                for caller in self._callers.get(function.name, ()):
                    self._enter(caller)
            return False
        result = self._result(function, i)
        if i.result is None:
            return False
        key = (function.name, i.result.index)
        before = self._values.get(key, _NONE)
        joined = _join(before, result)
        if joined == before:
            return False
        self._values[key] = joined
        return True

    def _result(self, function: Function, i: Instruction) -> Constants:
        match i:
            case Call(callee=FunctionAddress(name=name)):
                return self._call(function, i, name)
            case Phi(incoming=incoming):
                reached = self.blocks[function.name]
                return _union(self.of(function, v) for block, v in incoming if block in reached)
            case Select(condition=condition, if_true=yes, if_false=no):
                chosen = self.of(function, condition)
                sides = (yes, no) if chosen is None else tuple(yes if c else no for c in chosen)
                return _union(self.of(function, side) for side in sides)
            case Freeze(value=value):
                return self.of(function, value)
            case Cast(operation="zext", value=value):
                return self.of(function, value)
            case Cast(operation="trunc", value=value, result=Register(type=IntType(bits))):
                found = self.of(function, value)
                return found and frozenset(c & ((1 << bits) - 1) for c in found)
            case Compare(predicate="eq" | "ne" as predicate, left=left, right=right):
                one, other = self.of(function, left), self.of(function, right)
                if one is None or other is None:
                    return None
                return frozenset(int((a == b) == (predicate == "eq")) for a in one for b in other)
        return None

    def _call(self, function: Function, call: Call, name: str) -> Constants:
        callee = self._program.functions.get(name)
        if callee is None or not callee.is_defined:
            return None
        self._callers.setdefault(name, set()).add(function.name)
        is_new = name not in self.blocks
        for parameter, argument in zip(callee.parameters, call.arguments, strict=False):
            key = (name, parameter.index)
            joined = _join(self._values.get(key, _NONE), self.of(function, argument))
            if joined != self._values.get(key, _NONE):
                self._values[key] = joined
                is_new = True
        for parameter in callee.parameters[len(call.arguments) :]:
            self._values[(name, parameter.index)] = None
        if is_new:
            self._enter(name)
        return self._returns.get(name, _NONE)


def _join(one: Constants, other: Constants) -> Constants:
    if one is None or other is None:
        return None
    joined = one | other
    return joined if len(joined) <= _MOST else None


def _union(sets: Iterable[Constants]) -> Constants:
    found: Constants = _NONE
    for one in sets:
        found = _join(found, one)
    return found


def _taken(program: Program) -> set[str]:
    """Functions whose address is used other than to call them."""
    taken: set[str] = set()
    work: list[object] = [g.initializer for g in program.globals.values() if g.initializer]
    for _, i in program.all_instructions():
        work.extend(i.arguments if isinstance(i, Call) else i.operands)
    while work:
        value = work.pop()
        if isinstance(value, FunctionAddress):
            taken.add(value.name)
        else:
            work.extend(getattr(value, "elements", ()))
            work.extend(o for o in getattr(value, "operands", ()) if not isinstance(o, Register))
    return taken
