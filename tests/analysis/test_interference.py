"""What a thread sees of the others: all that they may write while it runs, and nothing else."""

import pytest

from tests.analysis.probing import probed

WRITER = "void *writer(void *p) { x = 5; x = 6; return 0; }\n"


def main(*lines: str) -> str:
    return "int main(void) { pthread_t t, u; " + " ".join(lines) + " return 0; }"


CREATE = "pthread_create(&t, 0, writer, 0);"
JOIN = "pthread_join(t, 0);"
LOOK = "probe[x] = 1;"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((LOOK, CREATE), {0}),
        ((CREATE, LOOK), {0, 5, 6}),
        ((CREATE, JOIN, "x = 1;", LOOK), {1}),
        (("x = 1;", CREATE, "x = 2;", LOOK), {2, 5, 6}),
        ((CREATE, "if (any())", JOIN, LOOK), {0, 5, 6}),
    ],
    ids=["before", "while", "after", "own and others'", "perhaps joined"],
)
def test_over(lines: tuple[str, ...], expected: set[int]) -> None:
    assert probed(WRITER + main(*lines)) == expected


def test_what_a_joined_thread_wrote_stands_there() -> None:
    """Joined into the view, so the last value is in it; the analysis does not know which it is."""
    assert probed(WRITER + main(CREATE, JOIN, LOOK)) >= {6}


def test_under_sees_no_running_thread_but_joined_ones() -> None:
    assert probed(WRITER + main(CREATE, LOOK), sees_others=False) == {0}
    assert probed(WRITER + main(CREATE, JOIN, LOOK), sees_others=False) >= {6}


def test_a_thread_starts_in_the_states_of_its_creations() -> None:
    reader = "void *writer(void *p) { probe[x] = 1; return 0; }\n"
    lines = ("x = 3;", CREATE, JOIN, "x = 4;", CREATE, JOIN, "x = 9;")
    assert probed(reader + main(*lines)) == {3, 4}


def test_a_lock_hides_nothing() -> None:
    """Between two reads under a lock another thread may write without it."""
    reader = """
        void *writer(void *p) { pthread_mutex_lock(&m); x = 7; x = 0; pthread_mutex_unlock(&m); }
    """
    look = "pthread_mutex_lock(&m); if (x == 0) probe[x] = 1; pthread_mutex_unlock(&m);"
    assert probed(reader + main(CREATE, look)) >= {0, 7}


def test_a_branch_teaches_nothing_about_what_others_may_change() -> None:
    assert probed(WRITER + main(CREATE, "if (x == 5)", LOOK)) == {0, 5, 6}


def test_two_instances_see_each_other() -> None:
    text = """
        void *writer(void *p) { probe[x] = 1; x = 7; return 0; }
        int main(void) { pthread_t t; while (any()) pthread_create(&t, 0, writer, 0); return 0; }
    """
    assert probed(text) == {0, 7}


def test_a_grandchild_left_behind_is_still_seen() -> None:
    text = """
        void *inner(void *p) { x = 5; return 0; }
        void *writer(void *p) { pthread_t i; pthread_create(&i, 0, inner, 0); return 0; }
    """
    assert probed(text + main(CREATE, JOIN, "x = 1;", LOOK)) == {1, 5}


def test_a_grandchild_waited_for_is_gone() -> None:
    text = """
        void *inner(void *p) { x = 5; return 0; }
        void *writer(void *p) {
            pthread_t i; pthread_create(&i, 0, inner, 0); pthread_join(i, 0); return 0;
        }
    """
    assert probed(text + main(CREATE, JOIN, "x = 1;", LOOK)) == {1}


def test_pointers_travel_between_threads() -> None:
    text = """
        int *place = &y;
        void *writer(void *p) { place = &x; return 0; }
    """
    assert probed(text + main("x = 8;", CREATE, "probe[*place] = 1;")) >= {0, 8}


def test_a_copy_takes_what_others_wrote_along() -> None:
    text = "int from[4], to[4];\nvoid *writer(void *p) { from[2] = 9; return 0; }\n"
    copy = "memcpy(to, from, sizeof to); probe[to[2]] = 1;"
    assert probed(text + main(CREATE, copy)) >= {0, 9}
