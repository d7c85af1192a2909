"""Undefined behaviour ends that execution with a message, never the tool."""

from __future__ import annotations

import pytest

from raceproof.machine.faults import (
    Aborted,
    AssertionFailed,
    Ended,
    UndefinedBehaviour,
    Unsupported,
)
from tests.machine.running import machine_of

NULL = "null pointer"
MISTAKES = {
    "read through null": ("int *p = 0; return *p;", NULL),
    "write through null": ("int *p = 0; *p = 1; return 0;", NULL),
    "a member of null": ("struct { long a, b; } *p = 0; return p->b;", NULL),
    "a call of null": ("int (*f)(void) = 0; return f();", "a call of no function"),
    "a wild pointer": ("int *p = (int *)0x1234560; return *p;", "no object at"),
    "use after free": ("int *p = malloc(4); *p = 1; free(p); return *p;", "out of bounds"),
    "write after free": ("int *p = malloc(4); free(p); *p = 1; return 0;", "constant"),
    "double free": ("int *p = malloc(4); free(p); free(p); return 0;", "freed twice"),
    "free of a local": ("int x = 0; free(&x); return 0;", "no heap block"),
    "free of the middle": ("char *p = malloc(4); free(p + 1); return 0;", "no heap block"),
    "past the end of the heap block": ("char *p = malloc(4); return p[4];", "offset 4 of malloc"),
    "past the end of an array": ("volatile int i = 4; int a[4]; a[i] = 1; return 0;", "out of"),
    "before an array": ("volatile int i = -1; int a[4]; a[i] = 1; return 0;", "offset -4 of a"),
    "another member's bytes are fine": ("struct { int a[2], b; } s; s.b = 1; s.a[1] = 2;", ""),
    "a dangling local": (
        "int *keep = dangle(); return *keep;",
        "no object at",
    ),
    "division by zero": ("volatile int z = 0; return 1 / z;", "division by zero"),
    "remainder of zero": ("volatile unsigned z = 0; return 1 % z;", "division by zero"),
    "shift too far": ("volatile int n = 40; return 1 << n;", "a shift of 32 bits by 40"),
    "write to a constant": ('char *s = "text"; s[0] = 1; return 0;', "constant"),
    "a string without end": ("char s[3] = {1, 2, 3}; return strlen(s);", "a string without end"),
    "memcpy past the end": ("char s[3], t[9] = {0}; memcpy(s, t, 9); return 0;", "9 bytes at"),
    "endless recursion": ("return forever(1);", "stack overflow"),
    "join of no thread": ("return pthread_join((pthread_t)77, 0);", "no thread with id"),
    "unreachable": ("__builtin_unreachable();", "unreachable"),
    "a trap": ("__builtin_trap();", "trap"),
}
HELPERS = """
static int *dangle(void) { int local = 1; int *volatile p = &local; return p; }
static int forever(int n) { volatile char room[100]; room[0] = n; return forever(n + 1) + room[0]; }
"""


def ending(body: str) -> Ended | None:
    machine = machine_of(f"{HELPERS} int main(void) {{ {body} }}")
    machine.reset()
    for _ in range(1000):
        enabled = machine.enabled()
        if not enabled:
            break
        machine.step(enabled[0])
    return machine.ended


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_ends_the_execution(name: str) -> None:
    body, message = MISTAKES[name]
    ended = ending(body)
    if not message:
        assert not isinstance(ended, UndefinedBehaviour), ended
        return
    assert isinstance(ended, UndefinedBehaviour)
    assert message in str(ended)


def test_abort_and_assertions() -> None:
    assert isinstance(ending("abort();"), Aborted)
    declared = "void __assert_fail(const char *, const char *, unsigned, const char *);"
    assert isinstance(ending(f'{declared} __assert_fail("x", "f", 1, "g");'), AssertionFailed)


def test_what_the_machine_cannot_do_is_said() -> None:
    ended = ending("long s = 0; char *p = 0; return mbsrtowcs(0, &p, 1, &s);")
    assert isinstance(ended, Unsupported)
    assert "mbsrtowcs" in str(ended)


def test_the_machine_can_be_used_again_after_a_fault() -> None:
    machine = machine_of("int x; int main(void) { int *p = x++ ? &x : 0; return *p; }")
    for _ in range(2):
        machine.reset()
        assert isinstance(machine.ended, UndefinedBehaviour)


def test_a_fault_of_one_thread_leaves_the_others_their_turn() -> None:
    source = """static int x; static void *bad(void *arg) { int *p = 0; *p = 1; return 0; }
    int main(void) { CREATE(a, bad); x = 1; x = 2; JOIN(a); return 0; }"""
    machine = machine_of(source)
    machine.reset()
    assert machine.ended is None
    assert machine.enabled() == [0, 1]
