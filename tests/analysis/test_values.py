"""What values may be: instructions, branches, loops, calls and memory of one thread."""

import pytest

from tests.analysis.probing import in_main, probed


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int a = any() ? 2 : 7; probe[a] = 1;", {2, 7}),
        ("int a = any() ? 2 : 7; probe[a * 3 + 1] = 1;", {7, 22}),
        ("int a = any() & 3; probe[a] = 1;", {0, 1, 2, 3}),
        ("unsigned a = any(); if (a > 3 && a < 6) probe[a] = 1;", {4, 5}),
        ("int a = any(); if (a >= 0 && a < 3) probe[a] = 1;", {0, 1, 2}),
        ("int a = any() & 7; if (a != 0 && a != 7) probe[a] = 1;", {1, 2, 3, 4, 5, 6}),
        ("int a = any(); switch (a) { case 4: case 9: probe[a] = 1; }", {4, 9}),
        ("int a = any() & 3; switch (a) { case 1: break; default: probe[a] = 1; }", {0, 2, 3}),
        ("unsigned char a = 250; a += 10; probe[a] = 1;", {4}),
        ("for (int i = 0; i < 3; i++) probe[i] = 1;", {0, 1, 2}),
        ("for (int i = 0; i < 400; i += 4) probe[i] = 1;", set(range(0, 400, 4))),
        ("int i = 5; while (any()) i = 9; probe[i] = 1;", {5, 9}),
        ("goto in; out: probe[3] = 1; return 0; in: if (any()) goto out;", {3}),
    ],
)
def test_exactly_these(body: str, expected: set[int]) -> None:
    assert probed(in_main(body)) == expected


@pytest.mark.parametrize(
    ("before", "body", "expected"),
    [
        ("", "x = 1; x = 2; probe[x] = 1;", {2}),
        ("", "x = 1; int *p = any() ? &x : &y; *p = 5; probe[x] = 1;", {1, 5}),
        ("int t[2];", "t[0] = 1; t[1] = 2; t[any() & 1] = 6; probe[t[0]] = 1;", {1, 6}),
        ("struct s { int a, b; } g, h;", "g.b = 4; h = g; probe[h.b] = 1;", {4}),
        ("int t[4], u[4];", "t[2] = 9; memcpy(u, t, sizeof t); probe[u[2]] = 1;", {9}),
        ("char t[4];", "memset(t, 3, 4); probe[t[1]] = 1;", {3}),
        ("", "int *p = calloc(4, 4); probe[p[3]] = 1;", {0}),
        ("union { int i; char c[4]; } u;", "u.i = 0; u.c[0] = 7; probe[u.i] = 1;", {7}),
    ],
)
def test_memory(before: str, body: str, expected: set[int]) -> None:
    """All that may stand there, and as little else as can be."""
    found = probed(in_main(body, before))
    assert found >= expected
    assert len(found) <= max(2, len(expected))


def test_a_block_of_every_round_is_not_overwritten() -> None:
    """One name stands for many objects: what the first holds is not lost by writing the last."""
    body = """
        int *all[100];
        for (int i = 0; i < 100; i++) { all[i] = malloc(4); *all[i] = 3; }
        *all[99] = 8;
        probe[*all[0]] = 1;"""
    assert probed(in_main(body)) >= {3}


CALLS = """
    int add(int a, int b) { return a + b; }
    int sub(int a, int b) { return a - b; }
    int apply(int (*f)(int, int), int a, int b) { return f(a, b); }
    int sum(int n) { return n ? n + sum(n - 1) : 0; }
    int odd(int n);
    int even(int n) { return n == 0 ? 1 : odd(n - 1); }
    int odd(int n) { return n == 0 ? 0 : even(n - 1); }
    int (*table[])(int, int) = {add, sub};
    void set(int *p, int v) { *p = v; }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("probe[add(2, 3)] = 1;", {5}),
        ("probe[apply(add, 5, 2)] = 1; probe[apply(sub, 5, 2)] = 1;", {7, 3}),
        ("probe[table[any() & 1](5, 2)] = 1;", {7, 3}),
        ("set(&x, 4); probe[x] = 1; set(&x, 5);", {4}),
        ("int a; set(&a, any() ? 1 : 6); probe[a] = 1;", {1, 6}),
    ],
)
def test_calls(body: str, expected: set[int]) -> None:
    assert probed(in_main(body, CALLS)) == expected


@pytest.mark.parametrize("depth", [0, 1])
def test_merged_calls_cover_each(depth: int) -> None:
    body = "probe[apply(add, 5, 2)] = 1; probe[apply(sub, 5, 2)] = 1;"
    assert probed(in_main(body, CALLS), depth=depth) >= {7, 3}


def test_recursion_covers_every_depth() -> None:
    analysis = probed(in_main("int s = sum(4); if (s >= 0 && s < 64) probe[s] = 1;", CALLS))
    assert 10 in analysis
    both = probed(in_main("probe[even(any() & 3) & 1] = 1;", CALLS))
    assert both == {0, 1}


def test_back_at_setjmp_with_what_was_written_since() -> None:
    body = "if (setjmp(b) == 0) { x = 5; longjmp(b, 1); } else probe[x] = 1;"
    assert probed(in_main(body, "jmp_buf b;")) >= {5}


def test_what_only_library_code_knows_may_be_anything() -> None:
    found = probed(in_main('char b[8]; strcpy(b, getenv("A")); probe[b[0] & 3] = 1;'))
    assert found == {0, 1, 2, 3}


def test_dead_code_is_not_interpreted() -> None:
    assert probed(in_main("if (0) probe[1] = 1; exit(0); probe[2] = 1;")) == set()
