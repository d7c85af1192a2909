"""The engine: outlines, summaries bottom-up, contexts top-down, then the pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from raceproof.concurrency.catalogue import Models
from raceproof.engines.certainty import with_doubts
from raceproof.engines.question import Question
from raceproof.engines.summary.bottom_up import BottomUp
from raceproof.engines.summary.contexts import SummaryContexts
from raceproof.engines.summary.memory import StoredContents
from raceproof.engines.summary.names import ANY_CALLER, LocationNames
from raceproof.engines.summary.parallel import Parallel
from raceproof.engines.summary.races import Races
from raceproof.engines.summary.reach import creates_threads, reachable
from raceproof.engines.summary.reasons import Flags, SummaryWorld
from raceproof.engines.summary.summary import Summary
from raceproof.engines.summary.traces import SummaryMemory
from raceproof.engines.summary.unit import Unit, make_unit
from raceproof.errors import UserError
from raceproof.ir import Program
from raceproof.verdict import Answer, Confidence, Outcome

MANY_ENTRIES = 40
"""Functions of a library from which on their callers are taken for one thread."""


class SummaryEngine:
    """Compositional: each function once, callees first."""

    name = "summary"

    def run(self, program: Program, question: Question) -> Answer:
        models = Models.load(question.options.models)
        unit = make_unit(program, models, "", lambda name: name)
        entry = program.entry if program.entry in unit.outlines else None
        first_numbers = {f.name: f.first_number for f in program.defined}
        answer = analyse([unit], entry, first_numbers)[0]
        return with_doubts(answer, program, question)


def analyse(
    units: Sequence[Unit],
    entry: str | None,
    first_numbers: Mapping[str, int],
    memory: SummaryMemory | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Answer, int]:
    """The races of a program in one or many units, and how many summaries had to be made."""
    outlines = reachable(units, entry)
    if entry is not None and not creates_threads(outlines.values()):
        return Answer(Outcome.UNKNOWN, detail="no thread is created"), 0
    stores = [store for unit in units for store in unit.stores]
    bottom_up = BottomUp(outlines, stores, memory, jobs)
    bottom_up.run(lambda done: progress(done, len(outlines)))
    return judge(units, bottom_up, entry, first_numbers), bottom_up.composed


def judge(
    units: Sequence[Unit],
    bottom_up: BottomUp,
    entry: str | None,
    first_numbers: Mapping[str, int],
) -> Answer:
    """The races that the summaries of a whole program or library show.

    With no entry, every function that is visible outside is the entry of a thread of its own.
    """
    names = LocationNames(units, first_numbers)
    summaries = bottom_up.summaries
    contexts = _contexts(units, bottom_up, entry)
    stores = [store for unit in units for store in unit.stores]
    for name in sorted(contexts.functions):
        stores.extend(summaries[name].closed_stores)
    for name, summary in summaries.items():
        if name not in contexts.functions:
            stores.extend(summary.closed_stores)
    memory = StoredContents(stores, names.extent)
    parallel = Parallel(contexts.threads)
    happenings = list(contexts.happenings())
    flags = Flags(memory, happenings)
    world = SummaryWorld(
        parallel,
        memory,
        contexts.running(),
        names.is_library_code,
        names.counting_loop,
        flags,
        names.elements,
    )
    threads = {
        thread: names.thread(thread, list(facts.entries), not parallel.is_multiple(thread))
        for thread, facts in contexts.threads.items()
    }
    races = Races(world, names, threads)
    if len(threads) > 1 or any(parallel.is_multiple(thread) for thread in threads):
        races.run(happenings)
    likely = any(f.confidence >= Confidence.LIKELY for f in races.findings)
    assumptions = _assumptions(units, summaries, contexts, bottom_up.is_cut)
    if races.is_cut:
        assumptions += ("not all pairs of accesses were compared",)
    return Answer(
        Outcome.RACE if likely else Outcome.UNKNOWN,
        tuple(races.findings),
        races.candidates(),
        tuple(races.protections),
        assumptions,
        tuple(threads[thread] for thread in sorted(threads, key=names.thread_order)),
        tuple(races.shared),
        detail="" if races.findings else "no two accesses found that may race",
        statistics=(
            ("functions", len(summaries)),
            ("accesses", sum(len(states) * len(shapes) for _, states, shapes in happenings)),
            ("threads", len(threads)),
            ("findings", len(races.findings)),
        ),
    )


def _contexts(units: Sequence[Unit], bottom_up: BottomUp, entry: str | None) -> SummaryContexts:
    summaries = bottom_up.summaries
    contexts = SummaryContexts(summaries, bottom_up.depths)
    if entry is not None:
        if entry not in summaries:
            raise UserError(f"the program has no function {entry!r}; name its start with --entry")
        contexts.add_entry(entry, ())
        for unit in units:
            for constructor in unit.constructors:
                if constructor in summaries:
                    contexts.add_entry(constructor, ())
        return contexts
    visible = [
        name
        for unit in units
        for name, outline in unit.outlines.items()
        if outline.is_external and name in summaries
    ]
    for name in visible:
        caller = name if len(visible) <= MANY_ENTRIES else ANY_CALLER
        contexts.add_entry(name, (((caller, -1),),), is_multiple=True)
    return contexts


def _assumptions(
    units: Sequence[Unit],
    summaries: Mapping[str, Summary],
    contexts: SummaryContexts,
    is_cut: bool,
) -> tuple[str, ...]:
    unknown: dict[str, None] = {}
    is_cut = is_cut or contexts.is_cut
    for name in sorted(contexts.functions):
        summary = summaries[name]
        unknown.update(dict.fromkeys(summary.unknown_callees))
        is_cut = is_cut or summary.is_cut
    found = []
    if unknown:
        listed = ", ".join(sorted(unknown)[:8]) + (", ..." if len(unknown) > 8 else "")
        found.append(f"functions without a body or model touch no shared memory: {listed}")
    if is_cut:
        found.append("summaries were cut to their limits")
    if any(unit.has_assembly for unit in units):
        found.append("inline assembly touches no shared memory")
    return tuple(found)
