"""A deeper unfolding that goes on from a shallower one is the same as one from the start."""

from pathlib import Path

from raceproof.concurrency import Models
from raceproof.engines.bounded.events import Unfolding
from raceproof.engines.bounded.unfold import Unfolder, UnfoldLimits
from tests.engines.bounded.helpers import TWO_THREADS, load

TEXT = """
#include <stdatomic.h>
struct node { struct node *next; int value; };
struct node *_Atomic top;
atomic_int turn;
pthread_mutex_t lock;
static void push(int count)
{
    for (int i = 0; i < count; i++) {
        struct node *node = malloc(sizeof *node), *old = atomic_load(&top);
        do
            node->next = old;
        while (!atomic_compare_exchange_strong(&top, &old, node));
        pthread_mutex_lock(&lock);
        node->value = i;
        pthread_mutex_unlock(&lock);
    }
}
static void *first(void *arg)
{
    while (atomic_load(&turn) != 1)
        ;
    push(__VERIFIER_nondet_int());
    return NULL;
}
static void *second(void *arg)
{
    push(__VERIFIER_nondet_int());
    atomic_store(&turn, 1);
    return NULL;
}
"""


def _shape(unfolding: Unfolding) -> list[list[tuple[object, ...]]]:
    return [
        [
            (
                event.kind,
                event.instruction,
                event.calls,
                [(o.size, len(o.places)) for o in event.operations],
                [(a.size, a.is_write, a.is_atomic, len(a.places)) for a in event.accesses],
            )
            for event in thread.events
        ]
        + [(cut.index, cut.reason) for cut in thread.cuts]
        for thread in unfolding.threads
    ]


def test_deeper_is_the_same_in_fewer_passes(tmp_path: Path) -> None:
    program, models = load(tmp_path, TEXT + TWO_THREADS), Models.load(())
    shallow = Unfolder(program, models, UnfoldLimits(unwind=2))
    shape = _shape(shallow.run())
    deep = Unfolder(program, models, UnfoldLimits(unwind=3), shallower=shallow).run()
    fresh = Unfolder(program, models, UnfoldLimits(unwind=3)).run()
    assert _shape(deep) == _shape(fresh) != shape
    assert deep.passes < fresh.passes
    assert _shape(shallow.result) == shape


def test_only_tighter_bounds_can_be_gone_on_from() -> None:
    assert UnfoldLimits(unwind=2).is_within(UnfoldLimits(unwind=3, events=600))
    assert not UnfoldLimits(unwind=3).is_within(UnfoldLimits(unwind=2))
    assert not UnfoldLimits(events=600).is_within(UnfoldLimits(unwind=3))
    assert not UnfoldLimits(hides=True).is_within(UnfoldLimits(hides=False))
    assert not UnfoldLimits(cautious=False).is_within(UnfoldLimits(cautious=True))
