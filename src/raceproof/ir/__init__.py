"""What a program is: types, values, instructions, blocks, functions, the whole program.

The parts are loaded when they are asked for: a verdict needs positions, not instructions, and a
scan that finds nothing changed has little time.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raceproof.ir.debug import (
        DebugInfo,
        DebugType,
        Member,
    )
    from raceproof.ir.instructions import (
        AfterInvoke,
        Assembly,
        AtomicUpdate,
        Binary,
        Branch,
        Call,
        Cast,
        Compare,
        CompareExchange,
        CopyMemory,
        ExtractElement,
        ExtractField,
        Fence,
        Freeze,
        IndirectJump,
        InsertElement,
        InsertField,
        Instruction,
        Intrinsic,
        Jump,
        LandingPad,
        Load,
        Negate,
        NextArgument,
        Offset,
        Phi,
        Resume,
        Return,
        Select,
        SetMemory,
        Shuffle,
        StackSlot,
        Store,
        Switch,
        Terminator,
        Unreachable,
    )
    from raceproof.ir.position import Position
    from raceproof.ir.program import (
        Block,
        Function,
        Global,
        Origin,
        Program,
        UnitOrigin,
    )
    from raceproof.ir.types import (
        I1,
        I8,
        I16,
        I32,
        I64,
        POINTER,
        VOID,
        ArrayType,
        FloatType,
        FunctionType,
        IntType,
        Layout,
        OpaqueType,
        PointerType,
        StructType,
        Type,
        VectorType,
        VoidType,
    )
    from raceproof.ir.values import (
        AggregateConstant,
        BlockAddress,
        BytesConstant,
        Constant,
        ConstantExpression,
        FloatConstant,
        FunctionAddress,
        GlobalAddress,
        IntConstant,
        NullPointer,
        Register,
        Undefined,
        Value,
        ZeroConstant,
    )

__all__ = [
    "I1",
    "I8",
    "I16",
    "I32",
    "I64",
    "POINTER",
    "VOID",
    "AfterInvoke",
    "AggregateConstant",
    "ArrayType",
    "Assembly",
    "AtomicUpdate",
    "Binary",
    "Block",
    "BlockAddress",
    "Branch",
    "BytesConstant",
    "Call",
    "Cast",
    "Compare",
    "CompareExchange",
    "Constant",
    "ConstantExpression",
    "CopyMemory",
    "DebugInfo",
    "DebugType",
    "ExtractElement",
    "ExtractField",
    "Fence",
    "FloatConstant",
    "FloatType",
    "Freeze",
    "Function",
    "FunctionAddress",
    "FunctionType",
    "Global",
    "GlobalAddress",
    "IndirectJump",
    "InsertElement",
    "InsertField",
    "Instruction",
    "IntConstant",
    "IntType",
    "Intrinsic",
    "Jump",
    "LandingPad",
    "Layout",
    "Load",
    "Member",
    "Negate",
    "NextArgument",
    "NullPointer",
    "Offset",
    "OpaqueType",
    "Origin",
    "Phi",
    "PointerType",
    "Position",
    "Program",
    "Register",
    "Resume",
    "Return",
    "Select",
    "SetMemory",
    "Shuffle",
    "StackSlot",
    "Store",
    "StructType",
    "Switch",
    "Terminator",
    "Type",
    "Undefined",
    "UnitOrigin",
    "Unreachable",
    "Value",
    "VectorType",
    "VoidType",
    "ZeroConstant",
]

_PARTS = ("position", "types", "values", "debug", "instructions", "program")

if not TYPE_CHECKING:

    def __getattr__(name):
        """Python asks here for what the package does not have yet."""
        if name in __all__:
            for part in _PARTS:
                found = getattr(import_module(f"{__name__}.{part}"), name, None)
                if found is not None:
                    globals()[name] = found
                    return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
