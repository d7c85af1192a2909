"""The states of memory bases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raceproof.analysis.races.detect import detect
from raceproof.analysis.races.sharing import Sharing, Use, sharing_of
from raceproof.analysis.thread_modular import Analysis
from raceproof.concurrency.catalogue import Models
from tests.lowering import lower

READ, WRITE = False, True


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [
        ([(1, READ)], Sharing(Use.READ_ONLY, 1)),
        ([(1, READ), (1, READ)], Sharing(Use.READ_ONLY, 1)),
        ([(1, WRITE)], Sharing(Use.EXCLUSIVE, 1)),
        ([(1, READ), (1, WRITE)], Sharing(Use.EXCLUSIVE, 1)),
        ([(1, WRITE), (1, READ)], Sharing(Use.EXCLUSIVE, 1)),
        ([(1, READ), (2, READ)], Sharing(Use.SHARED)),
        ([(1, READ), (2, READ), (1, READ)], Sharing(Use.SHARED)),
        ([(1, READ), (2, WRITE)], Sharing(Use.SHARED_MODIFIED)),
        ([(1, READ), (2, READ), (1, WRITE)], Sharing(Use.SHARED_MODIFIED)),
        ([(1, WRITE), (2, READ)], Sharing(Use.SHARED_MODIFIED)),
        ([(1, WRITE), (2, WRITE), (1, READ)], Sharing(Use.SHARED_MODIFIED)),
    ],
)
def test_transitions(accesses: list[tuple[int, bool]], expected: Sharing) -> None:
    assert sharing_of(accesses) == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1), st.randoms())
def test_the_order_of_accesses_makes_no_difference(
    accesses: list[tuple[int, bool]], random: object
) -> None:
    mixed = list(accesses)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert sharing_of(mixed) == sharing_of(accesses)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1),
    st.integers(0, 15),
)
def test_vulnerable_means_a_write_and_another_thread(
    accesses: list[tuple[int, bool]], many: int
) -> None:
    """What the state machine leaves out has no pair that could race; what it keeps has one."""
    pairs = [(a, b) for a in accesses for b in accesses]
    could_race = any((a[1] or b[1]) and (a[0] != b[0] or many >> a[0] & 1) for a, b in pairs)
    assert sharing_of(accesses).is_vulnerable(many) == could_race


PROGRAM = """
#include <pthread.h>
int table = 3, mine, count, noted;
void *reader(void *p) { noted = table; return 0; }
void *writer(void *p) { count++; return (void *)(long)table; }
int main(void) {
    pthread_t s, t;
    mine = 1;
    pthread_create(&s, 0, reader, 0);
    pthread_create(&t, 0, writer, 0);
    count = 2;
    return mine;
}
"""


def test_only_modified_bases_have_their_pairs_looked_at() -> None:
    analysis = Analysis(lower(PROGRAM), Models.load(()))
    analysis.run()
    found = {analysis.objects[report.base].name: report for report in detect(analysis)}
    assert "mine" not in found
    assert "noted" not in found
    assert found["table"].sharing.use is Use.SHARED
    assert not found["table"].pairs
    assert not found["table"].reasons
    assert found["count"].sharing.use is Use.SHARED_MODIFIED
    assert found["count"].pairs
