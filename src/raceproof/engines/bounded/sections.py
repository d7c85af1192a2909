"""Atomic sections as single steps, for the encoding in rounds.

No other thread runs inside an atomic section, so all its events can share one label: fewer guesses
for the solver. The first event of a section takes in the others as its `parts`; what each of them
reads and writes becomes an operation of the whole.

A race inside a section needs care. A thread that stands before the third access of its section has
already done the first two, which the single step has not. But no other thread can have run since
the section began, so it is enough that the thread stands before the section at the very end, and
that the section, if it ran then, would come to the access (`UnfoldEvent.reaches`).
"""

from __future__ import annotations

from dataclasses import replace

from raceproof.engines.bounded.events import (
    Constraint,
    Read,
    ThreadBody,
    UnfoldEvent,
    Unfolding,
    Write,
)
from raceproof.smt.terms import Term, Terms


def merge_sections(unfolding: Unfolding, terms: Terms) -> Unfolding:
    """The same program with one event for each atomic section."""
    if not any(event.is_inner for thread in unfolding.threads for event in thread.events):
        return unfolding
    return replace(unfolding, threads=[_merge(thread, terms) for thread in unfolding.threads])


def _merge(thread: ThreadBody, terms: Terms) -> ThreadBody:
    groups: list[list[UnfoldEvent]] = []
    position: list[int] = []
    """Old label -> new label."""
    for event in thread.events:
        if event.is_inner and groups:
            groups[-1].append(event)
        else:
            groups.append([event])
        position.append(len(groups) - 1)
    position.append(len(groups))
    inside: dict[int, list[Constraint]] = {}
    constraints = []
    for constraint in thread.constraints:
        old = constraint.index
        if old < len(thread.events) and thread.events[old].is_inner and old:
            inside.setdefault(old, []).append(constraint)
        else:
            constraints.append(replace(constraint, index=position[old]))
    events = [_whole(group, number, inside, terms) for number, group in enumerate(groups)]
    return replace(
        thread,
        events=events,
        constraints=constraints,
        cuts=[replace(cut, index=position[cut.index]) for cut in thread.cuts],
        inputs=[replace(i, index=position[i.index]) for i in thread.inputs],
    )


def _whole(
    group: list[UnfoldEvent], number: int, inside: dict[int, list[Constraint]], terms: Terms
) -> UnfoldEvent:
    leader = group[0]
    if len(group) == 1:
        return replace(leader, index=number, parts=())
    guard = terms.any(part.guard for part in group)
    operations: list[Read | Write] = []
    reaches: list[Term] = []
    so_far = terms.true
    for part in group:
        for constraint in inside.get(part.index, ()):
            so_far = terms.and_(so_far, terms.implies(constraint.guard, constraint.condition))
        reaches.append(terms.and_(so_far, part.guard))
        so_far = terms.and_(so_far, terms.implies(part.guard, part.assume))
        for operation in part.operations:
            if isinstance(operation, Write):
                condition = terms.and_(part.guard, operation.condition)
                operation = replace(operation, condition=condition)
            operations.append(operation)
    return replace(
        leader,
        index=number,
        guard=guard,
        assume=so_far,
        operations=operations,
        accesses=[access for part in group for access in part.accesses],
        parts=tuple(zip(group, reaches, strict=True)),
    )
