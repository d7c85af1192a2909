"""Which atomic reads may see a value that orders nothing."""

from __future__ import annotations

import pytest

from raceproof.ir import AtomicUpdate, CompareExchange, Load, Program
from raceproof.ir.unordered import NOTHING, Unordered
from raceproof.options import MemoryModel
from tests.lowering import lower

HEAD = "#include <stdatomic.h>\n#include <stdbool.h>\natomic_int a, b;\natomic_bool t;\nint x;\n"
ANY = Unordered(frozenset(), True)


def only(*values: int) -> Unordered:
    return Unordered(frozenset(values))


def but(*values: int) -> Unordered:
    return Unordered(frozenset(values), True)


def reads(
    program: Program, kind: type[Load | AtomicUpdate | CompareExchange] = Load
) -> list[Unordered]:
    """What the atomic reads of a kind may see without order, in the order of the source."""
    return [
        program.unordered.get(i.number, NOTHING)
        for _, i in program.all_instructions()
        if isinstance(i, kind) and i.atomic
    ]


def orders(text: str) -> str:
    """`LOAD(&a, acq)` for `atomic_load_explicit(&a, memory_order_acquire)`, and so on."""
    for short, name in (("rlx", "relaxed"), ("acq", "acquire"), ("rel", "release")):
        text = text.replace(f", {short})", f", memory_order_{name})")
    for short, name in (("LOAD", "load"), ("STORE", "store"), ("SWAP", "exchange")):
        text = text.replace(f"{short}(", f"atomic_{name}_explicit(")
    return text.replace("ADD(", "atomic_fetch_add_explicit(")


@pytest.mark.parametrize(
    ("writer", "reader", "expected"),
    [
        ("STORE(&a, 1, rel);", "LOAD(&a, acq)", NOTHING),
        ("atomic_store(&a, 1);", "atomic_load(&a)", NOTHING),
        ("STORE(&a, 1, rel);", "LOAD(&a, rlx)", ANY),
        ("STORE(&a, 1, rlx);", "LOAD(&a, acq)", only(1)),
        ("STORE(&a, x, rlx);", "LOAD(&a, acq)", ANY),
        ("STORE(&b, 1, rlx);", "LOAD(&a, acq)", NOTHING),
        ("ADD(&a, 1, rel);", "LOAD(&a, acq)", NOTHING),
        ("ADD(&a, 1, rlx);", "LOAD(&a, acq)", ANY),
        ("ADD(&a, 1, rel); STORE(&a, 7, rlx);", "LOAD(&a, acq)", ANY),
        ("SWAP(&a, 1, acq); STORE(&a, 0, rel);", "LOAD(&a, acq)", only(1)),
        ("x = 1; atomic_thread_fence(memory_order_release); STORE(&a, 1, rlx);", "LOAD(&a, acq)",
         NOTHING),
        ("atomic_thread_fence(memory_order_release); x = 1; STORE(&a, 1, rlx);", "LOAD(&a, acq)",
         only(1)),
        ("atomic_thread_fence(memory_order_acquire); STORE(&a, 1, rlx);", "LOAD(&a, acq)", only(1)),
    ],
)  # fmt: skip
def test_a_load_is_unordered_for_what_nobody_releases(
    writer: str, reader: str, expected: Unordered
) -> None:
    text = HEAD + orders(
        f"void w(void) {{ {writer} }}\nint f(void) {{ return {reader}; }}\n"
        "int main(void) { w(); return f(); }"
    )
    assert reads(lower(text)) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if (LOAD(&a, rlx) == 3) { FENCE; x = 1; }", but(3)),
        ("if (LOAD(&a, rlx) != 3) { FENCE; x = 1; }", only(3)),
        ("while (!LOAD(&a, rlx)) ; FENCE; x = 1;", only(0)),
        ("while (!LOAD(&t, rlx)) ; FENCE; x = 1;", only(0)),
        ("int k = LOAD(&a, rlx); FENCE; x = k;", NOTHING),
        ("if (LOAD(&a, rlx) == 3) { x = 1; FENCE; }", ANY),
        ("if (LOAD(&a, rlx) > 3) { FENCE; x = 1; }", ANY),
    ],
)
def test_an_acquire_fence_orders_the_values_that_lead_to_it(body: str, expected: Unordered) -> None:
    body = body.replace("FENCE", "atomic_thread_fence(memory_order_acquire)")
    text = HEAD + orders(f"int main(void) {{ {body} STORE(&a, 3, rel); return 0; }}")
    assert reads(lower(text)) == [expected]


def test_a_spin_lock_is_unordered_for_the_value_of_who_waits() -> None:
    text = HEAD + orders(
        "void lock(atomic_int *l) { while (SWAP(l, 1, acq)) ; }\n"
        "int main(void) { lock(&a); x = 1; STORE(&a, 0, rel); return 0; }"
    )
    assert reads(lower(text), AtomicUpdate) == [Unordered(frozenset((1,)), stores_in_vain=True)]


@pytest.mark.parametrize(
    ("success", "failure", "expected"),
    [
        ("seq_cst", "seq_cst", NOTHING),
        ("acq_rel", "acquire", NOTHING),
        ("acquire", "relaxed", Unordered(may_fail=True)),
        ("relaxed", "relaxed", Unordered(may_fail=True, may_succeed=True)),
    ],
)
def test_an_exchange_by_its_two_orders(success: str, failure: str, expected: Unordered) -> None:
    text = HEAD + (
        "int main(void) { int e = 0; atomic_compare_exchange_strong_explicit(&a, &e, 1, "
        f"memory_order_{success}, memory_order_{failure}); return e; }}"
    )
    assert reads(lower(text), CompareExchange) == [expected]


WRAPPED = """
static int get(memory_order order) { return atomic_load_explicit(&a, order); }
static void set(memory_order order) { atomic_store_explicit(&a, 1, order); }
"""


@pytest.mark.parametrize(
    ("load", "store", "is_ordered"),
    [("acquire", "release", True), ("seq_cst", "seq_cst", True), ("relaxed", "release", False)],
)
def test_orders_that_are_handed_down(load: str, store: str, is_ordered: bool) -> None:
    main = f"int main(void) {{ set(memory_order_{store}); return get(memory_order_{load}); }}"
    assert (not lower(HEAD + WRAPPED + main).unordered) is is_ordered


@pytest.mark.parametrize(
    ("order", "is_ordered"), [("", True), ("std::memory_order_relaxed", False)]
)
def test_orders_of_the_standard_library(order: str, is_ordered: bool) -> None:
    text = f"#include <atomic>\nstatic std::atomic<int> a; int main() {{ return a.load({order}); }}"
    assert (not lower(text, ".cpp").unordered) is is_ordered


def test_the_sequentially_consistent_meaning_knows_no_orders() -> None:
    text = HEAD + orders("int main(void) { STORE(&a, 1, rlx); return LOAD(&a, rlx); }")
    assert lower(text).unordered
    assert not lower(text, memory_model=MemoryModel.SC).unordered


def test_union_of_values() -> None:
    assert only(1).union(only(2)) == only(1, 2)
    assert only(1).union(but(1, 2)) == but(2)
    assert but(1).union(but(1, 2)) == but(1)
    assert not NOTHING
    assert but(3).contains(4)
    assert not but(3).contains(3)
