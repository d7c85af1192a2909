"""Which stack slots no other thread can ever have the address of.

A slot's address escapes when it is stored, returned, cast to an integer, or handed to a function
that may keep it. What does not escape is private: its accesses are no visible steps.
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.ir import (
    AtomicUpdate,
    Call,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
    Freeze,
    Function,
    FunctionAddress,
    Instruction,
    Intrinsic,
    Load,
    NextArgument,
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

_FOLLOWED = (Offset, Phi, Select, Freeze)
_HARMLESS = (Load, SetMemory, CopyMemory, Compare, Intrinsic, NextArgument)


class EscapeAnalysis:
    """Answers for one program, computed when asked.

    `keeps(name, index)` says whether the external function `name` may keep its argument `index`.
    """

    def __init__(self, program: Program, keeps: Callable[[str, int], bool]) -> None:
        self._program = program
        self._keeps = keeps
        self._users: dict[str, dict[Register, list[Instruction]]] = {}
        self._parameters: dict[tuple[str, int], bool] = {}

    def private_slots(self, function: Function) -> frozenset[Register]:
        """The results of the stack slots that do not escape."""
        return frozenset(
            instruction.result
            for instruction in function.instructions
            if isinstance(instruction, StackSlot)
            and instruction.result is not None
            and not self._escapes(function, instruction.result)
        )

    def _escapes(self, function: Function, register: Register) -> bool:
        users = self._users_of(function)
        seen = {register}
        work = [register]
        while work:
            pointer = work.pop()
            for user in users.get(pointer, ()):
                if isinstance(user, _HARMLESS):
                    continue
                follow = isinstance(user, _FOLLOWED) or (
                    isinstance(user, Cast) and user.operation in ("bitcast", "addrspacecast")
                )
                if follow:
                    if user.result is not None and user.result not in seen:
                        seen.add(user.result)
                        work.append(user.result)
                elif self._keeps_it(user, pointer):
                    return True
        return False

    def _keeps_it(self, user: Instruction, pointer: Value) -> bool:
        match user:
            case Store(value=value):
                return value is pointer
            case AtomicUpdate(value=value):
                return value is pointer
            case CompareExchange():
                return user.expected is pointer or user.replacement is pointer
            case Call(callee=FunctionAddress(name=name), arguments=arguments):
                return any(
                    argument is pointer and self._argument_escapes(name, index)
                    for index, argument in enumerate(arguments)
                )
        return True

    def _argument_escapes(self, name: str, index: int) -> bool:
        function = self._program.functions.get(name)
        if function is None or not function.is_defined:
            return self._keeps(name, index)
        if index >= len(function.parameters):
            return True
        key = (name, index)
        found = self._parameters.get(key)
        if found is None:
            self._parameters[key] = True  # while we look: recursion may do anything
            found = self._escapes(function, function.parameters[index])
            self._parameters[key] = found
        return found

    def _users_of(self, function: Function) -> dict[Register, list[Instruction]]:
        users = self._users.get(function.name)
        if users is None:
            users = self._users[function.name] = {}
            for instruction in function.instructions:
                for operand in instruction.operands:
                    if isinstance(operand, Register):
                        users.setdefault(operand, []).append(instruction)
        return users
