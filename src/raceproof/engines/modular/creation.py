"""Who creates whom: the threads of a program as plain data."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from raceproof.analysis.alias.backend import AliasBackend
from raceproof.analysis.backend import Analysed
from raceproof.analysis.thread_graph import GraphThread, ThreadGraph
from raceproof.concurrency.callbacks.listing import HandlerListing
from raceproof.engines.modular.describe import Describer, is_of_library
from raceproof.ir import Program
from raceproof.verdict import Site, Thread


@dataclass(frozen=True, slots=True)
class ThreadNode:
    """A thread of the creation graph; `main` is number 0."""

    number: int
    thread: Thread
    parent: int | None
    created: Site | None
    joined: tuple[Site, ...]
    """Where some thread surely waits for its end."""
    beside: tuple[int, ...]
    """Threads that may run at the same time; itself if there may be several."""
    handlers: tuple[str, ...] = ()
    """Event handlers that it runs in the loop of a library."""


def creation_graph(analysis: Analysed, depth: int) -> list[ThreadNode]:
    """All threads in the order of their discovery, which is parents first."""
    describer = Describer(analysis, depth)
    threads = analysis.threads.all
    handlers = HandlerListing(analysis.program)
    nodes = []
    for info in threads:
        beside = info.beside
        if not info.is_unique:
            beside |= info.bit
        nodes.append(
            ThreadNode(
                info.index,
                describer.thread(info.index),
                info.parent,
                None if info.parent is None else describer.creation(info),
                tuple(describer.site(call) for call in sorted(info.joins) if info.is_unique),
                tuple(other.index for other in threads if beside >> other.index & 1),
                handlers.of(info.entry),
            )
        )
    return nodes


def coarse_creation_graph(backend: AliasBackend) -> tuple[list[ThreadNode], ThreadGraph]:
    """The same by points-to sets alone: all threads may run beside each other."""
    graph = ThreadGraph(backend)
    handlers = HandlerListing(backend.program, graph.callees)
    sites = _Sites(backend.program, graph)
    every = tuple(range(len(graph.threads)))
    nodes = []
    for one in graph.threads:
        beside = tuple(n for n in every if n != one.index or not one.is_unique)
        nodes.append(
            ThreadNode(
                one.index,
                sites.thread(one),
                one.parent,
                None if one.call is None else sites.creation(one.call),
                tuple(sites.site(call) for call in one.joins),
                beside,
                handlers.of(one.entry),
            )
        )
    return nodes, graph


class _Sites:
    """Where the threads of a graph are created."""

    def __init__(self, program: Program, graph: ThreadGraph) -> None:
        self._program = program
        self._graph = graph

    def site(self, call: int) -> Site:
        function = self._program.function_of(call)
        return Site(call, function.display, self._program.instruction(call).position)

    def thread(self, one: GraphThread) -> Thread:
        chain: list[Site] = []
        above: GraphThread | None = one
        while above is not None and above.call is not None:
            chain.insert(0, self.creation(above.call))
            above = None if above.parent is None else self._graph.threads[above.parent]
        return Thread(self._program.functions[one.entry].display, tuple(chain), one.is_unique)

    def creation(self, call: int) -> Site:
        """Of `std::thread`, not where the library does it: the nearest call outside of it."""
        seen = {call}
        work = deque([call])
        while work:
            site = self.site(work.popleft())
            if not is_of_library(site):
                return replace(site, instruction=call)
            name = self._program.function_of(site.instruction).name
            for outer in self._graph.callers.get(name, ()):
                if outer not in seen:
                    seen.add(outer)
                    work.append(outer)
        return self.site(call)
