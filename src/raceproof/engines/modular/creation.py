"""Who creates whom: the threads of a program as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.analysis.backend import Analysed
from raceproof.concurrency.callbacks.listing import HandlerListing
from raceproof.engines.modular.describe import Describer
from raceproof.verdict import Site, Thread


@dataclass(frozen=True, slots=True)
class ThreadNode:
    """A thread of the creation graph; `main` is number 0."""

    number: int
    thread: Thread
    parent: int | None
    created: Site | None
    joined: tuple[Site, ...]
    """Where somebody surely waits for its end."""
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
