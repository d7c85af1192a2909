"""What a call's result is kept as: the debug type of the variable or member that receives it.

    struct node *n = malloc(size);     threads = calloc(count, sizeof *threads);

Heap objects get their shape and their name from it. Between the call and the store there may be
code that a library model inserted, such as the one that sets `errno`.
"""

from __future__ import annotations

from collections.abc import Mapping

from raceproof.ir import (
    Call,
    DebugInfo,
    Function,
    Global,
    GlobalAddress,
    Instruction,
    Load,
    Offset,
    PointerType,
    Register,
    Store,
    Value,
)

_MOST_STEPS = 4
"""Members on the way from a variable to where a result is stored."""


class HeapTypes:
    def __init__(self, globals_: Mapping[str, Global], debug: DebugInfo) -> None:
        self._globals = globals_
        self._debug = debug

    def of(self, function: Function, variables: Mapping[int, str]) -> dict[int, str]:
        """Number of a call -> type of what receives its result. `variables`: the types of the local
        variables that registers are stored to."""
        calls = {
            i.result.index: i
            for i in function.instructions
            if isinstance(i, Call) and i.result and isinstance(i.result.type, PointerType)
        }
        if not calls:
            return {}
        found = {
            call.number: variables[index] for index, call in calls.items() if index in variables
        }
        makers: dict[int, Instruction] | None = None
        for store in function.instructions:
            if not isinstance(store, Store) or not isinstance(store.value, Register):
                continue
            call = calls.get(store.value.index)
            if call is None or self._says_something(found.get(call.number, "")):
                continue
            if makers is None:
                makers = {i.result.index: i for i in function.instructions if i.result}
            type_ = self._held_at(store.pointer, makers, variables, _MOST_STEPS)
            if self._says_something(type_):
                found[call.number] = type_
        return found

    def _says_something(self, key: str) -> bool:
        """Is it a pointer to something that has a shape?"""
        type_ = self._debug.type(key) if key else None
        return (
            type_ is not None
            and type_.kind == "pointer"
            and self._debug.type(type_.target).size > 1
        )

    def _held_at(
        self,
        pointer: Value,
        makers: Mapping[int, Instruction],
        variables: Mapping[int, str],
        steps: int,
    ) -> str:
        """The type of the pointer variable at an address."""
        if isinstance(pointer, GlobalAddress):
            variable = self._globals.get(pointer.name)
            return "" if variable is None else self._member(variable.debug_type, pointer.offset)
        if not isinstance(pointer, Register) or not steps:
            return ""
        offset = 0
        maker = makers.get(pointer.index)
        if isinstance(maker, Offset) and pointer.index not in variables:
            if isinstance(maker.base, GlobalAddress):
                variable = self._globals.get(maker.base.name)
                at = maker.base.offset + maker.constant
                return "" if variable is None else self._member(variable.debug_type, at)
            if not isinstance(maker.base, Register):
                return ""
            pointer, offset = maker.base, maker.constant
            maker = makers.get(pointer.index)
        key = variables.get(pointer.index, "")
        if not key and isinstance(maker, Load):
            key = self._held_at(maker.pointer, makers, variables, steps - 1)
        target = self._debug.type(key) if key else None
        if target is None or target.kind != "pointer":
            return ""
        return self._member(target.target, offset)

    def _member(self, key: str, offset: int) -> str:
        """The type of the pointer at an offset in an object of a type; empty if there is none."""
        for _ in range(16):
            type_ = self._debug.type(key)
            if type_.kind == "pointer":
                return key if offset % max(type_.size, 1) == 0 else ""
            if type_.kind == "array":
                key = type_.target
                offset %= max(self._debug.type(key).size, 1)
                continue
            inside = [m for m in type_.members if m.offset <= offset < m.offset + max(m.size, 1)]
            if type_.kind != "struct" or len(inside) != 1:
                return ""
            key, offset = inside[0].type, offset - inside[0].offset
        return ""
