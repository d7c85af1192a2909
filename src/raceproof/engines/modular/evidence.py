"""What the accesses of a location, taken together, say about one that may race.

    lock(&c->lock); c->n++; unlock(&c->lock);    fourteen times, once without the lock: a mistake
    hits++;                                      nowhere under a lock: a counter, meant so

Only accesses while other threads run count, one for each statement.
"""

from __future__ import annotations

from collections import Counter

from raceproof.analysis.locks import ATOMIC, Held, is_once
from raceproof.analysis.races.detect import BaseReport, Pair
from raceproof.analysis.races.reasons.disjoint import may_overlap
from raceproof.analysis.records import RawAccess
from raceproof.concurrency import events as ev
from raceproof.engines.modular.describe import Describer
from raceproof.ir import (
    Binary,
    Call,
    Cast,
    Constant,
    Function,
    Instruction,
    Load,
    Program,
    Register,
    Store,
)
from raceproof.verdict import BaseKind, Evidence, Habit

_DESTROYS = (ev.LockDestroy, ev.ConditionDestroy, ev.BarrierDestroy, ev.SemaphoreDestroy)
_BESIDE = "the lock beside it"


def evidence_of(report: BaseReport, pairs: list[Pair], describer: Describer) -> Evidence:
    """For the pairs of one location."""
    if describer.objects[report.base].kind is BaseKind.EXTERNAL:
        return Evidence(Habit.LIBRARY)
    racing = [access for pair in pairs for access in pair]
    around = [a for a in _parallel(report) if any(_meet(a, b) for b in racing)]
    if all(_ends(a, describer) or _ends(b, describer) for a, b in pairs):
        return Evidence(Habit.FREED)
    statements: dict[int, set[str]] = {}
    for access in around:
        if access.is_free:
            continue
        held = _locks(access, describer)
        old = statements.get(access.instruction)
        statements[access.instruction] = held if old is None else old & held
    total = len(statements)
    counts = Counter(name for held in statements.values() for name in held)
    if not counts:
        habit = _unguarded([a for a in around if a.is_write], describer.program)
        return Evidence(habit, total=total)
    guard, guarded = min(counts.items(), key=lambda item: (-item[1], item[0]))
    if guarded == total and total > 1:
        return Evidence(Habit.UNCLEAR, guard, guarded, total)
    is_rule = guarded >= 2 and guarded * 2 > total
    lacking = {
        describer.program.function_of(number).display
        for number, held in statements.items()
        if guard not in held
    }
    one = lacking.pop() if len(lacking) == 1 else ""
    return Evidence(Habit.GUARDED if is_rule else Habit.MIXED, guard, guarded, total, one)


def holds_guard(access: RawAccess, evidence: Evidence, describer: Describer) -> bool:
    """Does it hold the lock that most of the others hold?"""
    return evidence.guard in _locks(access, describer)


def _ends(access: RawAccess, describer: Describer) -> bool:
    """Does it give the object back, or destroy a lock?"""
    instruction = describer.program.instruction(access.instruction)
    event = describer.analysis.events.of(instruction) if isinstance(instruction, Call) else None
    return access.is_free or isinstance(event, _DESTROYS)


def _parallel(report: BaseReport) -> list[RawAccess]:
    return [
        access for alike in report.kinds.values() for access in alike if access.facets.may_parallel
    ]


def _meet(a: RawAccess, b: RawAccess) -> bool:
    if a.size is None or b.size is None or a.offsets is b.offsets:
        return True
    return may_overlap(a.offsets, a.size, b.offsets, b.size)


def _locks(access: RawAccess, describer: Describer) -> set[str]:
    found = {
        describer.lock_name(held.lock) for held in access.facets.must_lockset if _is_guard(held)
    }
    if access.relative:
        found.add(_BESIDE)
    return found | access.called


def _is_guard(held: Held) -> bool:
    """Being past a call of `once` protects what its routine has written, and nothing else."""
    return held.lock != ATOMIC and not (is_once(held.lock) and not held.is_write)


def _unguarded(writes: list[RawAccess], program: Program) -> Habit:
    """What the stores of a location that nothing protects are for."""
    stores = [program.instruction(access.instruction) for access in writes]
    if not stores or not all(isinstance(store, Store) for store in stores):
        return Habit.OPEN
    kinds = {_kind(store, program.function_of(store.number)) for store in stores}
    if kinds == {"constant"}:
        return Habit.FLAG
    if "count" in kinds and kinds <= {"count", "constant"}:
        return Habit.COUNTER
    return Habit.OPEN


def _kind(store: Instruction, function: Function) -> str:
    assert isinstance(store, Store)
    value = store.value
    if isinstance(value, Constant):
        return "constant"
    makers = {i.result.index: i for i in function.instructions if i.result is not None}
    maker = _maker(value, makers)
    if isinstance(maker, Binary) and maker.operation in ("add", "sub", "fadd", "fsub"):
        for operand in (maker.left, maker.right):
            loaded = _maker(operand, makers)
            if isinstance(loaded, Load) and _same(loaded.pointer, store.pointer, makers):
                return "count"
    return "other"


def _maker(value: object, makers: dict[int, Instruction]) -> Instruction | None:
    """What computes a value, seen through casts."""
    while isinstance(value, Register):
        maker = makers.get(value.index)
        if not isinstance(maker, Cast):
            return maker
        value = maker.value
    return None


def _same(one: object, other: object, makers: dict[int, Instruction]) -> bool:
    """Do two addresses look alike?"""
    if one == other:
        return True
    first, second = _maker(one, makers), _maker(other, makers)
    if first is None or second is None or type(first) is not type(second):
        return False
    if len(first.operands) != len(second.operands):
        return False
    return all(
        a == b
        or (isinstance(a, Register) and isinstance(b, Register) and _loads_alike(a, b, makers))
        for a, b in zip(first.operands, second.operands, strict=True)
    )


def _loads_alike(a: Register, b: Register, makers: dict[int, Instruction]) -> bool:
    first, second = makers.get(a.index), makers.get(b.index)
    return isinstance(first, Load) and isinstance(second, Load) and first.pointer == second.pointer
