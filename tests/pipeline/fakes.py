"""Engines that answer what a test wants, and engines that misbehave."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from raceproof.engines.question import Question
from raceproof.errors import UserError
from raceproof.ir import DebugInfo, Layout, Program
from raceproof.verdict import (
    Access,
    Answer,
    BaseKind,
    Candidate,
    Confidence,
    Covered,
    Finding,
    Location,
    Outcome,
    Protection,
    Thread,
)


def program() -> Program:
    return Program({}, {}, Layout(8, {32: 4}, {}), DebugInfo(), ("none.c",))


def location(name: str) -> Location:
    return Location(BaseKind.GLOBAL, name, name, 0, 4)


def candidate(name: str, first: int = 1, second: int = 2) -> Candidate:
    where = location(name)

    def access(number: int) -> Access:
        return Access(Thread("worker"), number, "worker", None, where, is_write=True)

    return Candidate(where, access(first), access(second))


def finding(one: Candidate, confidence: Confidence) -> Finding:
    return Finding(one.location, confidence, (one.first, one.second))


X, Y, Z = candidate("x", 1, 2), candidate("y", 3, 4), candidate("z", 5, 6)


@dataclass(frozen=True)
class Fake:
    name: str
    answer: Callable[[Question], Answer]

    def run(self, program: Program, question: Question) -> Answer:
        return self.answer(question)


def _kill_myself(question: Question) -> Answer:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def _sleep(question: Question) -> Answer:
    time.sleep(60)
    raise AssertionError


def _eat(question: Question) -> Answer:
    food = [bytearray(1 << 20) for _ in range(1 << 14)]
    raise AssertionError(len(food))


def _fail(question: Question) -> Answer:
    raise ZeroDivisionError("nobody expected this")


def _blame(question: Question) -> Answer:
    raise UserError("no such function: nain")


def _confirm_all(question: Question) -> Answer:
    asked = question.candidates or (X,)
    return Answer(Outcome.RACE, tuple(finding(one, Confidence.CONFIRMED) for one in asked))


def _confirm_x(question: Question) -> Answer:
    left = tuple(one for one in question.candidates or () if one.location != X.location)
    return Answer(Outcome.RACE, (finding(X, Confidence.CONFIRMED),), open=left)


def _refute_x(question: Question) -> Answer:
    left = tuple(one for one in question.candidates or () if one.location != X.location)
    return Answer(Outcome.UNKNOWN, open=left)


PROVER = Fake(
    "prover",
    lambda question: Answer(
        Outcome.RACE_FREE,
        protections=(Protection(X.location, "lock", "lock m"),),
        covered=tuple(Covered),
    ),
)
NAMER = Fake(
    "namer",
    lambda question: Answer(
        Outcome.RACE,
        (finding(X, Confidence.LIKELY),),
        open=(Y, Z),
        assumptions=("a",),
        is_complete=True,
    ),
)
GUESSER = Fake(
    "guesser",
    lambda question: Answer(Outcome.RACE, (finding(X, Confidence.LIKELY),), open=(Y, Z)),
)
IDLER = Fake("idler", lambda question: Answer(Outcome.UNKNOWN))
CONFIRMER = Fake("confirmer", _confirm_all)
X_CONFIRMER = Fake("x-confirmer", _confirm_x)
X_REFUTER = Fake("x-refuter", _refute_x)
SUICIDE = Fake("suicide", _kill_myself)
SLEEPER = Fake("sleeper", _sleep)
EATER = Fake("eater", _eat)
FAILER = Fake("failer", _fail)
BLAMER = Fake("blamer", _blame)
