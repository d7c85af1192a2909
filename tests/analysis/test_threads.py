"""Which threads there are, and which of them run at a point."""

import pytest

from raceproof.analysis.threads import ThreadInfo
from tests.analysis.probing import analysed, running_at

THREADS = """
    void *one(void *p) { x = 1; return 0; }
    void *two(void *p) { y = 1; return 0; }
"""


def threads(text: str) -> list[ThreadInfo]:
    return analysed(THREADS + text).threads.all[1:]


def main(*lines: str) -> str:
    return "int main(void) { pthread_t s, t, ids[9]; " + " ".join(lines) + " return 0; }"


ONE, TWO = "pthread_create(&s, 0, one, 0);", "pthread_create(&t, 0, two, 0);"


def test_one_for_each_creation() -> None:
    found = threads(main(ONE, TWO, ONE))
    assert [info.entry for info in found] == ["one", "two", "one"]
    assert all(info.is_unique and info.parent == 0 for info in found)


def test_one_for_each_round_of_a_short_loop() -> None:
    found = threads(main("for (int i = 0; i < 3; i++)", ONE))
    assert [info.is_unique for info in found] == [True] * 3


def test_many_in_a_long_one() -> None:
    *_, last = threads(main("for (int i = 0; i < 1000; i++)", ONE))
    assert not last.is_unique
    assert last.beside & last.bit


def test_one_at_a_time_is_unique_but_repeated() -> None:
    *_, last = threads(main("while (any()) {", ONE, "pthread_join(s, 0); }"))
    assert last.is_unique
    assert last.is_repeated


@pytest.mark.parametrize(
    "lines",
    [
        ("start(one);", "start(two);"),
        ("void *(*f)(void *) = any() ? one : two;", "pthread_create(&s, 0, f, 0);"),
        ("for (int i = 0; i < 2; i++) pthread_create(&s, 0, table[i], 0);",),
    ],
    ids=["wrapper", "pointer", "table"],
)
def test_found_wherever_the_entry_comes_from(lines: tuple[str, ...]) -> None:
    text = """
        void *(*table[])(void *) = {one, two};
        void start(void *(*f)(void *)) { pthread_t id; pthread_create(&id, 0, f, 0); }
    """
    assert {info.entry for info in threads(text + main(*lines))} == {"one", "two"}


def test_an_entry_that_another_thread_sets() -> None:
    """The second thread is found only when the writes of the first are known: a fixpoint."""
    text = """
        void *(*next)(void *) = two;
        void *outer(void *p) { next = one; return 0; }
    """
    lines = ("pthread_create(&s, 0, outer, 0);", "pthread_create(&t, 0, next, 0);")
    assert {info.entry for info in threads(text + main(*lines))} == {"outer", "one", "two"}


def test_threads_of_threads() -> None:
    text = """
        void *outer(void *p) { pthread_t i; pthread_create(&i, 0, one, 0); return 0; }
    """
    outer, inner = threads(text + main("pthread_create(&s, 0, outer, 0);"))
    assert (inner.entry, inner.parent) == ("one", outer.index)
    assert outer.children == inner.bit


def test_a_thread_that_creates_itself_is_many() -> None:
    text = "void *self(void *p) { pthread_t i; pthread_create(&i, 0, self, 0); return 0; }"
    first, rest = threads(text + main("pthread_create(&s, 0, self, 0);"))
    assert (first.is_unique, rest.is_unique) == (True, False)


def test_children_of_many_are_many() -> None:
    text = "void *outer(void *p) { pthread_t i; pthread_create(&i, 0, one, 0); return 0; }"
    found = threads(text + main("while (any()) pthread_create(&s, 0, outer, 0);"))
    many = {info.index for info in found if info.entry == "outer" and not info.is_unique}
    inner = [info for info in found if info.entry == "one" and info.parent in many]
    assert inner
    assert not any(info.is_unique for info in inner)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("x = 1;", ONE), set()),
        ((ONE, "x = 1;"), {"one"}),
        ((ONE, TWO, "pthread_join(s, 0);", "x = 1;"), {"two"}),
        ((ONE, TWO, "pthread_join(s, 0); pthread_join(t, 0);", "x = 1;"), set()),
        ((ONE, TWO, "pthread_join(any() ? s : t, 0);", "x = 1;"), {"one", "two"}),
        ((ONE, "pthread_tryjoin_np(s, 0);", "x = 1;"), {"one"}),
        ((ONE, "pthread_detach(s);", "x = 1;"), {"one"}),
        ((ONE, "ids[3] = s; pthread_join(ids[3], 0);", "x = 1;"), set()),
        ((ONE, TWO, "ids[0] = s; ids[1] = t; pthread_join(ids[0], 0);", "x = 1;"), {"two"}),
        (
            (ONE, TWO, "ids[0] = s; ids[any() & 1] = t; pthread_join(ids[0], 0);", "x = 1;"),
            {"one", "two"},
        ),
        (
            (
                "for (int i = 0; i < 9; i++) pthread_create(&ids[i], 0, one, 0);",
                "for (int i = 0; i < 9; i++) pthread_join(ids[i], 0);",
                "x = 1;",
            ),
            set(),
        ),
        (
            (
                "for (int i = 0; i < 9; i++) pthread_create(&ids[i], 0, one, 0);",
                "for (int i = 0; i < 8; i++) pthread_join(ids[i], 0);",
                "x = 1;",
            ),
            {"one"},
        ),
    ],
)
def test_running_threads(lines: tuple[str, ...], expected: set[str]) -> None:
    """May run: never fewer than there are."""
    analysis = analysed(THREADS + main(*lines))
    (found,) = running_at(analysis)
    assert found == expected


def test_on_some_ways() -> None:
    """Ways with and without the thread are kept apart, so there are two accesses."""
    found = running_at(analysed(THREADS + main("if (any()) {", ONE, "}", "x = 1;")))
    assert set().union(*found) == {"one"}


def test_a_cancelled_thread_may_leave_its_children() -> None:
    text = """
        void *outer(void *p) {
            pthread_t i; pthread_create(&i, 0, one, 0); pthread_join(i, 0); return 0;
        }
    """
    lines = ("pthread_create(&s, 0, outer, 0);", "pthread_cancel(s); pthread_join(s, 0);", "x = 1;")
    assert running_at(analysed(THREADS + text + main(*lines))) == [{"one"}]
    lines = ("pthread_create(&s, 0, outer, 0);", "pthread_join(s, 0);", "x = 1;")
    assert running_at(analysed(THREADS + text + main(*lines))) == [set()]


def test_who_waits_for_an_endless_thread_does_not_go_on() -> None:
    text = "void *endless(void *p) { while (1) {} }"
    lines = ("pthread_create(&s, 0, endless, 0);", "pthread_join(s, 0);", "x = 1;")
    assert running_at(analysed(THREADS + text + main(*lines))) == []
