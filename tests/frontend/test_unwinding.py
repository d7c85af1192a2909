"""Invokes of what never throws are plain calls; the others keep their landing pads."""

from __future__ import annotations

import pytest

from raceproof.ir import AfterInvoke, Call
from raceproof.ir.verify import broken_promises
from tests.lowering import function, lower

FRAME = """
struct Guard {{ ~Guard(); int x; }};
{before}
int f(int a) {{ Guard guard; int r = {call}; return r + guard.x; }}
int main() {{ return f(1); }}
"""


@pytest.mark.parametrize(
    ("before", "call", "may_unwind"),
    [
        ("int g(int);", "g(a)", True),
        ("int g(int) noexcept;", "g(a)", False),
        ("int g(int a) { return a; }", "g(a)", False),
        ("int h(int) noexcept; int g(int a) { return h(a) + 1; }", "g(a)", False),
        ("int g(int a) { if (a) throw 1; return a; }", "g(a)", True),
        ("int h(int a) { throw a; } int g(int a) { return h(a); }", "g(a)", True),
        ("int h(int a) { throw a; } int g(int a) { try { h(a); } catch (int) {} return 1; }",
         "g(a)", True),
        ("int (*g)(int);", "g(a)", False),
        ("int g(int a) { return a ? g(a - 1) : 0; }", "g(a)", False),
        ("int h(int a); int g(int a) { return a ? h(a - 1) : 0; }"
         " int h(int a) { if (a == 7) throw a; return g(a); }", "g(a)", True),
    ],
)  # fmt: skip
def test_only_what_may_throw_unwinds(before: str, call: str, may_unwind: bool) -> None:
    program = lower(FRAME.format(before=before, call=call), ".cpp")
    instructions = function(program, "f").instructions
    tests = [i for i in instructions if any("raceproof_thrown" in str(o) for o in i.operands)]
    unwinds = bool(tests) or any(isinstance(i, AfterInvoke) for i in instructions)
    assert unwinds is may_unwind
    assert any(isinstance(i, Call) for i in instructions)
    assert not broken_promises(program)
