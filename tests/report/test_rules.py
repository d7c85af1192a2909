"""Why two accesses are not protected, read off the accesses and their source lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raceproof.errors import UserError
from raceproof.ir import Position, Program
from raceproof.report.rules import RULES, why
from raceproof.report.source import Sources
from raceproof.report.suppression import check_comments
from raceproof.verdict import (
    Access,
    BaseKind,
    Confidence,
    Finding,
    HeldLock,
    Location,
    LockMode,
    Site,
    Thread,
)
from tests.report import made

ROOT = Path(__file__).parents[2]
SOURCE = """\
struct flags { unsigned a : 1; unsigned b : 1; } flags;
void update(void)
{
    flags.a = 1;
    flags.b = 1;
    free(block);
    use(block);
    pthread_mutex_unlock(&m);
    late = 1;
    puts("free(x)");
    t = localtime(&now);
    if (!ready) {
        ready = 1;
    }
}
"""
MAIN, WORKER = Thread("main"), Thread("worker", (Site(0, "main", None),))
M, N = HeldLock("m"), HeldLock("n")
READ_M = HeldLock("m", LockMode.READ)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "flags.c").write_text(SOURCE)
    return made.program(tmp_path)


def access(folder: Path, line: int, *locks: HeldLock, **changes: object) -> Access:
    place = Position(str(folder / "flags.c"), line, 5)
    location = Location(BaseKind.GLOBAL, "x", "x")
    one = Access(WORKER, 0, "update", place, location, True, locks=locks)
    return replace(one, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "first", "second", "kind"),
    [
        ("bit-field-neighbours", (4, (), {}), (5, (), {}), BaseKind.GLOBAL),
        ("no-lock", (4, (), {}), (4, (), {}), BaseKind.GLOBAL),
        ("free-while-used", (6, (M,), {}), (7, (), {"is_write": False}), BaseKind.HEAP),
        ("no-lock", (10, (), {}), (10, (), {}), BaseKind.GLOBAL),
        ("mixed-atomic", (9, (), {"is_atomic": True}), (13, (), {}), BaseKind.GLOBAL),
        ("double-checked", (12, (), {"is_write": False}), (13, (M,), {}), BaseKind.GLOBAL),
        ("read-lock-for-write", (9, (READ_M,), {}), (13, (M,), {}), BaseKind.GLOBAL),
        ("different-locks", (9, (N,), {}), (13, (M,), {}), BaseKind.GLOBAL),
        ("released-early", (9, (), {}), (13, (M,), {}), BaseKind.GLOBAL),
        ("unlocked-write", (13, (), {}), (9, (M,), {}), BaseKind.GLOBAL),
        ("unlocked-read", (4, (), {"is_write": False}), (9, (M,), {}), BaseKind.GLOBAL),
        ("not-joined", (4, (), {"thread": MAIN}), (4, (), {}), BaseKind.GLOBAL),
        ("unsafe-library-function", (11, (), {}), (11, (), {}), BaseKind.EXTERNAL),
    ],
)
def test_rule(
    rule: str,
    first: tuple[int, tuple[HeldLock, ...], dict[str, object]],
    second: tuple[int, tuple[HeldLock, ...], dict[str, object]],
    kind: BaseKind,
    program: Program,
    tmp_path: Path,
) -> None:
    sides = [access(tmp_path, line, *locks, **more) for line, locks, more in (first, second)]
    for accesses in ((sides[0], sides[1]), (sides[1], sides[0])):
        location = Location(kind, "x", "x")
        finding = Finding(location, Confidence.LIKELY, accesses)
        found = why(finding, Sources(program))
        assert found.rule.id == rule
        assert found.sentence
        assert found.suggestion


def test_every_rule_is_documented() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert f"## `{rule.id}`" in text
        assert rule.help in text


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("// raceproof:ignore[", "a malformed suppression"),
        ("// raceproof: ignore[x", "a malformed suppression"),
        ("/* raceproof: ignorex */", "did you mean ignore?"),
        ("// raceproof: ignroe[x] fine", "did you mean ignore?"),
    ],
)
def test_a_malformed_suppression_is_an_error(
    comment: str, words: str, program: Program, tmp_path: Path
) -> None:
    (tmp_path / "sums.c").write_text(f"int x;\nx++; {comment}\n")
    with pytest.raises(UserError, match=r"sums\.c:2: ") as error:
        check_comments(program.files, Sources(program))
    assert words in str(error.value)
