"""The verdict as one HTML page that needs nothing else: style, script and pictures inside."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TextIO

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from raceproof.ir import Program
from raceproof.ir.names import origin, without_origin
from raceproof.options import Options
from raceproof.report import words
from raceproof.report.highlight import highlighted
from raceproof.report.interleaving import Interleaving, Row, in_order, interleaving
from raceproof.report.lanes import Picture, picture
from raceproof.report.listings import Links
from raceproof.report.paths import shown
from raceproof.report.rules import Why, why
from raceproof.report.source import Sources
from raceproof.report.suppression import suppression_of
from raceproof.verdict import Access, Confidence, Finding, Verdict
from raceproof.version import __version__

_CONTEXT = 4
_LAST_ROWS = 14
"""Of an interleaving, shown at first: the race is in view."""


@dataclass(frozen=True, slots=True)
class _CodeLine:
    number: int
    code: Markup
    is_marked: bool
    caret: str
    """Blanks and carets under the marked line."""


@dataclass(frozen=True, slots=True)
class _Side:
    access: Access
    kind: str
    target: str
    thread: str
    locks: list[str]
    calls: list[str]
    file: str
    place: str
    link: str
    lines: list[_CodeLine]


@dataclass(frozen=True, slots=True)
class _ListedStep:
    thread: str
    what: str
    place: str
    link: str
    text: str


@dataclass(frozen=True, slots=True)
class _Shown:
    number: int
    finding: Finding
    name: str
    origin: str
    """Where a heap object is allocated."""
    title: str
    confidence: str
    meaning: str
    sides: list[_Side]
    others: list[str]
    picture: Picture | None
    """The last steps, up to the race."""
    whole: Picture | None
    """All of them, if they are more."""
    steps: list[_ListedStep]
    """The same as a list, for narrow screens."""
    suppression: str
    """Why it does not count; empty: it does."""
    why: Why
    haystack: str
    """What the search looks in."""


def write(verdict: Verdict, program: Program, options: Options, stream: TextIO) -> None:
    sources = Sources(program)
    links = Links(sources)
    findings = [
        _finding(number, finding, program, sources, links)
        for number, finding in enumerate(verdict.findings, 1)
    ]
    counts = {
        str(confidence): sum(f.confidence is confidence for f in verdict.findings)
        for confidence in sorted(Confidence, reverse=True)
    }
    stream.write(
        environment()
        .get_template("report.html.j2")
        .render(
            verdict=verdict,
            meaning=words.OUTCOME_MEANS[verdict.outcome],
            findings=findings,
            counts=counts,
            native=words.native,
            files=[shown(file) for file in program.files],
            data_model=program.data_model.upper(),
            threads=[words.thread(thread) for thread in verdict.threads],
            version=__version__,
            rules=_rules(findings),
            link=links.link_line,
            listings=links.listings(),
            style=Markup(template("report.css")),
            script=Markup(template("report.js")),
        )
    )
    stream.write("\n")


def _rules(findings: list[_Shown]) -> dict[str, tuple[str, int]]:
    """Id -> title and number of findings, in the order of the findings."""
    found: dict[str, tuple[str, int]] = {}
    for one in findings:
        rule = one.why.rule
        found[rule.id] = (rule.title, found.get(rule.id, ("", 0))[1] + 1)
    return found


def environment() -> Environment:
    return Environment(
        loader=FunctionLoader(template), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def template(name: str) -> str:
    return files("raceproof.report").joinpath(f"templates/{name}").read_text("utf-8")


def _suppression(finding: Finding, sources: Sources) -> str:
    suppression = suppression_of(finding, sources)
    return "" if suppression is None else words.suppression(suppression)


def _listed(row: Row, told: Interleaving, links: Links) -> _ListedStep:
    place = words.short_place(row.position)
    link = links.link(row.position)
    return _ListedStep(told.names[row.thread], row.what.value, place, link, row.text)


def _finding(
    number: int, finding: Finding, program: Program, sources: Sources, links: Links
) -> _Shown:
    sides = [_side(access, sources, links) for access in finding.accesses]
    reason = why(finding, sources)
    drawn = whole = None
    steps: list[_ListedStep] = []
    if finding.schedule is not None:
        told = interleaving(finding, program, sources)
        numbers = (finding.schedule.first, finding.schedule.second)
        held = {
            number: tuple(one.name for one in words.named_once(access.locks))
            for number, access in zip(numbers, in_order(finding, finding.schedule), strict=True)
        }
        drawn = picture(told, held, _LAST_ROWS)
        whole = picture(told, held) if drawn.left_out else None
        steps = [_listed(row, told, links) for row in told.rows[-_LAST_ROWS:]]
        for row in told.rows:
            links.add(row.position)
    places = [side.place for side in sides] + [a.function for a in finding.accesses]
    return _Shown(
        number,
        finding,
        without_origin(finding.location.name),
        origin(finding.location.name),
        words.title(finding).partition(" of ")[0],
        str(finding.confidence),
        words.CONFIDENCE_MEANS[finding.confidence],
        sides,
        [
            f"{words.kind(a)} at {_place(a)} in {a.function} · "
            f"{words.kind(b)} at {_place(b)} in {b.function}"
            for a, b in finding.others
        ],
        drawn,
        whole,
        steps,
        _suppression(finding, sources),
        reason,
        " ".join(
            [
                finding.location.name,
                str(finding.confidence),
                reason.rule.id,
                *places,
                *(side.thread for side in sides),
                *(name for side in sides for name in side.locks),
            ]
        ).lower(),
    )


def _side(access: Access, sources: Sources, links: Links) -> _Side:
    links.add(access.position)
    return _Side(
        access,
        words.kind(access),
        words.target(access),
        words.thread_of(access),
        [words.lock(held) for held in words.named_once(access.locks)],
        words.call_stack(access).split(" > ")[:-1],
        shown(access.position.file) if access.position else "",
        _place(access),
        links.link(access.position),
        _code(access, sources),
    )


def _place(access: Access) -> str:
    if access.position is None:
        return words.place(None)
    return f"{shown(access.position.file)}:{access.position.line}"


def _code(access: Access, sources: Sources) -> list[_CodeLine]:
    lines = sources.excerpt(access.position, _CONTEXT)
    if access.position is None or not lines:
        return []
    start, width = sources.caret(access.position, words.underlined(access))
    caret = " " * start + "^" * width
    return [
        _CodeLine(line.number, code, line.is_marked, caret if line.is_marked else "")
        for line, code in zip(lines, highlighted(lines), strict=True)
    ]
