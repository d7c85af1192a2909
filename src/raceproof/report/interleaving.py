"""A schedule in words: who does what after whom, with the source line of every step.

Steps of one thread at one source line, one after the other, become one row. The racing accesses are
rows of their own: the last two, both enabled at once; or, if they race without being enabled at
once, where the first of them happens, and the last. What a step does to locks is read off the name
of the called function, for bars in pictures only; verdicts never depend on it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

from raceproof.ir import (
    AtomicUpdate,
    Call,
    CompareExchange,
    CopyMemory,
    FunctionAddress,
    Instruction,
    Load,
    Position,
    Program,
    SetMemory,
    Store,
)
from raceproof.ir.names import is_of_library
from raceproof.report import words
from raceproof.report.source import Sources
from raceproof.verdict import Access, Finding, Schedule


class What(Enum):
    """What a step is, for pictures."""

    CREATE = "create"
    JOIN = "join"
    LOCK = "lock"
    UNLOCK = "unlock"
    READ = "read"
    WRITE = "write"
    CALL = "call"
    OTHER = "other"
    RACE = "race"


@dataclass(frozen=True, slots=True)
class Row:
    """One step, or several of one thread at one line."""

    thread: int
    what: What
    function: str
    position: Position | None
    text: str
    """The source line, or the called function where the source is not at hand."""
    lock: str = ""
    """For lock and unlock: what stands between the parentheses."""
    created: tuple[int, ...] = ()
    """The threads that begin here."""


@dataclass(frozen=True, slots=True)
class Interleaving:
    names: tuple[str, ...]
    """The threads by number; `main` is 0."""
    rows: tuple[Row, ...]
    """The last is one of the racing accesses."""

    @property
    def race(self) -> tuple[int, int]:
        """Which rows are the racing accesses."""
        first, second = [i for i, row in enumerate(self.rows) if row.what is What.RACE][-2:]
        return first, second

    @property
    def is_at_once(self) -> bool:
        return self.race[0] == len(self.rows) - 2


_CALLS = (
    (What.CALL, re.compile(r"init|destroy|attr", re.I)),
    (What.UNLOCK, re.compile(r"unlock|release|sem_post|atomic_end|\bup\b", re.I)),
    (What.LOCK, re.compile(r"lock|acquire|sem_wait|atomic_begin|\bdown\b", re.I)),
    (What.CREATE, re.compile(r"create|kthread_run", re.I)),
    (What.JOIN, re.compile(r"join", re.I)),
)
_MEMORY: dict[type[Instruction], What] = {
    Load: What.READ,
    Store: What.WRITE,
    AtomicUpdate: What.WRITE,
    CompareExchange: What.WRITE,
    CopyMemory: What.WRITE,
    SetMemory: What.WRITE,
}
_TOLD = (What.CREATE, What.JOIN, What.LOCK, What.UNLOCK)
"""What is told of the C++ library's own steps."""
_ARGUMENT = re.compile(r"\(\s*&?\s*([^(),]+(?:\([^()]*\))?[^(),]*)")


def interleaving(finding: Finding, program: Program, sources: Sources) -> Interleaving:
    """The finding's schedule as rows."""
    schedule = finding.schedule
    assert schedule is not None
    rows: list[Row] = []
    threads = 0
    entries: dict[int, str] = {}
    done: int | None = None
    for step in schedule.shown_steps:
        if step.instruction is None:
            continue
        row = _row(step.thread, program, step.instruction, sources)
        if row.what is What.CREATE:
            threads += 1
            row = replace(row, created=(threads,))
            entries[threads] = _entry(program, step.instruction)
        if words.is_trampoline(entries.get(row.thread, "")) and not is_of_library(row.position):
            entries[row.thread] = row.function
        is_racing = (step.thread, step.instruction) == (schedule.first, schedule.instructions[0])
        is_inside = is_of_library(row.position) or row.function.startswith("raceproof_")
        if is_inside and row.what not in _TOLD and not is_racing:
            continue
        last = rows[-1] if rows else None
        is_new = last is None or last.thread != row.thread or (is_inside and bool(row.created))
        if last is not None and not is_new and _is_same_line(last, row):
            rows[-1] = _merge(last, row)
        else:
            rows.append(row)
        if is_racing:
            done = len(rows) - 1
    rows = [_created_at(row, finding, schedule) for row in rows]
    first, second = (
        replace(_row(thread, program, number, sources), what=What.RACE, lock="", created=())
        for thread, number in zip(
            (schedule.first, schedule.second), schedule.instructions, strict=True
        )
    )
    if schedule.is_past and done is not None:
        rows[done] = first
        racing = [second]
    else:
        racing = [first, second]
    return Interleaving(
        _names(finding, schedule, entries), (*_without_halves(rows, racing), *racing)
    )


def _created_at(row: Row, finding: Finding, schedule: Schedule) -> Row:
    """A creation inside of the C++ library, where the program asks for it, if that is known."""
    if not row.created or not is_of_library(row.position):
        return row
    numbers = (schedule.first, schedule.second)
    for number, access in zip(numbers, in_order(finding, schedule), strict=True):
        if number in row.created and access.thread.chain:
            place = access.thread.chain[-1].position
            return replace(row, position=place, text=f"creates {words.runs(access)}")
    return row


def in_order(finding: Finding, schedule: Schedule) -> tuple[Access, Access]:
    """The accesses of the schedule's first and second thread."""
    first, second = finding.accesses
    if schedule.instructions == (second.instruction, first.instruction):
        return second, first
    return first, second


def _without_halves(rows: list[Row], racing: list[Row]) -> list[Row]:
    """Without what `x++` has read at the end, if its write is a racing access: it is one line, and
    the reader sees it once."""
    kept = list(rows)
    for row in reversed(rows[-len(racing) :]):
        half = any(r.thread == row.thread and _is_same_line(r, row) for r in racing)
        if half and row.what is not What.RACE and not row.created:
            kept.remove(row)
    return kept


def _names(finding: Finding, schedule: Schedule, entries: dict[int, str]) -> tuple[str, ...]:
    highest = max(schedule.first, schedule.second, *(step.thread for step in schedule.steps), 0)
    pairs = zip((schedule.first, schedule.second), in_order(finding, schedule), strict=True)
    entries = {**entries, **{number: words.runs(access) for number, access in pairs}}
    entries = {n: "std::thread" if words.is_trampoline(e) else e for n, e in entries.items()}
    created = range(1, highest + 1)
    return (
        "main",
        *(f"{n}: {entries[n]}" if entries.get(n) else f"thread {n}" for n in created),
    )


def _entry(program: Program, creation: int) -> str:
    """The function in which the created thread starts, if the call names it."""
    call = program.instruction(creation)
    arguments = call.arguments if isinstance(call, Call) else ()
    names = [a.name for a in arguments if isinstance(a, FunctionAddress)]
    return program.functions[names[0]].display if names else ""


def _row(thread: int, program: Program, number: int, sources: Sources) -> Row:
    if not 0 <= number < program.instruction_count:
        return Row(thread, What.OTHER, "", None, f"instruction {number}")
    instruction = program.instruction(number)
    function = program.function_of(number).display
    text = sources.line(instruction.position)
    what = _MEMORY.get(type(instruction), What.OTHER)
    lock = ""
    if isinstance(instruction, Call):
        callee = instruction.callee
        name = callee.name if isinstance(callee, FunctionAddress) else ""
        what = next((kind for kind, pattern in _CALLS if pattern.search(name)), What.CALL)
        text = text or f"{name}()"
        if what in (What.LOCK, What.UNLOCK):
            argument = _ARGUMENT.search(text)
            lock = argument[1].strip() if argument else name
    return Row(thread, what, function, instruction.position, text or what.value, lock)


def _is_same_line(one: Row, other: Row) -> bool:
    if one.position is None or other.position is None:
        return one.position is other.position
    same = (one.position.file, one.position.line) == (other.position.file, other.position.line)
    return same and one.function == other.function


def _merge(last: Row, row: Row) -> Row:
    """A line that reads and writes is a write; one that creates threads creates them all."""
    created = last.created + row.created
    if created:
        return replace(last if last.created else row, created=created)
    order = (What.OTHER, What.CALL, What.READ, What.WRITE)
    if last.what in order and row.what in order:
        stronger = max(last, row, key=lambda one: order.index(one.what))
        return stronger
    return last if row.what in order else row
