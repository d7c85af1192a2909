"""Order, dominators and loops of control flow, and the call graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from raceproof.ir.cfg import (
    CallGraph,
    ControlFlow,
    Dominators,
    reverse_post_order,
    reversed_edges,
)
from tests.lowering import function, lower

NESTED = """
int f(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (j % 3) sum += j; else sum -= i;
    return sum;
}
"""


def test_nested_loops() -> None:
    flow = ControlFlow(function(lower(NESTED), "f"))
    outer, inner = sorted(flow.loops, key=lambda loop: -len(loop.blocks))
    assert inner.blocks < outer.blocks
    assert flow.dominators.dominates(outer.head, inner.head)
    assert not flow.dominators.dominates(inner.head, outer.head)
    assert len(flow.exits) == 1


def flattened(order: list[object]) -> list[int]:
    found: list[int] = []
    for part in order:
        if isinstance(part, tuple):
            head, body = part
            found += [head, *flattened(list(body))]
        else:
            assert isinstance(part, int)
            found.append(part)
    return found


def test_weak_topological_order_has_every_block_once() -> None:
    flow = ControlFlow(function(lower(NESTED), "f"))
    order = flow.weak_topological_order()
    assert sorted(flattened(order)) == list(range(len(flow.successors)))
    assert sum(isinstance(part, tuple) for part in order) == 1


graphs = st.integers(1, 9).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, n - 1), max_size=3, unique=True), min_size=n, max_size=n
    )
)


def renumbered(graph: list[list[int]]) -> list[list[int]]:
    """The reachable part, numbered in reverse post-order, as blocks of a function are."""
    order = reverse_post_order(graph)
    index = {node: i for i, node in enumerate(order)}
    return [[index[t] for t in graph[node] if t in index] for node in order]


def reachable(graph: list[list[int]], without: int) -> set[int]:
    seen: set[int] = set()
    work = [0] if without != 0 else []
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work += [t for t in graph[node] if t != without]
    return seen


@given(graphs)
def test_dominators_are_the_nodes_that_cannot_be_avoided(graph: list[list[int]]) -> None:
    graph = renumbered(graph)
    dominators = Dominators(reversed_edges(graph))
    for first in range(len(graph)):
        avoided = reachable(graph, first)
        for second in range(len(graph)):
            is_needed = first == second or second not in avoided
            assert dominators.dominates(first, second) is is_needed


@given(graphs)
def test_reverse_post_order_starts_at_the_entry(graph: list[list[int]]) -> None:
    order = reverse_post_order(graph)
    assert order[0] == 0
    assert set(order) == reachable(graph, -1)


def test_components_callees_first() -> None:
    program = lower("""
        int even(int n); int odd(int n) { return n ? even(n - 1) : 0; }
        int even(int n) { return n ? odd(n - 1) : 1; }
        int leaf(int n) { return n; }
        int (*p)(int) = leaf; int main(void) { return even(4) + p(1) + leaf(2); }
    """)
    graph = CallGraph(program)
    components = graph.components()
    assert ("even", "odd") in [tuple(sorted(c)) for c in components]
    order = [name for component in components for name in component]
    assert order.index("even") < order.index("main")
    assert order.index("leaf") < order.index("main")
    assert len(graph.indirect["main"]) == 1
    assert graph.callers["leaf"] == ("main",)
