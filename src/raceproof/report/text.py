"""The verdict for people: in colours on a terminal, plain elsewhere."""

from __future__ import annotations

import os
import re
import textwrap
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

from raceproof.ir.names import origin
from raceproof.options import Options
from raceproof.report import words
from raceproof.report.grouping import grouped
from raceproof.report.hints import hints
from raceproof.report.rules import why
from raceproof.report.source import Sources
from raceproof.verdict import Access, Confidence, Finding, NativeRun, Outcome, Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from raceproof.ir import Program

_STYLES = {
    Confidence.CONFIRMED: "bold red",
    Confidence.LIKELY: "bold yellow",
    Confidence.POSSIBLE: "bold blue",
}
_OUTCOMES = {Outcome.RACE: "bold red", Outcome.RACE_FREE: "bold green", Outcome.UNKNOWN: "bold"}
_PLAIN_WIDTH = 80
"""Where there is no terminal to ask."""
_MOST_ROWS = 8
"""Of an interleaving; the last ones are shown, all with ``-v``."""
_MOST_NATIVE_LINES = 16
_FEW = 3
"""Findings that are told at length, whatever their confidence."""
_THREAD_WIDTH = 20
"""Of a thread's name in the steps."""
_COMMENT = re.compile(r"\s*(/\*[^\"]*\*/|//[^\"]*)\s*$")
_UNORDERED = "Nothing that happens in between makes the first access come before the second."
_MOST_PROTECTIONS = 30


def write(verdict: Verdict, program: Program, options: Options, stream: TextIO) -> None:
    _Text(stream, Sources(program), program, options).verdict(verdict)


class _Text:
    """Lines are written as they are where there is no terminal; only tables need `rich` there,
    which takes as long to load as a whole scan that finds nothing changed."""

    def __init__(
        self, stream: TextIO, sources: Sources, program: Program, options: Options
    ) -> None:
        self._stream = stream
        self._is_terminal = hasattr(stream, "isatty") and stream.isatty()
        self._is_plain = not self._is_terminal and not os.environ.get("FORCE_COLOR")
        self._sources = sources
        self._program = program
        self._options = options

    @cached_property
    def _console(self) -> Console:
        from rich.console import Console

        width = None if self._is_terminal else _PLAIN_WIDTH
        return Console(file=self._stream, highlight=False, width=width)

    @cached_property
    def _width(self) -> int:
        return self._console.width if self._is_terminal else _PLAIN_WIDTH

    def _line(self, *parts: str | tuple[str, str]) -> None:
        if self._is_plain:
            plain = "".join(part if isinstance(part, str) else part[0] for part in parts)
            self._stream.write(plain + "\n")
            return
        from rich.text import Text

        self._console.print(Text.assemble(*parts), soft_wrap=True)

    def verdict(self, verdict: Verdict) -> None:
        counting = [finding for finding in verdict.findings if finding.suppressed_by is None]
        for index, finding in enumerate(counting, 1):
            self._finding(finding, index, len(counting))
        if self._options.verbosity > 0:
            self._suppressed(verdict)
        if self._options.verbosity >= 0:
            if verdict.protections and verdict.outcome is not Outcome.RACE:
                self._protections(verdict)
            self._list("Assumed", self._shortened(verdict.assumptions))
        self._list("Notice", verdict.notices)
        if self._options.explain_pipeline or self._options.verbosity > 0:
            self._pipeline(verdict)
        self._layers(verdict)
        if self._options.verbosity >= 0:
            for question, command in hints(verdict, self._program.files):
                self._line((f"{question}  ", "dim"), command)
        self._line((words.summary(verdict), _OUTCOMES[verdict.outcome]))

    def _shortened(self, sentences: tuple[str, ...]) -> tuple[str, ...]:
        return sentences if self._options.verbosity > 0 else tuple(grouped(sentences))

    def _layers(self, verdict: Verdict) -> None:
        """What each layer was given and left, one row each (`--layers`)."""
        if not any(run.layers for run in verdict.engines):
            return
        from rich import box
        from rich.table import Table

        for run in verdict.engines:
            if not run.layers:
                continue
            table = Table(box=box.SIMPLE, title=f"Layers of {run.name}", title_justify="left")
            for head in ("layer", "variables in", "left", "confirmed", "seconds", "each", "share"):
                table.add_column(head, justify="left" if head == "layer" else "right")
            total = max(sum(row.seconds for row in run.layers), 0.001)
            for row in run.layers:
                table.add_row(
                    row.name,
                    str(row.candidates),
                    str(row.left),
                    str(row.confirmed),
                    f"{row.seconds:.2f}",
                    f"{row.seconds / max(row.candidates, 1):.2f}",
                    f"{100 * row.seconds / total:.0f} %",
                )
            self._console.print(table)
            for row in run.layers:
                if row.detail:
                    self._line(f"  {row.name}: {row.detail}")

    def _suppressed(self, verdict: Verdict) -> None:
        for finding in verdict.findings:
            if finding.suppressed_by is not None:
                self._line(
                    (f"{words.suppression(finding.suppressed_by)}: ", "bold"), words.title(finding)
                )

    def _finding(self, finding: Finding, index: int, total: int) -> None:
        style = _STYLES[finding.confidence]
        head = "Data race" if finding.confidence > Confidence.POSSIBLE else "Possible data race"
        reason = why(finding, self._sources)
        self._line(
            (f"{head} {index} of {total}: ", style),
            (words.title(finding), "bold"),
            (f"  [{finding.confidence}]", style),
        )
        made = origin(finding.location.name)
        if made:
            self._wrapped("  ", f"in memory {made}")
        self._wrapped("  Why: ", f"{reason.sentence} [{reason.rule.id}]")
        for head, text in (("Evidence", words.evidence(finding)), ("Also", words.also(finding))):
            if text:
                self._wrapped(f"  {head}: ", text)
        if finding.message and finding.confidence < Confidence.CONFIRMED:
            self._wrapped("  ", finding.message)
        if self._is_brief(finding, total):
            for access in finding.accesses:
                self._brief_access(access)
            self._others(finding)
            self._line("")
            return
        for access in finding.accesses:
            self._line("")
            self._access(access, style)
        self._others(finding)
        if finding.schedule is not None:
            self._schedule(finding)
        if finding.native is not None:
            self._native(finding.native)
        self._line("")
        self._wrapped("  Fix: ", reason.suggestion)
        self._line("")

    def _others(self, finding: Finding) -> None:
        """Further pairs, but for those of the same lines: `x++` reads and writes."""
        told = {_lines(*finding.accesses)}
        rows = []
        for first, second in finding.others:
            if _lines(first, second) not in told or self._options.verbosity > 0:
                told.add(_lines(first, second))
                rows.append(f"{_short(first)} · {_short(second)}")
        if rows:
            self._line(f"  and {words.count(len(rows), 'further pair')}:")
        for row in rows:
            self._wrapped("    ", row)

    def _native(self, native: NativeRun) -> None:
        self._line("")
        self._wrapped("  ", words.native(native))
        for line in native.report.splitlines()[:_MOST_NATIVE_LINES]:
            if line.strip():
                self._line(f"    {line}")

    def _is_brief(self, finding: Finding, total: int) -> bool:
        """Whether a finding of a long list is told in a few lines: what is not sure, without -v."""
        is_sure = finding.confidence > Confidence.POSSIBLE
        return not is_sure and total > _FEW and self._options.verbosity <= 0

    def _brief_access(self, access: Access) -> None:
        who = f"in {access.function} by {words.runs(access)}, holding {words.locks(access.locks)}"
        self._wrapped("  ", f"{words.place(access.position)}: {words.kind(access)} {who}")

    def _wrapped(self, head: str, text: str) -> None:
        """Text that is broken between words only, the further lines under the first."""
        lines = textwrap.wrap(
            text, self._width - len(head), break_long_words=False, break_on_hyphens=False
        )
        for number, line in enumerate(lines):
            self._line((head if number == 0 else " " * len(head), "bold"), line)

    def _access(self, access: Access, style: str) -> None:
        by = f"by {words.thread_of(access)}, holding {words.locks(access.locks)}"
        self._wrapped(f"  {words.kind(access)} ", by)
        stack = words.call_stack(access)
        if stack:
            self._wrapped("    ", stack)
        self._line((f"    {words.place(access.position)}", "dim"), f" in {access.function}")
        self._excerpt(access, style)

    def _excerpt(self, access: Access, style: str) -> None:
        position = access.position
        lines = self._sources.excerpt(position, 0)
        if position is None or not lines:
            return
        text = lines[0].text
        margin = len(text) - len(text.lstrip())
        start, length = self._sources.caret(position, words.underlined(access))
        head = f"    {lines[0].number:>5} | "
        code = text[margin:]
        if len(head) + len(code) > self._width:
            code = _without_comment(code)
        if len(head) + start - margin + length <= self._width:
            code = _cut(code, self._width - len(head))
        self._line((head, "dim"), (code, "bold"))
        blank = " " * (len(head) - 2) + "| " + " " * (start - margin)
        self._line((blank, "dim"), ("^" * length, style))

    def _schedule(self, finding: Finding) -> None:
        """The steps, a line each; the last ones, up to the race."""
        from raceproof.report.interleaving import What, interleaving

        shown = interleaving(finding, self._program, self._sources)
        everything = self._options.verbosity > 0
        total = len(shown.rows)
        rows = shown.rows if everything else shown.rows[-_MOST_ROWS:]
        if not shown.is_at_once and not everything:
            rows = shown.rows[max(0, min(shown.race[0] - 1, total - _MOST_ROWS)) :]
        self._line("")
        which = "" if len(rows) == total else f", the last {len(rows)} of {total} steps (all: -v)"
        self._line((f"  How it happens{which}:", "bold"))
        names = [_cut(shown.names[row.thread], _THREAD_WIDTH) for row in rows]
        places = [words.short_place(row.position) for row in rows]
        indent = max(map(len, names)), max(map(len, places))
        for row, name, place in zip(rows, names, places, strict=True):
            is_race = row.what is What.RACE
            head = f"  {'>>' if is_race else '  '} {name:<{indent[0]}}  {place:<{indent[1]}}  "
            room = max(self._width - len(head), 20)
            text = _without_comment(row.text)
            text = text if everything else _cut(text, room)
            self._line((head, "dim"), (text, "bold red" if is_race else ""))
        if not shown.is_at_once:
            self._line(
                "  Nothing between the two accesses makes the first happen before the second."
            )

    def _protections(self, verdict: Verdict) -> None:
        from rich.text import Text

        self._line(("What protects the shared locations:", "bold"))
        table = _plain_table()
        table.add_column("location", overflow="fold")
        table.add_column("accesses", justify="right")
        table.add_column("protection", overflow="fold")
        everything = self._options.verbosity > 0
        protections = verdict.protections
        for one in protections if everything else protections[:_MOST_PROTECTIONS]:
            table.add_row(Text(one.location.name), str(one.accesses or ""), Text(one.detail))
        self._console.print(table)
        if not everything and len(protections) > _MOST_PROTECTIONS:
            self._line(f"  ... and {len(protections) - _MOST_PROTECTIONS} more (all with -v)")
        self._line("")

    def _list(self, head: str, entries: tuple[str, ...]) -> None:
        for entry in entries:
            self._wrapped(f"{head}: ", entry)

    def _pipeline(self, verdict: Verdict) -> None:
        from rich.text import Text

        self._line(("Who said what:", "bold"))
        table = _plain_table()
        table.add_column("engine")
        table.add_column("seconds", justify="right")
        table.add_column("answer", overflow="fold")
        table.add_column("detail", overflow="fold")
        for run in verdict.engines:
            table.add_row(run.name, f"{run.seconds:.2f}", Text(run.answer), Text(run.detail))
        self._console.print(table)


def _plain_table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=True, show_edge=False)


def _without_comment(text: str) -> str:
    """The code of a line; a line that is a comment only stays."""
    code = _COMMENT.sub("", text).rstrip()
    return code or text


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _short(access: Access) -> str:
    return f"{words.kind(access)} at {words.short_place(access.position)} in {access.function}"


def _lines(first: Access, second: Access) -> frozenset[str]:
    return frozenset((words.short_place(first.position), words.short_place(second.position)))
