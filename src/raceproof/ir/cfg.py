"""Control flow inside a function, and calls between functions.

Blocks are numbered in reverse post-order by the front end, so "earlier index" means "seen first",
block 0 is the entry, and an edge to an equal or smaller index is a retreating edge.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from raceproof.ir.components import strongly_connected
from raceproof.ir.instructions import Call
from raceproof.ir.program import Function, Program
from raceproof.ir.values import FunctionAddress


def reverse_post_order(successors: Sequence[Sequence[int]], entry: int = 0) -> list[int]:
    """The nodes reachable from `entry`; each before its successors but for retreating edges."""
    seen = {entry}
    order: list[int] = []
    stack = [(entry, iter(reversed(successors[entry])))]
    while stack:
        node, rest = stack[-1]
        for successor in rest:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(reversed(successors[successor]))))
                break
        else:
            order.append(node)
            stack.pop()
    order.reverse()
    return order


def reversed_edges(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Predecessors of each node, each once, in order."""
    predecessors: list[list[int]] = [[] for _ in successors]
    for node, targets in enumerate(successors):
        for target in dict.fromkeys(targets):
            predecessors[target].append(node)
    return predecessors


class Dominators:
    """Immediate dominators and dominance frontiers of a graph numbered in reverse post-order.

    Cooper, Harvey and Kennedy's algorithm.
    """

    def __init__(self, predecessors: Sequence[Sequence[int]]) -> None:
        self._predecessors = predecessors
        parents = [-1] * len(predecessors)
        if parents:
            parents[0] = 0
        changed = True
        while changed:
            changed = False
            for node in range(1, len(predecessors)):
                best = -1
                for previous in predecessors[node]:
                    if parents[previous] < 0:
                        continue
                    best = previous if best < 0 else _meet(parents, best, previous)
                if best != parents[node]:
                    parents[node] = best
                    changed = True
        self.parents = parents
        """Immediate dominator of each node; the entry's is itself."""
        self._frontiers: list[list[int]] | None = None

    def dominates(self, first: int, second: int) -> bool:
        while second > first:
            second = self.parents[second]
        return first == second

    def frontier(self, node: int) -> list[int]:
        """Where the dominance of `node` ends."""
        if self._frontiers is None:
            self._frontiers = [[] for _ in self.parents]
            for meeting, previous in enumerate(self._predecessors):
                if len(previous) < 2 and not (meeting == 0 and previous):
                    continue
                stop = self.parents[meeting] if meeting else -1
                for runner in previous:
                    while runner != stop:
                        frontier = self._frontiers[runner]
                        if not frontier or frontier[-1] != meeting:
                            frontier.append(meeting)
                        if runner == 0:
                            break
                        runner = self.parents[runner]
        return self._frontiers[node]


def _meet(parents: Sequence[int], first: int, second: int) -> int:
    while first != second:
        while first > second:
            first = parents[first]
        while second > first:
            second = parents[second]
    return first


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop, or an irreducible region entered at `head`."""

    head: int
    blocks: frozenset[int]
    latches: tuple[int, ...]
    """Blocks with an edge back to the head."""


class ControlFlow:
    """The graph of one function's blocks; everything is computed when first asked for."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.successors: list[tuple[int, ...]] = [
            tuple(dict.fromkeys(block.terminator.targets)) for block in function.blocks
        ]

    @cached_property
    def predecessors(self) -> list[list[int]]:
        return reversed_edges(self.successors)

    @cached_property
    def dominators(self) -> Dominators:
        return Dominators(self.predecessors)

    @cached_property
    def loop_heads(self) -> frozenset[int]:
        """Targets of retreating edges: cutting there leaves no cycle."""
        return frozenset(
            target
            for node, targets in enumerate(self.successors)
            for target in targets
            if target <= node
        )

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """One loop for each head, outer before inner for the same region."""
        found = []
        for head in sorted(self.loop_heads):
            latches = tuple(p for p in self.predecessors[head] if p >= head)
            body = {head}
            work = list(latches)
            while work:
                node = work.pop()
                if node not in body:
                    body.add(node)
                    work.extend(p for p in self.predecessors[node] if p >= head)
            found.append(Loop(head, frozenset(body), latches))
        return tuple(found)

    @cached_property
    def exits(self) -> tuple[int, ...]:
        """Blocks without successors."""
        return tuple(i for i, targets in enumerate(self.successors) if not targets)

    def weak_topological_order(self) -> list[object]:
        """Bourdoncle's nesting: block indices, and (head, body) pairs for loops.

        Iterating each component until stable, innermost first, with widening at the heads only,
        is enough.
        """
        return _WeakOrder(self.successors).partition()


class _WeakOrder:
    """Bourdoncle's recursive algorithm (figure 4 of his paper), on an explicit stack of levels."""

    def __init__(self, successors: Sequence[Sequence[int]]) -> None:
        self.successors = successors
        self.depth_first = [0] * len(successors)
        self.count = 0
        self.stack: list[int] = []

    def partition(self) -> list[object]:
        result: list[object] = []
        if self.successors:
            _drive(self._visit(0, result))
        result.reverse()
        return result

    def _visit(self, node: int, partition: list[object]) -> Generator[Any, Any, int]:
        self.stack.append(node)
        self.count += 1
        self.depth_first[node] = head = self.count
        is_loop = False
        for successor in self.successors[node]:
            if self.depth_first[successor] == 0:
                lowest = yield self._visit(successor, partition)
            else:
                lowest = self.depth_first[successor]
            if lowest <= head:
                head = lowest
                is_loop = True
        if head == self.depth_first[node]:
            self.depth_first[node] = 1 << 60
            element = self.stack.pop()
            if is_loop:
                while element != node:
                    self.depth_first[element] = 0
                    element = self.stack.pop()
                body: list[object] = []
                for successor in self.successors[node]:
                    if self.depth_first[successor] == 0:
                        yield self._visit(successor, body)
                body.reverse()
                partition.append((node, body))
            else:
                partition.append(node)
        return head


def _drive(first: Generator[Any, Any, int]) -> None:
    """Runs generators that yield generators, without recursion."""
    stack = [first]
    value: object = None
    while stack:
        try:
            step = stack[-1].send(value)
            stack.append(step)
            value = None
        except StopIteration as stop:
            stack.pop()
            value = stop.value


def direct_calls(function: Function) -> Iterator[tuple[Call, str]]:
    """The calls of named functions."""
    for instruction in function.instructions:
        if isinstance(instruction, Call) and isinstance(instruction.callee, FunctionAddress):
            yield instruction, instruction.callee.name


class CallGraph:
    """Who calls whom by name; calls through pointers are listed apart."""

    def __init__(self, program: Program) -> None:
        callees: dict[str, tuple[str, ...]] = {}
        self.indirect: dict[str, tuple[Call, ...]] = {}
        for function in program.defined:
            callees[function.name] = tuple(
                dict.fromkeys(name for _, name in direct_calls(function))
            )
            self.indirect[function.name] = tuple(
                i
                for i in function.instructions
                if isinstance(i, Call) and not isinstance(i.callee, FunctionAddress)
            )
        self.callees: Mapping[str, tuple[str, ...]] = callees

    @cached_property
    def callers(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for caller, callees in self.callees.items():
            for callee in callees:
                found.setdefault(callee, []).append(caller)
        return {callee: tuple(callers) for callee, callers in found.items()}

    def components(self) -> list[tuple[str, ...]]:
        """Strongly connected components of defined functions, callees before callers."""
        names = list(self.callees)
        index = {name: i for i, name in enumerate(names)}
        graph = [
            [index[callee] for callee in self.callees[name] if callee in index] for name in names
        ]
        return [
            tuple(names[i] for i in sorted(component)) for component in strongly_connected(graph)
        ]
