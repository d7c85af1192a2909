"""Contexts of any depth, and of a bounded one."""

from raceproof.analysis.contexts import Contexts
from raceproof.analysis.escape import escaped_bases
from tests.analysis.probing import analysed


def test_all_calls_tell_contexts_apart() -> None:
    contexts = Contexts()
    root = contexts.root(0, "main")
    ways = [contexts.enter(root, call, (), "f", False) for call in (1, 2)]
    inner = [contexts.enter(way, 3, (), "g", False) for way in ways]
    assert inner[0] is not inner[1]
    assert [c.function for c in inner[0].chain()] == ["main", "f", "g"]
    assert contexts.enter(ways[0], 3, (), "g", False) is inner[0]
    assert contexts.merges == 0


def test_a_bounded_context_is_told_by_its_latest_calls() -> None:
    contexts = Contexts(1)
    root = contexts.root(0, "main")
    ways = [contexts.enter(root, call, (), "f", False) for call in (1, 2)]
    assert ways[0] is not ways[1]
    seen = []
    for way in (ways[0], ways[0], ways[1]):
        context = contexts.enter(way, 3, (), "g", False)
        seen.append((context.number, context.is_capped, contexts.merges))
    number = seen[0][0]
    assert seen == [(number, False, 0), (number, False, 0), (number, True, 1)]


def test_depth_zero_has_one_context_for_a_function_of_a_thread() -> None:
    contexts = Contexts(0)
    root, other = contexts.root(0, "main"), contexts.root(1, "worker")
    f = contexts.enter(root, 1, (), "f", False)
    assert contexts.enter(root, 2, (), "f", False) is f
    assert contexts.enter(other, 2, (), "f", False) is not f
    assert contexts.enter(root, 1, (), "g", False) is not f


def test_rounds_are_kept_apart() -> None:
    for contexts in (Contexts(), Contexts(1)):
        root = contexts.root(0, "main")
        rounds = [contexts.enter(root, 1, (count,), "f", False) for count in range(2)]
        assert rounds[0] is not rounds[1]


def test_what_capped_contexts_call_is_capped() -> None:
    for contexts in (Contexts(), Contexts(2)):
        root = contexts.root(0, "main")
        capped = contexts.enter(root, 1, (), "f", True)
        assert capped.is_capped
        assert contexts.enter(capped, 2, (), "g", False).is_capped


def test_escape() -> None:
    """What can be reached from globals, arguments and results of threads; through any number of
    objects, but only by addresses that were stored."""
    analysis = analysed(
        """
        int *shared, **chain;
        void *worker(void *p) { int *result = malloc(4); return result; }
        int main(void) {
            int given, kept, stored, inner, *link = &inner;
            int *block = malloc(4), *own = malloc(4);
            pthread_t t;
            shared = &stored;
            chain = &link;
            *own = 1;
            int *local = &kept;
            *local = 1;
            pthread_create(&t, 0, worker, &given);
            shared = block;
            return 0;
        }"""
    )
    names = {analysis.objects[base].name for base in escaped_bases(analysis)}
    assert {"given", "stored", "link", "inner"} <= names
    assert "kept" not in names
    blocks = {name for name in names if name.startswith("malloc")}
    assert len(blocks) == 2
