"""Findings with one cause are one finding; the strongest evidence comes first."""

import re
from dataclasses import replace

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.ir import Position
from raceproof.options import Options
from raceproof.pipeline.causes import by_cause
from raceproof.verdict import (
    Access,
    BaseKind,
    Confidence,
    Evidence,
    Finding,
    Habit,
    HeldLock,
    Location,
    Thread,
)
from tests.lowering import lower


def place(name: str, kind: BaseKind = BaseKind.GLOBAL, member: str = "") -> Location:
    base, *path = re.split(r"[.\[]", name)
    start = sum(map(ord, "".join(path)))
    return Location(kind, base, name, start, start + 4, member)


def access(at: Location, number: int, function: str = "f", locks: tuple[str, ...] = ()) -> Access:
    position = Position("a.c", number, 1)
    held = tuple(map(HeldLock, locks))
    return Access(Thread("work"), number, function, position, at, True, locks=held)


def finding(
    name: str,
    first: int,
    second: int,
    *,
    functions: tuple[str, str] = ("f", "g"),
    evidence: Evidence | None = None,
    confidence: Confidence = Confidence.POSSIBLE,
    location: Location | None = None,
) -> Finding:
    at = location or place(name)
    one, other = access(at, first, functions[0]), access(at, second, functions[1])
    return Finding(at, confidence, (one, other), evidence=evidence)


def names(found: tuple[Finding, ...]) -> list[str]:
    return [f.location.name for f in found]


def test_elements_of_an_array_are_one() -> None:
    (found,) = by_cause([finding("a[0]", 1, 2), finding("a[1]", 3, 4)], {})
    assert [location.name for location in found.also] == ["a[1]"]
    assert len(found.others) == 1


def test_members_accessed_by_the_same_functions_are_one() -> None:
    assert len(by_cause([finding("a.x", 1, 2), finding("a.y", 3, 4)], {})) == 1


def test_members_accessed_by_other_functions_are_not() -> None:
    other = finding("a.y", 3, 4, functions=("f", "h"))
    assert len(by_cause([finding("a.x", 1, 2), other], {})) == 2


def test_members_that_nobody_protects_are_one() -> None:
    nobody = Evidence(Habit.OPEN, total=4)
    found = [
        finding("a.x", 1, 2, evidence=nobody),
        finding("a.y", 3, 4, functions=("f", "h"), evidence=nobody),
        finding("a.z", 5, 6, functions=("k", "h"), evidence=Evidence(Habit.GUARDED, "m", 4, 5)),
        finding("a.stop", 7, 8, functions=("k", "l"), evidence=Evidence(Habit.FLAG, total=2)),
    ]
    assert names(by_cause(found, {})) == ["a.z", "a.x", "a.stop"]


def test_a_statement_that_may_access_many_objects_is_one() -> None:
    nobody = Evidence(Habit.OPEN, total=4)
    anywhere = Location(BaseKind.GLOBAL, "b", "b", None, None)
    found = [
        replace(f, accesses=(f.accesses[0], access(anywhere, 9)))
        for f in (
            finding("a.x", 1, 2, functions=("f", "h"), evidence=nobody),
            finding("b.x", 3, 4, functions=("k", "h"), evidence=nobody),
        )
    ]
    assert len(by_cause(found, {})) == 1


def test_what_two_functions_access_without_any_lock_is_one() -> None:
    nobody = Evidence(Habit.OPEN, total=4)
    found = [finding(name, i, i + 1, evidence=nobody) for i, name in ((1, "a"), (3, "b"))]
    guarded = finding("c", 5, 6, evidence=Evidence(Habit.MIXED, "m", 1, 5))
    assert names(by_cause([*found, guarded], {})) == ["c", "a"]


def test_what_one_function_accesses_without_the_locks_of_others_is_one() -> None:
    def lacking(guard: str, function: str) -> Evidence:
        return Evidence(Habit.GUARDED, guard, 4, 5, function)

    found = [
        finding("a", 1, 2, evidence=lacking("m", "setup")),
        finding("b", 3, 4, functions=("f", "h"), evidence=lacking("n", "setup")),
        finding("c", 5, 6, functions=("f", "k"), evidence=lacking("n", "other")),
    ]
    assert names(by_cause(found, {})) == ["a", "c"]


def test_locks_that_are_not_told_apart_are_one_cause_and_come_late() -> None:
    found = [
        finding("a", 1, 2, evidence=Evidence(Habit.UNCLEAR, "*p", 4, 4)),
        finding("b", 3, 4, functions=("f", "h"), evidence=Evidence(Habit.UNCLEAR, "*q", 5, 5)),
        finding("c", 5, 6, functions=("f", "k"), evidence=Evidence(Habit.COUNTER, total=2)),
    ]
    assert names(by_cause(found, {})) == ["c", "b"]


def test_other_objects_are_not() -> None:
    assert len(by_cause([finding("a.x", 1, 2), finding("b.x", 3, 4)], {})) == 2


def test_the_same_statements_on_other_objects_are_one() -> None:
    assert len(by_cause([finding("a.x", 1, 2), finding("b.x", 1, 2)], {})) == 1


def test_the_same_member_of_all_objects_of_a_type_is_one() -> None:
    two = [
        finding("", at, 9, location=place(f"malloc {at}.n", BaseKind.HEAP, "struct node.n"))
        for at in (1, 2)
    ]
    assert len(by_cause(two, {})) == 1


def test_statements_of_candidates_count() -> None:
    one, other = finding("a.x", 1, 2), finding("b.x", 3, 4)
    known = {one.location: frozenset({(1, 2), (3, 4)}), other.location: frozenset({(3, 4)})}
    assert names(by_cause([other, one], known)) == ["a.x"]


@pytest.mark.parametrize(
    ("functions", "habit", "count"),
    [
        (("f", "f"), Habit.OPEN, 1),
        (("f", "g"), Habit.OPEN, 1),
        (("f", "f"), Habit.GUARDED, 2),
    ],
)
def test_functions_without_any_lock(functions: tuple[str, str], habit: Habit, count: int) -> None:
    evidence = Evidence(habit, "m" if habit is Habit.GUARDED else "", 2, 3)
    two = [
        finding(name, at, at + 1, functions=functions, evidence=evidence)
        for at, name in enumerate(("a", "b"))
    ]
    assert len(by_cause(two, {})) == count


def test_what_was_confirmed_or_is_likely_stands_for_itself() -> None:
    found = by_cause([finding(f"a.{c}", 1, 2, confidence=c) for c in Confidence], {})
    assert [f.confidence for f in found] == sorted(Confidence, reverse=True)


def test_a_location_that_was_confirmed_twice_is_one_finding() -> None:
    sure = [finding("a.x", 1, 2 + n, confidence=Confidence.CONFIRMED) for n in range(2)]
    (found,) = by_cause([*sure, finding("a.x", 1, 9, confidence=Confidence.LIKELY)], {})
    assert found.confidence is Confidence.CONFIRMED
    assert len(found.others) == 2


def test_the_strongest_evidence_comes_first() -> None:
    ranked = [
        Evidence(Habit.GUARDED, "m", 14, 15),
        Evidence(Habit.GUARDED, "m", 2, 3),
        Evidence(Habit.MIXED, "m", 1, 4),
        Evidence(Habit.OPEN, total=4),
        Evidence(Habit.FLAG, total=2),
        Evidence(Habit.COUNTER, total=2),
        Evidence(Habit.FREED),
        Evidence(Habit.LIBRARY),
    ]
    all_ = [finding(f"v{i}.", 2 * i, 2 * i + 1, evidence=e) for i, e in enumerate(ranked)]
    assert names(by_cause(reversed(all_), {})) == names(tuple(all_))


COUNTED = """
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int v, *p;
extern int which(void);
void *work(void *a) { if (which()) { %s } return 0; }
int main(void) {
    pthread_t t, u;
    p = malloc(4);
    pthread_create(&t, 0, work, 0);
    pthread_create(&u, 0, work, 0);
    return 0;
}
"""
LOCKED = "pthread_mutex_lock(&m); v = v * 2; pthread_mutex_unlock(&m);"


@pytest.mark.parametrize(
    ("body", "habit"),
    [
        ("v++;", Habit.COUNTER),
        ("v -= 2; v = 0;", Habit.COUNTER),
        ("v = 1;", Habit.FLAG),
        ("v = v * 2;", Habit.OPEN),
        (LOCKED + LOCKED + "v = 1;", Habit.GUARDED),
        (LOCKED + "v = 1; v = 2; v = 3; v = 4;", Habit.MIXED),
        ("free(p);", Habit.FREED),
    ],
)
def test_habits(body: str, habit: Habit) -> None:
    answer = ENGINE.run(lower(COUNTED % body), Question(Options()))
    assert [f.evidence and f.evidence.habit for f in answer.findings] == [habit]
