"""The solver, on small graphs with sets and intervals as states."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from raceproof.analysis.fixpoint import FixpointSolver, Node, Variants

GRAPHS = st.dictionaries(
    st.integers(0, 6), st.lists(st.integers(0, 6), max_size=3), min_size=1, max_size=7
)


def union(key: int, node: Node[frozenset[int]], state: frozenset[int]) -> frozenset[int]:
    return node.state if state <= node.state else node.state | state


def reached(graph: dict[int, list[int]], start: int) -> set[int]:
    found, work = {start}, [start]
    while work:
        for target in graph.get(work.pop(), ()):
            if target not in found:
                found.add(target)
                work.append(target)
    return found


@given(GRAPHS)
def test_every_place_gets_what_can_get_there(graph: dict[int, list[int]]) -> None:
    """Each place adds its own number to what it passes on."""
    solver = FixpointSolver[int, frozenset[int]](union, lambda key: key)
    solver.arrive(0, frozenset())
    for key, node in solver.pending():
        for target in graph.get(key, ()):
            solver.arrive(target, node.state | {key})
    assert set(solver.nodes) == reached(graph, 0)
    for key, node in solver.nodes.items():
        assert node.state == {p for p in reached(graph, 0) if key in _after(graph, p)}


def _after(graph: dict[int, list[int]], place: int) -> set[int]:
    return {found for target in graph.get(place, ()) for found in reached(graph, target)}


def test_widening_by_visits_ends_a_growing_loop() -> None:
    def join(key: str, node: Node[int], state: int) -> int:
        if state <= node.state:
            return node.state
        return 10**9 if node.visits > 3 else state

    solver = FixpointSolver[str, int](join, lambda key: 0)
    solver.arrive("head", 0)
    for key, node in solver.pending():
        solver.arrive(key, min(node.state + 1, 10**9))
    assert solver.nodes["head"].state == 10**9
    assert solver.nodes["head"].visits < 10


def test_only_what_is_due_is_looked_at_and_the_rest_waits() -> None:
    solver = FixpointSolver[int, int](
        lambda key, node, state: max(node.state, state), lambda key: key
    )
    for key in (3, 1, 2):
        solver.arrive(key, 0)
    assert [key for key, _ in solver.pending(lambda priority: priority < 3)] == [1, 2]
    solver.put(1)
    assert [key for key, _ in solver.pending()] == [1, 3]
    assert not list(solver.pending())


def test_an_arrival_that_adds_nothing_is_not_looked_at() -> None:
    solver = FixpointSolver[int, frozenset[int]](union, lambda key: key)
    solver.arrive(0, frozenset({1, 2}))
    assert len(list(solver.pending())) == 1
    solver.arrive(0, frozenset({1}))
    assert not list(solver.pending())
    solver.arrive(0, frozenset({3}))
    assert [node.state for _, node in solver.pending()] == [{1, 2, 3}]


def test_a_few_variants_are_kept_apart() -> None:
    variants = Variants(2)
    assert [variants.of("here", key) for key in "abcab"] == ["a", "b", None, "a", "b"]
    assert variants.of("there", "c") == "c"
