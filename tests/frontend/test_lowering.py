"""Each kind of instruction: from a line of C to the program model."""

from __future__ import annotations

import pytest

from raceproof.ir import (
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
    FloatType,
    Function,
    FunctionAddress,
    IndirectJump,
    InsertElement,
    Instruction,
    IntConstant,
    Intrinsic,
    IntType,
    LandingPad,
    Load,
    Negate,
    NextArgument,
    Offset,
    Phi,
    PointerType,
    Resume,
    Return,
    Select,
    SetMemory,
    Shuffle,
    StackSlot,
    Store,
    Switch,
    Unreachable,
)
from raceproof.ir.verify import broken_promises
from raceproof.options import DataModel
from tests.lowering import function, kinds, lower, the

KINDS: list[tuple[type[Instruction], str]] = [
    (StackSlot, "void g(int *p); void f(void) { int x; g(&x); }"),
    (Load, "int x; int f(void) { return x; }"),
    (Store, "int x; void f(int y) { x = y; }"),
    (AtomicUpdate, "_Atomic int x; void f(void) { x += 2; }"),
    (CompareExchange, "int f(int *p) { return __sync_val_compare_and_swap(p, 1, 2); }"),
    (Fence, "void f(void) { __sync_synchronize(); }"),
    (CopyMemory, "struct s { int a[9]; } x, y; void f(void) { x = y; }"),
    (SetMemory, "void g(char *p); void f(void) { char b[64] = {0}; g(b); }"),
    (Offset, "struct s { int a, b; }; int f(struct s *p) { return p->b; }"),
    (Binary, "unsigned f(unsigned a, unsigned b) { return a * b; }"),
    (Compare, "int f(int a, int b) { return a < b; }"),
    (Cast, "long f(int a) { return a; }"),
    (Negate, "double f(double a) { return -a; }"),
    (Phi, "int f(int a, int b) { return a && b; }"),
    (Branch, "int f(int a) { if (a) return 1; return 2; }"),
    (Switch, "int f(int a) { switch (a) { case 1: return 5; case 7: return 6; } return 0; }"),
    (IndirectJump, "int f(int a) { void *t[] = {&&x, &&y}; goto *t[a]; x: return 1; y:; }"),
    (Intrinsic, "double f(double a) { return __builtin_fabs(a); }"),
    (Call, "int g(int); int f(int a) { return g(a); }"),
    (Assembly, 'void f(void) { __asm__ volatile("nop" ::: "memory"); }'),
    (Unreachable, "void f(void) { __builtin_unreachable(); }"),
    (Return, "void f(void) {}"),
    (InsertElement, "typedef int v4 __attribute__((vector_size(16)));"
     " v4 f(v4 a, int i, int x) { a[i] = x; return a; }"),
    (ExtractElement, "typedef int v4 __attribute__((vector_size(16)));"
     " int f(v4 a, int i) { return a[i]; }"),
    (Shuffle, "typedef int v4 __attribute__((vector_size(16)));"
     " v4 f(v4 a, v4 b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }"),
    (ExtractField, "int f(int a, int b, int *c) { return __builtin_add_overflow(a, b, c); }"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), KINDS, ids=[kind.__name__ for kind, _ in KINDS])
def test_every_kind(kind: type[Instruction], text: str) -> None:
    assert kind in kinds(text)


CXX = """
struct Guard { ~Guard(); };
void g();
void f() { Guard guard; g(); }
int main() {}
"""


def test_exceptions() -> None:
    found = kinds(CXX, ".cpp", "f")
    assert {AfterInvoke, LandingPad, Resume} <= set(found)


def test_landing_pads_are_reached_from_the_invoke() -> None:
    unit = function(lower(CXX, ".cpp"), "f")
    invoke = next(i for i in unit.instructions if isinstance(i, AfterInvoke))
    pad = unit.blocks[invoke.unwind]
    assert any(isinstance(i, LandingPad) and i.cleanup for i in pad.instructions)


@pytest.mark.parametrize(
    ("text", "atomic", "volatile"),
    [
        ("int x; int f(void) { return x; }", "", False),
        ("volatile int x; int f(void) { return x; }", "", True),
        ("_Atomic int x; int f(void) { return x; }", "seq_cst", False),
        ("int x; int f(void) { return __atomic_load_n(&x, 2); }", "acquire", False),
    ],
)
def test_loads_keep_order_and_volatility(text: str, atomic: str, volatile: bool) -> None:
    load = the(Load, text)
    assert (load.atomic, load.volatile) == (atomic, volatile)


def test_locals_whose_address_is_not_taken_are_registers() -> None:
    text = "int f(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += i; return sum; }"
    found = kinds(text)
    assert not {Load, Store, StackSlot} & set(found)
    assert found.count(Phi) == 2


def test_pointer_arithmetic_is_base_constant_and_scaled_indices() -> None:
    text = """struct s { int head; struct { int x, y; } cells[10]; };
    int *f(struct s *p, long i) { return &p[3].cells[i].y; }"""
    offsets = [i for i in function(lower(text), "f").instructions if isinstance(i, Offset)]
    assert sum(o.constant for o in offsets) == 3 * 84 + 4 + 4
    assert [scale for o in offsets for _, scale in o.terms] == [8]


def test_from_a_member_to_its_struct_is_a_constant_step() -> None:
    text = """
    struct link { struct link *next; }; struct node { int a, b; struct link link; };
    struct node *f(struct link *at) {
        return (struct node *)((char *)at - (unsigned long)&((struct node *)0)->link); }"""
    (step,) = (i for i in function(lower(text), "f").instructions if isinstance(i, Offset))
    assert (step.constant, step.terms) == (-8, ())


@pytest.mark.parametrize(
    ("type_", "bits"),
    [("char", 8), ("short", 16), ("int", 32), ("long long", 64), ("__int128", 128),
     ("unsigned _BitInt(37)", 37)],
)  # fmt: skip
def test_integers_of_every_width(type_: str, bits: int) -> None:
    text = f"{type_} f({type_} a, {type_} b) {{ return a ^ b; }}"
    widths = [i.left.type for i in function(lower(text), "f").instructions if isinstance(i, Binary)]
    assert widths
    assert all(isinstance(t, IntType) for t in widths)
    assert max(t.bits for t in widths if isinstance(t, IntType)) >= bits


def test_long_depends_on_the_data_model() -> None:
    for model, size in ((DataModel.ILP32, 4), (DataModel.LP64, 8)):
        program = lower("long x; void *p;", data_model=model)
        assert (program.globals["x"].size, program.globals["p"].size) == (size, size)
        assert program.data_model == model.value


def test_floats() -> None:
    text = "long double f(float a, double b, long double c) { return a + b + c; }"
    types = {i.result.type for i in function(lower(text), "f").instructions
             if isinstance(i, Binary) and i.result is not None}  # fmt: skip
    assert all(isinstance(t, FloatType) for t in types)
    assert len(types) == 2


def test_structs_by_value_are_copied_at_the_call() -> None:
    text = "struct s { int a[20]; }; void g(struct s x); void f(struct s *p) { g(*p); }"
    call = the(Call, text)
    assert len(call.by_value) == 1


def test_bit_fields_share_their_storage_unit() -> None:
    text = "struct s { unsigned a : 3, b : 5; } x; void f(void) { x.b = 2; }"
    load, store = the(Load, text), the(Store, text)
    assert load.type == store.value.type == IntType(8)
    assert "or" in [i.operation for i in function(lower(text), "f").instructions
                    if isinstance(i, Binary)]  # fmt: skip


def test_variable_length_arrays() -> None:
    text = "void g(int *); void f(int n) { int a[n]; g(a); }"
    slots = [i for i in function(lower(text), "f").instructions if isinstance(i, StackSlot)]
    assert any(not isinstance(slot.count, IntConstant) for slot in slots)


def test_function_pointers_and_direct_calls() -> None:
    direct = the(Call, "void g(void); void f(void) { g(); }")
    assert isinstance(direct.callee, FunctionAddress)
    indirect = the(Call, "void f(void (*h)(void)) { h(); }")
    assert not isinstance(indirect.callee, FunctionAddress)
    assert isinstance(indirect.callee.type, PointerType)


def test_thread_locals_and_constants_are_marked() -> None:
    program = lower('_Thread_local int own; const int fixed = 3; char *s = "text"; static int here;'
                    "int f(void) { return here; }")  # fmt: skip
    assert program.globals["own"].is_thread_local
    assert program.globals["fixed"].is_constant
    assert not program.globals["here"].is_external
    assert any(g.is_string for g in program.globals.values())


def test_inline_assembly_is_opaque_and_says_whether_it_clobbers_memory() -> None:
    assert the(Assembly, 'void f(void) { __asm__("nop" ::: "memory"); }').clobbers_memory
    assert not the(Assembly, 'int f(int a) { __asm__("" : "+r"(a)); return a; }').clobbers_memory


def test_selects_from_llvm_text() -> None:
    text = "define i32 @main(i1 %c) {\n  %r = select i1 %c, i32 1, i32 2\n  ret i32 %r\n}\n"
    assert Select in [type(i) for i in function(lower(text, ".ll"), "main").instructions]


def test_variable_arguments_from_llvm_text() -> None:
    text = "define i32 @main(ptr %list) {\n  %r = va_arg ptr %list, i32\n  ret i32 %r\n}\n"
    assert NextArgument in [type(i) for i in function(lower(text, ".ll"), "main").instructions]


def test_positions_and_numbers() -> None:
    program = lower("int x;\nint f(void) {\n    return x + 1;\n}\n")
    load = next(i for i in function(program, "f").instructions if isinstance(i, Load))
    assert load.position is not None
    assert (load.position.line, load.position.column) == (3, 12)
    numbers = [i.number for _, i in program.all_instructions()]
    assert numbers == list(range(len(numbers)))
    assert all(program.instruction(n).number == n for n in numbers)


def test_heap_types_come_from_the_receiving_variable() -> None:
    text = """#include <stdlib.h>
    struct node { int value; struct node *next; };
    void f(void) { struct node *n = malloc(sizeof *n); n->next = 0; }"""
    program = lower(text)
    (key,) = program.heap_types.values()
    target = program.debug.type(program.debug.type(key).target)
    assert target.name == "node"


NAMES = """
struct point { int x, y; };
struct { int count[4]; struct point *where; struct point grid[2][3]; union { int i; float f; } u;
         unsigned low : 4, high : 4; } stats;
"""


@pytest.mark.parametrize(
    ("offset", "size", "name"),
    [
        (8, 4, ".count[2]"),
        (16, 8, ".where"),
        (24 + 3 * 8 + 8 + 4, 4, ".grid[1][1].y"),
        (0, 16, ".count"),
        (72, 4, ".u"),
    ],
)
def test_names_for_people(offset: int, size: int, name: str) -> None:
    program = lower(NAMES)
    found = program.debug.path(program.globals["stats"].debug_type, offset, size)
    assert found.startswith(name)


def test_what_is_lowered_is_well_formed() -> None:
    for _, text in KINDS:
        assert not broken_promises(lower(text))


def test_several_files_become_one_program(tmp_path: object) -> None:
    from pathlib import Path

    from raceproof.frontend import load_program
    from raceproof.options import Options

    folder = Path(str(tmp_path))
    (folder / "a.c").write_text("extern int x; int twice(void); static int own(void) { return 1; }"
                                "int main(void) { return twice() + x + own(); }")  # fmt: skip
    (folder / "b.c").write_text("int x = 2; static int own(void) { return 2; }"
                                "int twice(void) { return 2 * x + own(); }")  # fmt: skip
    program = load_program([folder / "a.c", folder / "b.c"], Options())
    owns: list[Function] = [f for f in program.defined if f.display == "own"]
    assert len(owns) == 2
    assert program.globals["x"].initializer is not None


def test_a_string_that_speaks_of_an_alias() -> None:
    """Within the first words of the line of the variable, as an alias has it."""
    program = lower('const char *text(void) { return "an alias of it"; }')
    assert program.functions["text"].is_defined
