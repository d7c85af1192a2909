"""Small random programs with memory orders, and the truth about them.

The oracle tries every sequentially consistent schedule of the visible steps, without any reduction
or memory of states, and asks vector clocks after each step.
"""

from __future__ import annotations

from hypothesis import strategies as st

from raceproof.ir import Program
from raceproof.machine.happens_before import HappensBefore
from raceproof.machine.inputs import GivenInputs
from raceproof.machine.machine import Machine
from raceproof.machine.replay import take_step

_HEAD = """
#include <pthread.h>
#include <stdatomic.h>
static int d;
static atomic_int f, g;
#define ST(x, v, o) atomic_store_explicit(&x, v, memory_order_##o)
#define LD(x, o) atomic_load_explicit(&x, memory_order_##o)
#define SW(x, v, o) atomic_exchange_explicit(&x, v, memory_order_##o)
#define ADD(x, v, o) atomic_fetch_add_explicit(&x, v, memory_order_##o)
#define FENCE(o) atomic_thread_fence(memory_order_##o)
static _Bool cas_acquire(int a, int b) { return atomic_compare_exchange_strong_explicit(
    &f, &a, b, memory_order_acquire, memory_order_relaxed); }
static _Bool cas_release(int a, int b) { return atomic_compare_exchange_strong_explicit(
    &f, &a, b, memory_order_acq_rel, memory_order_acquire); }
"""

_STORE = st.sampled_from(("relaxed", "release", "release", "seq_cst"))
_LOAD = st.sampled_from(("relaxed", "acquire", "acquire", "seq_cst"))
_UPDATE = st.sampled_from(("relaxed", "acquire", "release", "acq_rel", "acq_rel"))
_PLACE = st.sampled_from("ffg")
_USE = st.sampled_from(("d = 1;", "k = d;", "d++;"))


@st.composite
def _statement(draw: st.DrawFn) -> str:
    place, use = draw(_PLACE), draw(_USE)
    form = draw(st.sampled_from(_FORMS))
    return form.format(
        x=place, use=use, s=draw(_STORE), l=draw(_LOAD), u=draw(_UPDATE), v=draw(_VALUE)
    )


_VALUE = st.sampled_from("112")
_FORMS = (
    "{use}",
    "ST({x}, {v}, {s});",
    "{use} ST({x}, {v}, {s});",
    "if (LD({x}, {l})) {{ {use} }}",
    "if (LD({x}, {l}) == {v}) {{ {use} }}",
    "if (LD({x}, relaxed) == {v}) {{ FENCE(acquire); {use} }}",
    "FENCE(release); ST({x}, {v}, relaxed);",
    "FENCE(acq_rel);",
    "if (!SW({x}, 1, {u})) {{ {use} ST({x}, 0, {s}); }}",
    "ADD({x}, 1, {u});",
    "if (ADD({x}, 1, {u}) == 1) {{ {use} }}",
    "{use} if (ADD({x}, 1, {u}) == 1) {{ {use} }}",
    "if (cas_acquire(0, {v})) {{ {use} ST(f, 0, {s}); }}",
    "if (!cas_release({v}, 3)) {{ {use} }}",
)


_FENCE = st.sampled_from(("", "", "FENCE(release);", "FENCE(acquire);", "FENCE(seq_cst);"))
_HANDOVER = (
    ("d = 1; {a} ST(f, 1, {s});", "if (LD(f, {l}) == 1) {{ {b} d++; }}"),
    ("d = 1; {a} ADD(f, 1, {u});", "if (LD(f, {l}) == 1) {{ {b} d++; }}"),
    ("d = 1; {a} ST(f, 2, {s});", "if (ADD(f, 1, {u}) == 2) {{ {b} d++; }}"),
    ("d = 1; {a} ST(f, 1, {s});", "if (!cas_release(0, 3)) {{ {b} d++; }}"),
    ("d = 1; {a} SW(f, 1, {u});", "if (SW(f, 1, {u}) == 1) {{ {b} d++; }}"),
)
_BOTH = (
    "if (!SW(f, 1, {u})) {{ {b} d++; {a} ST(f, 0, {s}); }}",
    "if (cas_acquire(0, 1)) {{ d++; {a} ST(f, 0, {s}); }}",
    "k = d; {a} if (ADD(f, 1, {u}) == 1) {{ {b} d = 4; }}",
)
_IDLE = st.sampled_from(
    ("", "", "ADD(g, 1, relaxed);", "ST(g, 1, relaxed);", "k = LD(f, relaxed);")
)


@st.composite
def _protocol(draw: st.DrawFn) -> tuple[str, str]:
    """Two threads that mean to keep apart, with orders that may be right or wrong."""
    one, two = draw(st.sampled_from((*_HANDOVER, *((both, both) for both in _BOTH))))
    orders = {"a": draw(_FENCE), "b": draw(_FENCE), "s": draw(_STORE), "l": draw(_LOAD)}
    bodies = [body.format(**orders, u=draw(_UPDATE)) for body in (one, two)]
    return f"{bodies[0]} {draw(_IDLE)}", f"{draw(_IDLE)} {bodies[1]}"


@st.composite
def _statements(draw: st.DrawFn) -> tuple[str, str]:
    lists = st.lists(_statement(), min_size=1, max_size=2)
    return " ".join(draw(lists)), " ".join(draw(lists))


@st.composite
def ordered_programs(draw: st.DrawFn) -> str:
    """Two threads, perhaps with a third that only passes things on."""
    one, two = draw(st.one_of(_protocol(), _protocol(), _statements()))
    third = draw(st.sampled_from(("", "", "if (LD(f, relaxed) == 1) ADD(f, 1, relaxed);")))
    threads = 2 if third else 1
    return f"""{_HEAD}
static void *first(void *p) {{ int k; {one} (void)k; return p; }}
static void *middle(void *p) {{ {third} return p; }}
int main(void) {{
    pthread_t t[2];
    int k = 0;
    pthread_create(&t[0], 0, first, 0);
    {"pthread_create(&t[1], 0, middle, 0);" if threads == 2 else "(void)middle;"}
    {two}
    for (int i = 0; i < {threads}; i++) pthread_join(t[i], 0);
    return k;
}}
"""


def is_racy(program: Program, most_executions: int) -> bool | None:
    """Whether happens-before leaves two accesses unordered in some execution; None if there are too
    many to tell."""
    machine = Machine(program)
    machine.keeps_ghosts = True
    waiting: list[tuple[int, ...]] = [()]
    for _ in range(most_executions):
        if not waiting:
            return False
        if _execute(machine, waiting.pop(), waiting):
            return True
    return None


def _execute(machine: Machine, prefix: tuple[int, ...], waiting: list[tuple[int, ...]]) -> bool:
    """One execution that begins so; adds the ways that it did not take."""
    machine.reset(GivenInputs())
    order = HappensBefore(machine)
    taken: list[int] = []
    while True:
        threads = machine.threads
        if any(machine.race_of(t) is not None for t in threads):
            return True
        if any(True for t in threads for _ in order.races_of(t)):
            return True
        enabled = machine.enabled()
        if not enabled:
            return False
        if machine.is_forced():
            take_step(machine, enabled[0], order)
            continue
        at = len(taken)
        if at < len(prefix):
            number = prefix[at]
        else:
            number = enabled[0]
            waiting.extend((*taken, other) for other in enabled[1:])
        taken.append(number)
        take_step(machine, number, order)
