"""Strongly connected components, by Tarjan's algorithm without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def strongly_connected(successors: Sequence[Iterable[int]]) -> list[list[int]]:
    """The components of the graph of nodes 0, 1, ...; each after all that it can reach."""
    count = len(successors)
    order = [0] * count
    """When a node was met, from 1; the smallest that it reaches, while it is open; after that
    `done`."""
    done = count + 1
    clock = 0
    found: list[list[int]] = []
    stack: list[int] = []
    for root in range(count):
        if order[root]:
            continue
        clock += 1
        order[root] = clock
        stack.append(root)
        work = [(root, clock, iter(successors[root]))]
        while work:
            node, met, rest = work[-1]
            low = order[node]
            for target in rest:
                known = order[target]
                if not known:
                    order[node] = low
                    clock += 1
                    order[target] = clock
                    stack.append(target)
                    work.append((target, clock, iter(successors[target])))
                    break
                if known < low:
                    low = known
            else:
                work.pop()
                if low == met:
                    component = []
                    while True:
                        other = stack.pop()
                        order[other] = done
                        component.append(other)
                        if other == node:
                            break
                    found.append(component)
                else:
                    order[node] = low
                    parent = work[-1][0]
                    if low < order[parent]:
                        order[parent] = low
    return found
