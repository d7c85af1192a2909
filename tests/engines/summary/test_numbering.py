"""Numbers of instructions: what an edit shifts, and what it does not."""

from __future__ import annotations

from raceproof.concurrency.catalogue import Models
from raceproof.engines.summary.outline import Event, Outline
from raceproof.engines.summary.unit import make_unit
from tests.engines.summary.analysing import load, summaries

CODE = """
struct item {{ int size; struct item *next; }};
int seen;
void visit(struct item *item, int n)
{{
    {first}
    item->size++;
    item->size++;
    for (int i = 0; i < n; i++)
        item[i].next = malloc(sizeof *item);
    {last}
}}
void all(struct item *item) {{ visit(item, 3); }}
"""


def outline(first: str = "", last: str = "") -> Outline:
    unit = make_unit(load(CODE.format(first=first, last=last)), Models.load(()), "", str)
    return unit.outlines["visit"]


def accesses(found: Outline) -> list[Event]:
    """Those through the parameter."""
    return [
        event
        for events, _ in found.blocks
        for event in events
        if event[0] == "access" and event[2][0][0][0] == "p"
    ]


def test_a_statement_before_or_behind_shifts_nothing() -> None:
    plain = accesses(outline())
    assert len(plain) >= 5
    assert accesses(outline(first="seen = n + 1;")) == plain
    assert accesses(outline(last="seen = n + 1;")) == plain


def test_no_two_have_the_same() -> None:
    found = outline()
    numbers = [event[1] for event in accesses(found)]
    assert len(set(numbers)) == len(numbers)
    places = [found.order[number] for number in numbers]
    assert places == sorted(places), "as in the source"


def test_callers_need_not_know() -> None:
    before = summaries(CODE.format(first="seen = 1;", last=""))
    after = summaries(CODE.format(first="seen = 1; seen++;", last="seen = n;"))
    assert before["visit"].closed != after["visit"].closed
    assert before["all"] == after["all"]
