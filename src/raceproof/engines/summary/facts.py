"""A small path condition: what the branches taken so far say about integers.

    if (locked) lock(&m);      facts: locked != 0
    ...
    if (locked) unlock(&m);    only where locked != 0

Facts are `{key: (is_equal, number)}` with a term as key; a comparison that is neither `==` nor
`!=` is a fact about itself.
"""

from __future__ import annotations

from typing import TypeAlias

from raceproof.engines.summary.outline import Test
from raceproof.engines.summary.terms import Term

Facts: TypeAlias = dict[Term, tuple[bool, int]]

MAX_FACTS = 8


def decide(test: Test, facts: Facts) -> bool | None:
    """Whether the test holds, if the facts say."""
    key, predicate, constant = test
    if key[0][0] == "c":
        return _compare(key[1], predicate, constant)
    fact = facts.get(key)
    if fact is not None:
        is_equal, value = fact
        if is_equal:
            return _compare(value, predicate, constant)
        if value == constant and predicate in ("eq", "ne"):
            return predicate == "ne"
    known = facts.get(_itself(test))
    return None if known is None else known[1] == 1


def assume(test: Test, holds: bool, facts: Facts) -> Facts:
    """The facts after the test came out as said."""
    key, predicate, constant = test
    if key[0][0] in "c?":
        return facts
    found = dict(facts)
    if predicate in ("eq", "ne"):
        is_equal = (predicate == "eq") == holds
        if is_equal or not found.get(key, (False, 0))[0]:
            found[key] = (is_equal, constant)
    else:
        found[_itself(test)] = (True, int(holds))
    while len(found) > MAX_FACTS:
        del found[next(iter(found))]
    return found


def common(left: Facts, right: Facts) -> Facts:
    if left == right:
        return left
    return {key: fact for key, fact in left.items() if right.get(key) == fact}


def _itself(test: Test) -> Term:
    key, predicate, constant = test
    return (("b", predicate, key, (("c",), constant, 0, ())), 0, 0, ())


def _compare(value: int, predicate: str, constant: int) -> bool | None:
    if predicate[0] == "u" and (value < 0 or constant < 0):
        return None
    match predicate[-2:] if predicate not in ("eq", "ne") else predicate:
        case "eq":
            return value == constant
        case "ne":
            return value != constant
        case "lt":
            return value < constant
        case "le":
            return value <= constant
        case "gt":
            return value > constant
        case "ge":
            return value >= constant
    return None
