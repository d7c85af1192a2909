"""Signals that threads send to themselves; what others send is left out of every proof."""

from __future__ import annotations

from raceproof.engines.interleave.explorer import Conclusion, Explorer
from tests.machine.running import machine_of, outcomes

HEAD = """
#include <signal.h>
static atomic_int seen;
static void handle(int number) { seen = number; }
"""


def test_the_handler_runs_in_the_thread_that_raises() -> None:
    text = """
    static _Thread_local int mine; static int theirs;
    static void note(int number) { mine = number; }
    static void *work(void *a) { raise(10); theirs = mine; return 0; }
    int main(void) { signal(10, note); CREATE(a, work); JOIN(a); return theirs + mine; }"""
    assert outcomes(HEAD + text, 5) == {"10"}


def test_a_signal_without_handler_kills() -> None:
    assert outcomes(HEAD + "int main(void) { raise(15); return 0; }", 1) == {"abort"}


def test_a_signal_for_another_thread_gives_up() -> None:
    text = """static void *work(void *a) { return 0; }
    int main(void) { signal(10, handle); CREATE(a, work); pthread_kill(a, 10); return 0; }"""
    assert outcomes(HEAD + text, 1) == {"unsupported"}
    own = "int main(void) { signal(10, handle); pthread_kill(pthread_self(), 10); return seen; }"
    assert outcomes(HEAD + own, 1) == {"10"}


def test_handlers_spoil_a_proof() -> None:
    text = """static void *work(void *a) { return 0; }
    int main(void) { signal(10, handle); CREATE(a, work); JOIN(a); return 0; }"""
    found = Explorer(machine_of(HEAD + text)).run(lambda: 1.0)
    assert found.conclusion is Conclusion.INCOMPLETE
