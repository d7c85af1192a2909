"""The printed model: every instruction once, with its source line."""

from __future__ import annotations

import io

from raceproof.ir.printer import print_program
from tests.lowering import lower

TEXT = """#include <pthread.h>
struct pair { int left, right; } shared[3];
pthread_mutex_t lock;
void *worker(void *x) {
    pthread_mutex_lock(&lock);
    shared[1].right += *(int *)x;
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) { int n = 1; worker(&n); return 0; }
"""


def test_readable_with_source_lines() -> None:
    program = lower(TEXT)
    out = io.StringIO()
    print_program(program, out)
    text = out.getvalue()
    assert "worker" in text
    assert "pthread_mutex_lock" in text
    lines = [line for line in text.splitlines() if "text.c:6" in line or ":6" in line]
    assert lines
    again = io.StringIO()
    print_program(lower(TEXT), again)
    assert len(again.getvalue().splitlines()) == len(text.splitlines())
    assert all(str(i.number) in text for _, i in program.all_instructions())
