"""The sentences that several formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath

from raceproof.ir import Position
from raceproof.ir.names import is_of_library, origin, without_origin
from raceproof.report.paths import shown
from raceproof.verdict import (
    Access,
    BaseKind,
    Confidence,
    Finding,
    Habit,
    HeldLock,
    LockMode,
    NativeRun,
    Outcome,
    Site,
    SuppressedBy,
    SuppressionKind,
    Thread,
    Verdict,
)

CONFIDENCE_MEANS = {
    Confidence.CONFIRMED: "a schedule that ends in the race was replayed step by step",
    Confidence.LIKELY: "all that can be checked statically speaks for a race",
    Confidence.POSSIBLE: "nothing that was found out rules the race out",
}

OUTCOME_MEANS = {
    Outcome.RACE: "The program has a data race.",
    Outcome.RACE_FREE: "The program has no data race.",
    Outcome.UNKNOWN: "No answer: neither a race nor a proof that there is none.",
}


SUPPRESSION_WORDS = {
    SuppressionKind.COMMENT: "Suppressed in the source",
    SuppressionKind.SETTING: "Suppressed in the settings",
    SuppressionKind.BASELINE: "In the baseline",
}


_TRAMPOLINE = re.compile(
    "__thread_proxy|__thread_execute|^_ZNSt|_Invoker|_State_impl|^std::|^raceproof_"
)


def count(number: int, noun: str) -> str:
    """`1 thread`, `2 threads`, `no threads`, `3 accesses`."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number or 'no'} {noun}{ending}"


def place(position: Position | None) -> str:
    if position is None:
        return "somewhere without debug information"
    file = shown(position.file)
    if is_of_library(position):
        file = f"<{file.rpartition('/include/')[2]}>"
    return f"{file}:{position.line}" + (f":{position.column}" if position.column else "")


def short_place(position: Position | None) -> str:
    """`queue.c:12`."""
    return f"{PurePath(position.file).name}:{position.line}" if position else ""


def kind(access: Access) -> str:
    """`atomic write of`, `read of`."""
    what = "write" if access.is_write else "read"
    return f"atomic {what}" if access.is_atomic else what


def target(access: Access) -> str:
    """What is accessed: in the source's words, else by the name of the location."""
    return without_origin(access.expression or access.location.name)


def underlined(access: Access) -> str:
    """What to look for in the line of an access; a block of the heap has no name there."""
    if access.location.kind is BaseKind.HEAP:
        return "" if origin(access.expression) else access.expression
    return target(access)


def lock(held: HeldLock) -> str:
    notes = []
    if held.mode is LockMode.READ:
        notes.append("for reading")
    if not held.is_sure:
        notes.append("perhaps")
    return held.name + (f" ({', '.join(notes)})" if notes else "")


def locks(held: Iterable[HeldLock]) -> str:
    """Each name once, as what is sure about it; heap objects of one name are told apart by where
    they are made only if that differs."""
    return ", ".join(lock(one) for one in named_once(held)) or "no lock"


def named_once(held: Iterable[HeldLock]) -> list[HeldLock]:
    full: dict[str, set[str]] = {}
    found: dict[tuple[str, LockMode], HeldLock] = {}
    listed = list(held)
    for one in listed:
        full.setdefault(without_origin(one.name), set()).add(one.name)
    for one in listed:
        name = without_origin(one.name)
        one = replace(one, name=name if len(full[name]) == 1 else one.name)
        known = found.get((one.name, one.mode))
        if known is None or (one.is_sure and not known.is_sure):
            found[one.name, one.mode] = one
    return list(found.values())


def runs(access: Access) -> str:
    """What the thread of an access runs: its entry, or what `std::thread` was given."""
    entry = access.thread.entry
    if not _TRAMPOLINE.search(entry):
        return entry
    own = [call.function for call in access.calls if _is_own(call)]
    if not is_of_library(access.position):
        own.append(access.function)
    return _short_function(own[0]) if own else "a std::thread"


def _is_own(call: Site) -> bool:
    return call.position is not None and not is_of_library(call.position)


def _short_function(name: str) -> str:
    return "a lambda" if name == "operator()" else name


def is_trampoline(entry: str) -> bool:
    """Whether it is a function of the C++ library that calls what a thread is given."""
    return _TRAMPOLINE.search(entry) is not None


def thread_of(access: Access) -> str:
    return thread(replace(access.thread, entry=runs(access)))


def thread(one: Thread) -> str:
    """`worker, created at main.c:88, several at once`."""
    words = ["a std::thread" if _TRAMPOLINE.search(one.entry) else one.entry]
    if one.chain:
        words.append(f"created at {site(one.chain[-1])}")
    if not one.is_unique:
        words.append("perhaps several at once")
    return ", ".join(words)


def site(one: Site) -> str:
    if one.position is not None:
        return f"{shown(one.position.file)}:{one.position.line}"
    return f"in {one.function}"


def call_stack(access: Access) -> str:
    """`worker > push (list.c:12) > link`; empty without calls."""
    words = [
        f"{_short_function(call.function)} ({site(call)})"
        for call in access.calls
        if _is_own(call)
        or not (is_of_library(call.position) or call.function.startswith(("__", "raceproof_")))
    ]
    return " > ".join([*words, access.function]) if words else ""


def title(finding: Finding) -> str:
    """`write and read of queue.head`."""
    first, second = (kind(access) for access in finding.accesses)
    pair = f"two {first}s" if first == second else f"{first} and {second}"
    name = without_origin(finding.location.name)
    if origin(finding.location.name) and not set(name) & set(".["):
        name = f"a block of {name}"
    return f"{pair} of {name}"


def message(finding: Finding) -> str:
    """One sentence for lists and annotations."""
    if finding.message:
        return finding.message
    first, second = finding.accesses
    return (
        f"Data race on {finding.location.name}: {kind(first)} in {first.function} "
        f"({first.thread.name}, {locks(first.locks)}) and {kind(second)} in {second.function} "
        f"({second.thread.name}, {locks(second.locks)})"
    )


def evidence(finding: Finding) -> str:
    """What the other accesses of the location say; empty if nothing."""
    found = finding.evidence
    if found is None:
        return ""
    counted = f"{found.guarded} of {found.total} accesses"
    match found.habit:
        case Habit.GUARDED | Habit.MIXED:
            return f"guarded by {found.guard} in {counted}"
        case Habit.UNCLEAR:
            return f"all {found.total} accesses hold {found.guard}: perhaps another lock each time"
        case Habit.COUNTER:
            return (
                "a counter, updated without a lock everywhere: perhaps meant so, undefined in C11"
            )
        case Habit.FLAG:
            return "a flag, set without a lock everywhere: perhaps meant so, undefined in C11"
        case Habit.FREED:
            return "given back while another thread may still use it"
        case Habit.LIBRARY:
            return "memory of a library"
    return "accessed without a lock everywhere" if found.total > 1 else ""


def also(finding: Finding, most: int = 8) -> str:
    """`a.x, a.y and 3 more`: the other locations of the same cause."""
    names = list(dict.fromkeys(location.name for location in finding.also))
    names = [name for name in names if name != finding.location.name]
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def suppression(one: SuppressedBy) -> str:
    """`Suppressed in the source: a lost hit is fine`."""
    return SUPPRESSION_WORDS[one.kind] + (f": {one.reason}" if one.reason else "")


def summary(verdict: Verdict) -> str:
    """The last line: verdict, threads, shared locations, time."""
    parts = [str(verdict.outcome)]
    counting = [finding for finding in verdict.findings if finding.suppressed_by is None]
    if counting:
        counts = dict.fromkeys(sorted(Confidence, reverse=True), 0)
        for finding in counting:
            counts[finding.confidence] += 1
        listed = ", ".join(f"{number} {c}" for c, number in counts.items() if number)
        parts.append(f"{count(len(counting), 'finding')} ({listed})")
    if len(counting) < len(verdict.findings):
        parts.append(f"{len(verdict.findings) - len(counting)} suppressed")
    parts.append(count(len(verdict.threads), "thread"))
    parts.append(count(len(verdict.shared), "shared location"))
    if verdict.files is not None and verdict.files[0] < verdict.files[1]:
        parts.append(f"{verdict.files[0]} of {verdict.files[1]} files")
    parts.append(f"{verdict.seconds:.2f} s")
    return " · ".join(parts)


def native(run: NativeRun) -> str:
    """What came of a finding in the program itself."""
    runs = f"{run.way}, {count(run.runs, 'run')}, {run.seconds:.1f} s"
    if run.is_confirmed:
        return f"Confirmed natively by ThreadSanitizer ({runs}):"
    return f"Not seen in the program itself ({runs}): {run.detail}"
