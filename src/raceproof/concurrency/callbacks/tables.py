"""Functions that a value is or leads to, as far as constants tell.

static const struct operations table = {open_server, read_request};
run_server(&table);                                  // open_server, read_request

struct hooks h;  h.done = on_done;  library_start(&h);       // on_done
"""

from __future__ import annotations

from raceproof.ir import (
    AggregateConstant,
    Constant,
    ConstantExpression,
    Function,
    FunctionAddress,
    GlobalAddress,
    NullPointer,
    Offset,
    PointerType,
    Program,
    Register,
    StackSlot,
    Store,
    Value,
)

_Definition = StackSlot | Offset


class FunctionTables:
    """Looks up functions of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._definitions: dict[str, dict[Register, _Definition]] = {}

    def functions(self, caller: Function, value: Value) -> list[str]:
        """The functions with a body that the value is or leads to: by name, in the initializer of
        a variable, or stored into a local variable by the same function."""
        found: dict[str, None] = {}
        seen: set[str | StackSlot] = set()
        work: list[Value] = [value]
        while work:
            match work.pop():
                case FunctionAddress(name=name):
                    function = self._program.functions.get(name)
                    if function is not None and function.is_defined:
                        found[name] = None
                case GlobalAddress(name=name) if name not in seen:
                    seen.add(name)
                    variable = self._program.globals.get(name)
                    if variable is not None and variable.initializer is not None:
                        work.append(variable.initializer)
                case AggregateConstant(elements=parts) | ConstantExpression(operands=parts):
                    work.extend(parts)
                case Register() as register:
                    slot = self._slot(caller, register)
                    if slot is not None and slot not in seen:
                        seen.add(slot)
                        work += [store.value for store in self._stores(caller, slot)]
        return sorted(found)

    def is_certain(self, caller: Function, value: Value) -> bool:
        """Can the value lead to no other function than `functions` says?

        So for what is no address, and for addresses of constants that hold none but addresses of
        such constants and of functions.
        """
        seen: set[str] = set()
        work: list[Value] = [value]
        while work:
            one = work.pop()
            match one:
                case FunctionAddress() | NullPointer():
                    continue
                case GlobalAddress(name=name):
                    if name in seen:
                        continue
                    seen.add(name)
                    variable = self._program.globals.get(name)
                    if variable is None or not variable.is_constant or variable.initializer is None:
                        return False
                    work.append(variable.initializer)
                case AggregateConstant(elements=parts) | ConstantExpression(operands=parts):
                    work.extend(parts)
                case Constant():
                    continue
                case _:
                    if isinstance(one.type, PointerType) or one.type.is_aggregate:
                        return False
        return True

    def _stores(self, function: Function, slot: StackSlot) -> list[Store]:
        return [
            store
            for store in function.instructions
            if isinstance(store, Store) and self._slot(function, store.pointer) is slot
        ]

    def _slot(self, function: Function, value: Value) -> StackSlot | None:
        """The local variable that an address points into."""
        known = self._definitions.get(function.name)
        if known is None:
            known = self._definitions[function.name] = {
                instruction.result: instruction
                for instruction in function.instructions
                if isinstance(instruction, StackSlot | Offset) and instruction.result is not None
            }
        while isinstance(value, Register):
            definition = known.get(value)
            if isinstance(definition, StackSlot):
                return definition
            if definition is None:
                return None
            value = definition.base
        return None
