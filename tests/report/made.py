"""A program and verdicts made by hand, so that reports can be tested without any engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from raceproof.ir import (
    I32,
    POINTER,
    VOID,
    Block,
    Call,
    DebugInfo,
    Function,
    FunctionAddress,
    FunctionType,
    GlobalAddress,
    Instruction,
    IntConstant,
    Layout,
    Position,
    Program,
    Return,
    Store,
)
from raceproof.verdict import (
    Access,
    BaseKind,
    Confidence,
    EngineRun,
    Finding,
    HeldLock,
    Location,
    LockMode,
    Outcome,
    Protection,
    Schedule,
    Site,
    Step,
    Thread,
    Verdict,
)

SOURCE = """\
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static int total, seen, last, peak, "done";

static void count(int n)
{
    pthread_mutex_lock(&lock);
    total = total + n;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *argument)
{
    count(1);
    pthread_mutex_lock(&other);
    total = total + 2;
    pthread_mutex_unlock(&other);
    return 0;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, worker, 0);
    pthread_create(&second, 0, worker, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return total;
}
"""

LOCK, ADD, UNLOCK = 0, 1, 2
CALL_COUNT, LOCK_OTHER, ADD_TWO, UNLOCK_OTHER = 4, 5, 6, 7
CREATE_FIRST, CREATE_SECOND = 9, 10


def program(folder: Path, name: str = "sums.c") -> Program:
    """A model of SOURCE, written to a file of this name."""
    file = folder / name
    file.write_text(SOURCE, encoding="utf-8")
    numbers = iter(range(100))

    def at(line: int, column: int = 5) -> Position:
        return Position(str(file), line, column)

    def call(name: str, line: int) -> Call:
        type_ = FunctionType(VOID, ())
        return Call(next(numbers), at(line), None, FunctionAddress(POINTER, name), (), type_)

    def add(line: int) -> Store:
        total = GlobalAddress(POINTER, "total")
        return Store(next(numbers), at(line, 11), None, IntConstant(I32, 1), total)

    def end(line: int) -> Return:
        return Return(next(numbers), at(line), None, None)

    def function(name: str, line: int, *instructions: Instruction) -> Function:
        return Function(
            name,
            name,
            FunctionType(VOID, ()),
            (),
            (Block(0, instructions),),
            at(line),
            first_number=instructions[0].number,
        )

    functions = [
        function(
            "count",
            7,
            call("pthread_mutex_lock", 9),
            add(10),
            call("pthread_mutex_unlock", 11),
            end(12),
        ),
        function(
            "worker",
            14,
            call("count", 16),
            call("pthread_mutex_lock", 17),
            add(18),
            call("pthread_mutex_unlock", 19),
            end(20),
        ),
        function(
            "main",
            23,
            call("pthread_create", 26),
            call("pthread_create", 27),
            call("pthread_join", 28),
            call("pthread_join", 29),
            end(30),
        ),
    ]
    return Program(
        functions={function.name: function for function in functions},
        globals={},
        layout=Layout(8, {8: 1, 32: 4, 64: 8}, {32: 4, 64: 8}),
        debug=DebugInfo(),
        files=(str(file),),
    )


def location(name: str) -> Location:
    return Location(BaseKind.GLOBAL, f"@{name}", name, 0, 4)


def _site(made: Program, number: int) -> Site:
    return Site(number, made.function_of(number).name, made.instruction(number).position)


def threads(made: Program) -> tuple[Thread, Thread, Thread]:
    return (
        Thread("main"),
        Thread("worker", (_site(made, CREATE_FIRST),)),
        Thread("worker", (_site(made, CREATE_SECOND),), is_unique=False),
    )


def accesses(made: Program, name: str = "total") -> tuple[Access, Access]:
    _, first, second = threads(made)
    return (
        Access(
            first,
            ADD,
            "count",
            made.instruction(ADD).position,
            location(name),
            is_write=True,
            locks=(HeldLock("lock"),),
            calls=(_site(made, CALL_COUNT),),
            expression="total",
        ),
        Access(
            second,
            ADD_TWO,
            "worker",
            made.instruction(ADD_TWO).position,
            location(name),
            is_write=name != "seen",
            locks=(HeldLock("other"), HeldLock("table", LockMode.READ, is_sure=False)),
            expression="total",
        ),
    )


def schedule() -> Schedule:
    steps = [(0, CREATE_FIRST), (0, CREATE_SECOND), (1, LOCK), (2, LOCK_OTHER)]
    return Schedule(
        tuple(Step(thread, number) for thread, number in steps),
        inputs=(7,),
        first=1,
        second=2,
        instructions=(ADD, ADD_TWO),
    )


def finding(made: Program, name: str, confidence: Confidence) -> Finding:
    is_confirmed = confidence is Confidence.CONFIRMED
    return Finding(
        location(name),
        confidence,
        accesses(made, name),
        schedule=schedule() if is_confirmed else None,
        engine="interleave" if is_confirmed else "modular",
    )


def racy(made: Program) -> Verdict:
    """Five findings of all confidences."""
    confirmed = finding(made, "total", Confidence.CONFIRMED)
    pair = accesses(made, "seen")
    return Verdict(
        Outcome.RACE,
        findings=(
            confirmed,
            finding(made, "last", Confidence.CONFIRMED),
            replace(finding(made, "seen", Confidence.LIKELY), others=(pair,)),
            finding(made, "peak", Confidence.POSSIBLE),
            finding(made, '<"done">', Confidence.POSSIBLE),
        ),
        protections=race_free().protections,
        assumptions=("the external function log has no effect on shared memory",),
        engines=(
            EngineRun("modular", "race (1 likely, 2 possible)", 0.21),
            EngineRun("interleave", "race (2 confirmed)", 1.5, "12 schedules tried"),
        ),
        threads=threads(made),
        shared=tuple(location(name) for name in ("total", "last", "seen", "peak")),
        seconds=1.73,
        notices=("engine bounded gave no answer: timeout",),
    )


def race_free() -> Verdict:
    return Verdict(
        Outcome.RACE_FREE,
        protections=(
            Protection(location("total"), "lock", "lock `lock` in every access", 4),
            Protection(location("seen"), "before-threads", "only before threads start", 2),
            Protection(location("last"), "atomic", "every access is atomic", 3),
        ),
        engines=(EngineRun("modular", "race-free", 0.08),),
        threads=(Thread("main"),),
        shared=(location("total"), location("seen")),
        seconds=0.12,
    )
