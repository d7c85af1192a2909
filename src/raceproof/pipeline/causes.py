"""One list by cause: findings that one change of the program would mend are one finding.

    p->a = 1; p->b = 2;     two members, one missing lock
    free(p); free(q);       one clean-up that comes too soon

Possible findings are put together, in this order, if they
1. are about one member of an object, or of the objects of one type, or about elements of an array;
2. are about objects that one function gives back while they may be used;
3. race by the same statements, on other objects;
4. are other members of the same object, accessed by the same functions, with the same locks;
5. are about locations that one function accesses without the locks that all others hold;
6. are other members of the same object, which the same two threads access and nobody protects;
7. are about locations whose accesses all hold a lock that is not told apart from others of its
   name, by the same two threads;
8. race by one statement that may access many objects, as a call that follows the pointers it finds;
9. are about anything that no access protects, in two functions that run at the same time;
10. are about anything that no access protects, in one function that two threads may run at the same
    time: that is the cause, whatever the function touches.

The one with the strongest evidence stands for all; the others are its further pairs, and their
locations are named. Confirmed and likely findings are put together only if they are about one
location by its name: engines may tell its objects apart differently.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace

from raceproof.verdict import Access, BaseKind, Confidence, Evidence, Finding, Habit, Location

Statements = frozenset[tuple[int, int]]
_INDEX = re.compile(r"\[[^\]]*\]")
_DISTANCE = re.compile(r"\+\d+$")
_MOST_OTHERS = 20


def by_cause(
    findings: Iterable[Finding], statements: Mapping[Location, Statements]
) -> tuple[Finding, ...]:
    """The findings, put together and in the order in which people should look at them.

    `statements`: for a location, all pairs of instructions that may race there."""
    findings = list(findings)
    fixed = [
        f for f in findings if f.confidence > Confidence.POSSIBLE or f.suppressed_by is not None
    ]
    open_ = [f for f in findings if f.confidence is Confidence.POSSIBLE and f.suppressed_by is None]
    known = {id(f): statements.get(f.location) or _statements(f) for f in open_}
    left = _merge(open_, _member, known)
    left = _merge(left, _freed, known)
    left = _absorb(left, known)
    left = _merge(left, _first_statements, known)
    left = _merge(left, _functions, known)
    left = _merge(left, _lacking, known)
    left = _merge(left, _unprotected_object, known)
    left = _merge(left, _unclear_locks, known)
    left = _merge(left, _wide_statement(left), known)
    left = _merge(left, _two_functions, known)
    left = _merge(left, _one_function, known)
    return tuple(sorted((*_by_name(fixed), *left), key=rank))


def _by_name(findings: list[Finding]) -> Iterable[Finding]:
    """One finding for each name of a location; the surest, then that of the shortest schedule."""
    groups: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        name = _INDEX.sub("[]", finding.location.name)
        groups.setdefault((finding.location.kind, name, finding.suppressed_by), []).append(finding)
    known = {id(finding): _statements(finding) for finding in findings}
    return [_together(group, known, _by_length) for group in groups.values()]


def _by_length(finding: Finding) -> tuple[object, ...]:
    steps = len(finding.schedule.steps) if finding.schedule is not None else 0
    return (-finding.confidence, steps, rank(finding))


def rank(finding: Finding) -> tuple[object, ...]:
    """Surest first, then the strongest evidence, then in the order of the source."""
    first, second = finding.accesses
    place = first.position or second.position
    file, line = (place.file, place.line) if place else ("", 0)
    return (-finding.confidence, -_strength(finding), file, line, first.instruction)


def _strength(finding: Finding) -> float:
    if finding.location.kind is BaseKind.EXTERNAL:
        return Evidence(Habit.LIBRARY).strength
    return (finding.evidence or Evidence(Habit.OPEN)).strength


def _statements(finding: Finding) -> Statements:
    pairs = (finding.accesses, *finding.others)
    return frozenset(_instructions(a, b) for a, b in pairs)


def _instructions(a: Access, b: Access) -> tuple[int, int]:
    return min(a.instruction, b.instruction), max(a.instruction, b.instruction)


def _member(finding: Finding) -> Hashable:
    location = finding.location
    if location.kind is BaseKind.HEAP and location.member:
        return location.kind, _INDEX.sub("[]", location.member)
    name = _DISTANCE.sub("", _INDEX.sub("[]", location.name))
    return location.kind, location.base, name


def _freed(finding: Finding) -> Hashable:
    if finding.evidence is None or finding.evidence.habit is not Habit.FREED:
        return id(finding)
    giving = next((a for a in finding.accesses if a.is_write), finding.accesses[0])
    return "freed", giving.function


def _functions(finding: Finding) -> Hashable:
    return _object(finding.location), frozenset(map(_side, finding.accesses))


def _unprotected(finding: Finding) -> Habit | None:
    """What the location is for, if nobody protects it."""
    if finding.evidence is None or finding.evidence.guard:
        return None
    habit = finding.evidence.habit
    return habit if habit in (Habit.OPEN, Habit.FLAG, Habit.COUNTER) else None


def _unprotected_object(finding: Finding) -> Hashable:
    habit = _unprotected(finding)
    if habit is None:
        return id(finding)
    threads = frozenset(access.thread.entry for access in finding.accesses)
    return "unprotected", habit, _object(finding.location), threads


def _lacking(finding: Finding) -> Hashable:
    evidence = finding.evidence
    if evidence is None or evidence.habit is not Habit.GUARDED or not evidence.lacking:
        return id(finding)
    threads = frozenset(access.thread.entry for access in finding.accesses)
    return "lacking", evidence.lacking, threads


def _unclear_locks(finding: Finding) -> Hashable:
    if finding.evidence is None or finding.evidence.habit is not Habit.UNCLEAR:
        return id(finding)
    return "unclear", frozenset(access.thread.entry for access in finding.accesses)


def _wide_statement(findings: list[Finding]) -> Callable[[Finding], Hashable]:
    """By the statement without exact bytes that most findings have in common."""
    counts = Counter(number for f in findings if _unprotected(f) for number in _wide(f))

    def key(finding: Finding) -> Hashable:
        numbers = _wide(finding) if _unprotected(finding) is Habit.OPEN else set()
        best = max(numbers, key=lambda number: (counts[number], -number), default=None)
        return id(finding) if best is None or counts[best] < 2 else ("wide", best)

    return key


def _wide(finding: Finding) -> set[int]:
    return {a.instruction for a in finding.accesses if a.location.start is None}


def _two_functions(finding: Finding) -> Hashable:
    habit = _unprotected(finding)
    sides = frozenset(map(_side, finding.accesses))
    if habit is None or len(sides) < 2:
        return id(finding)
    return "functions", habit, sides


def _first_statements(finding: Finding) -> Hashable:
    return _instructions(*finding.accesses)


def _one_function(finding: Finding) -> Hashable:
    first, second = finding.accesses
    is_guarded = finding.evidence is None or finding.evidence.guard
    if is_guarded or (first.function, first.locks) != (second.function, second.locks):
        return id(finding)
    return first.function, first.locks


def _object(location: Location) -> str:
    """Heap objects of one type are taken together."""
    if location.kind is BaseKind.HEAP and location.member:
        return location.member.partition(".")[0]
    return location.base


def _side(access: Access) -> Hashable:
    return access.function, access.thread.entry, access.locks


def _merge(
    findings: list[Finding],
    key: Callable[[Finding], Hashable],
    known: dict[int, Statements],
) -> list[Finding]:
    groups: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(key(finding), []).append(finding)
    return [_together(group, known) for group in groups.values()]


def _absorb(findings: list[Finding], known: dict[int, Statements]) -> list[Finding]:
    """Findings whose statements all race in a larger one, too, belong to it."""
    order = sorted(findings, key=lambda f: (-len(known[id(f)]), rank(f)))
    hosts: dict[int, list[Finding]] = {}
    by_statement: dict[tuple[int, int], list[Finding]] = {}
    for finding in order:
        mine = known[id(finding)]
        one = min(mine)
        host = next((h for h in by_statement.get(one, ()) if mine <= known[id(h)]), None)
        if host is None:
            hosts[id(finding)] = [finding]
            for statement in mine:
                by_statement.setdefault(statement, []).append(finding)
        else:
            hosts[id(host)].append(finding)
    return [_together(group, known) for group in hosts.values()]


def _together(
    group: list[Finding],
    known: dict[int, Statements],
    order: Callable[[Finding], tuple[object, ...]] | None = None,
) -> Finding:
    if len(group) == 1:
        return group[0]
    best, *rest = sorted(group, key=order or rank)
    others = {_instructions(*pair): pair for pair in best.others}
    for finding in rest:
        for pair in (finding.accesses, *finding.others):
            if len(others) < _MOST_OTHERS:
                others.setdefault(_instructions(*pair), pair)
    others.pop(_instructions(*best.accesses), None)
    also = dict.fromkeys(place for f in group for place in (f.location, *f.also))
    also.pop(best.location, None)
    found = replace(best, others=tuple(others.values()), also=tuple(also))
    known[id(found)] = frozenset().union(*(known[id(f)] for f in group))
    return found
