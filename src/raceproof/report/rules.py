"""Why two accesses are not protected: the rule of a finding (`rule_list`), in its own names.

A rule is read off the two accesses of a finding (locks, threads, atomicity) and the source lines at
hand, nothing else, so that every engine's finding has one, and the same race has the same rule from
each of them, also where a report is written without the program (`scan`). A
rule says how two accesses came to be unprotected; that they race is the engines' business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from raceproof.ir.names import origin, without_origin
from raceproof.report.rule_list import BY_ID, RULES, Rule
from raceproof.report.source import Sources
from raceproof.report.words import named_once, runs
from raceproof.verdict import Access, BaseKind, Finding, HeldLock, LockMode

__all__ = ["BY_ID", "RULES", "Rule", "Why", "why"]

_FREES = re.compile(r"\b(\w*free|realloc|reallocarray|munmap|delete)\b\s*[\[(\w]")
_CALLED = re.compile(r"\b([a-z_]\w*)\s*\(")
_UNLOCK = re.compile(r"unlock\w*\s*\(", re.I)
_TEST = re.compile(r"\b(if|while)\b|\?")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_ABOVE = 3
"""Lines between an unlock and the access that comes too late."""
_NEAR, _FAR = 8, 60
"""Lines that are looked at around an access."""
_FILLED = re.compile(r"\b([A-Za-z_]\w*)\s*->[^=]*[^=!<>]=(?!=)")
_PUBLISHED = r"^\s*[\w.>\[\]-]+\s*=\s*{0}\s*;|_create\s*\([^;]*\b{0}\b"
_RELAXED_STORE = re.compile(r"(store|exchange|fetch)\w*\s*\(.*relaxed|__ATOMIC_RELAXED", re.I)
_RELAXED_LOAD = re.compile(r"(load|exchange|fetch)\w*\s*\(.*relaxed|__ATOMIC_RELAXED", re.I)
_BIT_FIELD = re.compile(r"\b([A-Za-z_]\w*)\s*:\s*\d+\s*[;,]")
_MEMBER = re.compile(r"(?:\.|->)\s*([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Why:
    """The rule of a finding, in one sentence with its own names, and what would mend it."""

    rule: Rule
    sentence: str
    suggestion: str


def why(finding: Finding, sources: Sources) -> Why:
    """Why nothing keeps the two accesses apart."""
    view = _View(finding, sources)
    for identity, explain in _EXPLANATIONS:
        found = explain(view)
        if found is not None:
            return Why(BY_ID[identity], *found)
    raise AssertionError("the last rule explains everything")


Explained = tuple[str, str] | None
"""A sentence and a suggestion; None: the rule does not fit."""


class _View:
    """A finding with what the explanations ask about it."""

    def __init__(self, finding: Finding, sources: Sources) -> None:
        self.finding = finding
        self.sources = sources
        self.name = without_origin(finding.location.name)
        self.first, self.second = finding.accesses

    @property
    def both(self) -> tuple[tuple[Access, Access], ...]:
        """Each access with the other one."""
        return (self.first, self.second), (self.second, self.first)

    def place(self, access: Access) -> str:
        """`line 12`; `queue.c:12` if the accesses are in two files."""
        if access.position is None:
            return access.function
        files = {a.position.file for a in self.finding.accesses if a.position is not None}
        if len(files) > 1:
            return f"{PurePath(access.position.file).name}:{access.position.line}"
        return f"line {access.position.line}"

    def text(self, access: Access) -> str:
        return _QUOTED.sub('""', self.sources.line(access.position))

    def before(self, access: Access) -> list[tuple[int, str]]:
        """The few lines above the access, the nearest first, no further up than its function."""
        return self.above(access)[:_ABOVE]

    def above(self, access: Access) -> list[tuple[int, str]]:
        """The lines of the function above the access, the nearest first."""
        position = access.position
        if position is None:
            return []
        lines = self.sources.lines(position.file)[: position.line - 1]
        found = []
        for number in range(len(lines), max(len(lines) - _FAR, 0), -1):
            if lines[number - 1].startswith(("}", "{")):
                break
            found.append((number, lines[number - 1]))
        return found

    def below(self, access: Access) -> list[tuple[int, str]]:
        """The few lines from the access on, no further down than its function."""
        position = access.position
        if position is None:
            return []
        lines = self.sources.lines(position.file)
        found = []
        for number in range(position.line, min(len(lines), position.line + _NEAR) + 1):
            if lines[number - 1].startswith("}"):
                break
            found.append((number, lines[number - 1]))
        return found


def _sure(access: Access) -> list[HeldLock]:
    return [held for held in access.locks if held.is_sure]


def _names(access: Access) -> str:
    return " and ".join(dict.fromkeys(held.name for held in named_once(_sure(access))))


def _kind(access: Access) -> str:
    return "write" if access.is_write else "read"


def _free_while_used(view: _View) -> Explained:
    for access, other in view.both:
        freed = _FREES.search(view.text(access)) if access.is_write else None
        if freed is not None and not access.expression:
            return (
                f"{freed[1]} in {access.function} gives the memory back while {other.function} may "
                f"still {'write' if other.is_write else 'read'} it",
                f"free it after the thread {runs(other)} is joined",
            )
    return None


def _unsafe_library_function(view: _View) -> Explained:
    if view.finding.location.kind is not BaseKind.EXTERNAL:
        return None
    called = (_CALLED.findall(view.text(access)) for access in view.finding.accesses)
    names = list(dict.fromkeys(found[-1] for found in called if found))
    if not names:
        return None
    return (
        f"{' and '.join(names)} {'keep' if len(names) > 1 else 'keeps'} data in one place for all "
        "threads",
        f"use {names[0]}_r, or call it under one lock",
    )


def _mixed_atomic(view: _View) -> Explained:
    for access, other in view.both:
        if access.is_atomic and not other.is_atomic:
            return (
                f"the {_kind(access)} at {view.place(access)} is atomic, the {_kind(other)} at "
                f"{view.place(other)} is not",
                f"make the {_kind(other)} atomic, too",
            )
    return None


def _bit_fields(view: _View) -> Explained:
    accesses = view.finding.accesses
    if any(access.position is None for access in accesses):
        return None
    files = dict.fromkeys(access.position.file for access in accesses if access.position)
    declared = {
        name
        for file in view.sources.with_headers(files)
        for line in view.sources.lines(file)
        for name in _BIT_FIELD.findall(line)
    }
    if not declared:
        return None
    named = [set(_MEMBER.findall(view.text(access))) & declared for access in accesses]
    if not all(named) or named[0] & named[1]:
        return None
    one, other = (" and ".join(sorted(names)) for names in named)
    return (
        f"{one} and {other} are bit-fields of one storage unit: a write to one writes both",
        f"protect {one} and {other} by one lock, or put a zero-width bit-field between them",
    )


def _double_checked(view: _View) -> Explained:
    for read, write in view.both:
        if (
            not read.is_write
            and write.is_write
            and read.function == write.function
            and not _sure(read)
            and _sure(write)
            and read.position is not None
            and write.position is not None
            and read.position.line < write.position.line
            and _TEST.search(view.text(read))
        ):
            return (
                f"{view.name} is tested at {view.place(read)} without {_names(write)}, under "
                f"which it is set at {view.place(write)}",
                f"make {view.name} atomic (acquire and release), or set it with pthread_once",
            )
    return None


def _read_lock_for_write(view: _View) -> Explained:
    for access, other in view.both:
        for held in _sure(access):
            same = [lock for lock in _sure(other) if lock.name == held.name]
            if same and held.mode is LockMode.READ and access.is_write:
                return (
                    f"the write at {view.place(access)} holds {without_origin(held.name)} for "
                    "reading only, and a read lock does not exclude other readers",
                    f"take {without_origin(held.name)} for writing at {view.place(access)}",
                )
    return None


def _different_locks(view: _View) -> Explained:
    if not _sure(view.first) or not _sure(view.second):
        return None
    return (
        f"both hold a lock, but different ones: {_names(view.first)} and {_names(view.second)}",
        f"hold one lock in every access of {view.name}",
    )


def _released_early(view: _View) -> Explained:
    for access, other in view.both:
        if _sure(access) or not _sure(other) or access.position is None:
            continue
        for number, line in view.before(access):
            if _UNLOCK.search(line):
                return (
                    f"the lock is given back at line {number}, before the {_kind(access)} at "
                    f"{view.place(access)}; the other access holds {_names(other)}",
                    f"give {_names(other)} back after {view.place(access)}",
                )
    return None


def _unlocked(is_write: bool) -> Callable[[_View], Explained]:
    def explain(view: _View) -> Explained:
        for access, other in view.both:
            if not _sure(access) and _sure(other) and access.is_write is is_write:
                return (
                    f"the {_kind(other)} at {view.place(other)} holds {_names(other)}, the "
                    f"{_kind(access)} at {view.place(access)} holds no lock",
                    f"hold {_names(other)} around {view.place(access)}, too",
                )
        return None

    return explain


def _published_early(view: _View) -> Explained:
    """`shared = p; p->size = 1;` in the function that made the object."""
    for access, _ in view.both:
        if not access.is_write or _sure(access):
            continue
        if not origin(view.finding.location.name).startswith(f"allocated in {access.function}"):
            continue
        filled = _FILLED.search(view.text(access))
        if filled is None:
            continue
        handed_over = re.compile(_PUBLISHED.format(filled[1]))
        for number, line in view.above(access):
            if handed_over.search(line):
                return (
                    f"the object is handed over at line {number}, before the write at "
                    f"{view.place(access)}",
                    f"move the write at {view.place(access)} before line {number}",
                )
    return None


_NOTHING_ORDERED = (
    "no lock is held, and the relaxed atomic operations between the accesses order nothing",
    "store the flag with memory_order_release and load it with memory_order_acquire",
)


def _weak_order(view: _View) -> Explained:
    """`data = 1; store(flag, 1, relaxed)` and `while (!load(flag, relaxed)); use(data)`.

    A race of which one access is past when the other comes is kept apart by such operations only.
    """
    schedule = view.finding.schedule
    if schedule is not None and schedule.is_past:
        if not any(access.locks for access in view.finding.accesses):
            return _NOTHING_ORDERED
    for write, other in view.both:
        after = [line for _, line in view.below(write)]
        before = [line for _, line in view.above(other)[:_NEAR]]
        if (
            write.is_write
            and not write.locks
            and not other.locks
            and any(_RELAXED_STORE.search(line) for line in after)
            and any(_RELAXED_LOAD.search(line) for line in before)
        ):
            return _NOTHING_ORDERED
    return None


def _not_joined(view: _View) -> Explained:
    for access, other in view.both:
        mine, chain = access.thread.chain, other.thread.chain
        if len(mine) < len(chain) and chain[: len(mine)] == mine:
            return (
                f"{runs(access)} {'writes' if access.is_write else 'reads'} {view.name} "
                f"while {runs(other)}, which it created, may still run; no lock is held",
                f"join {runs(other)} first, or protect both by one lock",
            )
    return None


def _no_lock(view: _View) -> Explained:
    perhaps = any(access.locks for access in view.finding.accesses)
    return (
        "no lock is held for sure by either access" if perhaps else "neither access holds a lock",
        f"protect {view.name} by one lock, or make it atomic",
    )


_EXPLANATIONS: tuple[tuple[str, Callable[[_View], Explained]], ...] = (
    ("free-while-used", _free_while_used),
    ("unsafe-library-function", _unsafe_library_function),
    ("mixed-atomic", _mixed_atomic),
    ("bit-field-neighbours", _bit_fields),
    ("double-checked", _double_checked),
    ("read-lock-for-write", _read_lock_for_write),
    ("different-locks", _different_locks),
    ("released-early", _released_early),
    ("unlocked-write", _unlocked(True)),
    ("unlocked-read", _unlocked(False)),
    ("published-early", _published_early),
    ("weak-order", _weak_order),
    ("not-joined", _not_joined),
    ("no-lock", _no_lock),
)
"""In the order in which they are asked: the more a rule says, the earlier."""
