"""The report for people, word for word."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from raceproof import report
from raceproof.ir import Position
from raceproof.options import Options
from raceproof.report.source import Sources
from raceproof.verdict import Outcome, Verdict
from tests.report import made


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def text(verdict: Verdict, **options: bool | int) -> str:
    stream = io.StringIO()
    chosen = replace(Options(), **options)  # type: ignore[arg-type]
    report.write(verdict, made.program(Path()), chosen, stream)
    lines = (line.rstrip() for line in stream.getvalue().splitlines())
    return "\n".join(lines) + "\n"


def test_a_confirmed_race() -> None:
    verdict = made.racy(made.program(Path()))
    shown = text(replace(verdict, findings=verdict.findings[:1], notices=(), assumptions=()))
    assert shown == (
        """\
Data race 1 of 1: two writes of total  [confirmed]
  Why: both hold a lock, but different ones: lock and other [different-locks]

  write by worker, created at sums.c:26, holding lock
    worker (sums.c:16) > count
    sums.c:10:11 in count
       10 | total = total + n;
          | ^^^^^

  write by worker, created at sums.c:27, perhaps several at once, holding other,
        table (for reading, perhaps)
    sums.c:18:11 in worker
       18 | total = total + 2;
          | ^^^^^

  How it happens:
     main       sums.c:26  pthread_create(&first, 0, worker, 0);
     main       sums.c:27  pthread_create(&second, 0, worker, 0);
     1: worker  sums.c:9   pthread_mutex_lock(&lock);
     2: worker  sums.c:17  pthread_mutex_lock(&other);
  >> 1: worker  sums.c:10  total = total + n;
  >> 2: worker  sums.c:18  total = total + 2;

  Fix: hold one lock in every access of total

What protects it?  raceproof explain sums.c --location total
Step by step?      raceproof check sums.c --schedules DIR
                   raceproof replay DIR/race-1.json sums.c
Silence it?        // raceproof: ignore[total] REASON, at the access
race · 1 finding (1 confirmed) · 3 threads · 4 shared locations · 1.73 s
"""
    )


def test_a_proof() -> None:
    assert text(made.race_free()) == (
        """\
What protects the shared locations:
 location   accesses   protection
───────────────────────────────────────────────────
 total             4   lock `lock` in every access
 seen              2   only before threads start
 last              3   every access is atomic

race-free · 1 thread · 2 shared locations · 0.12 s
"""
    )


def test_quiet_says_only_what_was_asked_for() -> None:
    assert text(made.race_free(), verbosity=-1).count("\n") == 1


def test_notices_and_assumptions_are_told() -> None:
    shown = text(made.racy(made.program(Path())))
    assert "Assumed: the external function log has no effect on shared memory\n" in shown
    assert "Notice: engine bounded gave no answer: timeout\n" in shown
    assert "Who said what" not in shown
    assert "interleave      1.50" in text(made.racy(made.program(Path())), explain_pipeline=True)


def test_a_missing_source_is_no_obstacle() -> None:
    model = made.program(Path())
    Path("sums.c").unlink()
    stream = io.StringIO()
    report.write(made.racy(model), model, Options(), stream)
    assert "    sums.c:10:11 in count\n" in stream.getvalue()


def test_no_answer() -> None:
    assert text(Verdict(Outcome.UNKNOWN)) == (
        "Why unknown?  raceproof check sums.c --explain-pipeline -v\n"
        "unknown · no threads · no shared locations · 0.00 s\n"
    )


@pytest.mark.parametrize(
    ("line", "column", "expression", "marked"),
    [
        ("x = x + 1;", 3, "x", (0, 1)),
        ("x = x + 1;", 5, "x", (4, 1)),
        ("  p->next = q;", 6, "p->next", (2, 7)),
        ("  p->next = q;", 6, "", (2, 7)),
        ("  a[i]++;", 7, "b", (2, 4)),
        ("  *p = 1;", 6, "", (2, 2)),
        ("  f(q->a, 1);", 8, "", (4, 4)),
        ("  q[i + g(2)].x += 1;", 17, "", (2, 13)),
    ],
)
def test_carets_stand_under_the_expression(
    line: str, column: int, expression: str, marked: tuple[int, int]
) -> None:
    Path("caret.c").write_text(line + "\n", encoding="utf-8")
    sources = Sources(made.program(Path()))
    assert sources.caret(Position("caret.c", 1, column), expression) == marked
