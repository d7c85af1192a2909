"""Memory orders: which atomic reads may return a value that orders nothing.

A race is a pair of conflicting accesses, not both atomic, that happens-before does not order in
some sequentially consistent (SC) execution. Happens-before comes from the program order, from
locks, creations and so on, and from a release write to the acquire read that sees it. Engines look
for less: two accesses that are *about to happen at once*. This module says where that differs, so
that every engine can make up for it:

    data = 1; store(&flag, 1, relaxed);      while (!load(&flag, relaxed)) ; use(data);

The two accesses of `data` never happen at once, but nothing orders them: a race. Call a read
*unordered* for a value if it may see that value without the write being ordered before it.

**Claim.** Let P' be the program in which each atomic read returns what stands in memory, or any
value it is unordered for. If P has a race, then P' has an SC execution in which two conflicting
accesses are about to happen at once. So "no two accesses of P' at once" proves P race-free, and
where no read is unordered, P' is P: all that engines say about "at once" is right as it is.

**Proof.** Take an SC execution of P up to the first access b that races with an earlier one a. Let
D be the events that happen before a or before b, in the order of the execution; D contains with
each event what happens before it. Run D in P', then a and b stand at once: we show that each event
of D can do in D what it did. (1) Locks, joins, conditions: what lets them go on happens before
them. (2) A plain read does not race (b is the first), so all writes of its bytes are ordered with
it, and the last one is in D. (3) An atomic read r that saw the value v of a write w. If r is
unordered for v, P' may return v. Else w happens before r by the rules below, so w is in D and still
the last write before r; and w writes the same value in D: a store, an exchange, a compare-exchange
write their operand, and an arithmetic update w continues the release sequence of those before it,
all of which happen before r, too (the rules give up where one of them does not release).

**Rules**, for a read of a location that `weak` writes may touch (those that do not release):

- relaxed: unordered for every value;
- acquire: unordered for the values that weak writes store; for every value if such a write is
  arithmetic or stores no constant, or if a releasing one is arithmetic.

Fences. A relaxed write right after a release fence (registers and atomic stores between them at
most) counts as a release: the fence happens before the read, and what stands between can be
added to D. A relaxed read whose value decides a branch to an acquire fence, with nothing but
registers between, is ordered for the values that lead to the fence: if D has more of that thread
than the read, it has the fence.

Exchanges. An exchange e that does not release and sees the value that it stores, without order,
need not be taken to store it: who reads that from e is unordered for it as well, but for plain
reads. These are ordered after all atomic writes, also after the one that e saw; so then D has that
one, and e sees it in D. (A spin lock that is waited for with `exchange(&busy, 1, acquire)` stays
as it is.)

**Who uses it.** `bounded` and `pairwise` prove things of P'. The value analysis follows executions
of P, and what it rests on (locks, creation, join, barriers) is happens-before itself; only spin
locks that programs make themselves need orders (`analysis.spin_locks`). The threading model of
`interleave` knows no data. Its explorer looks at P only and gives no proof where a read is
unordered. Races are looked for in P, and found by vector clocks (`machine.happens_before`).

A release sequence in C11 also goes on with relaxed stores of the same thread, since C++20 it does
not; proofs here do without, and `machine.happens_before` confirms no race that depends on it.
Writes and reads whose addresses are not known are taken to meet, if they are as wide; globals whose
address is only used to access them meet nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from raceproof.ir.constant_sets import ConstantSets
from raceproof.ir.instructions import (
    Assembly,
    AtomicUpdate,
    Binary,
    Branch,
    Call,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
    ExtractField,
    Fence,
    Instruction,
    Intrinsic,
    Load,
    NextArgument,
    SetMemory,
    Store,
)
from raceproof.ir.program import Function, Program
from raceproof.ir.types import IntType
from raceproof.ir.unordered import ANYTHING, NOTHING, Unordered
from raceproof.ir.values import (
    FunctionAddress,
    GlobalAddress,
    IntConstant,
    Register,
    Value,
)

_ACQUIRES = frozenset(("acquire", "acq_rel", "seq_cst"))
_RELEASES = frozenset(("release", "acq_rel", "seq_cst"))
_STRONGEST = frozenset(("seq_cst",))
_CALL_ORDERS = ("monotonic", "monotonic", "acquire", "release", "acq_rel", "seq_cst")
"""As C numbers them; `consume` counts as relaxed."""


def is_acquire(order: str) -> bool:
    return order in _ACQUIRES


def is_release(order: str) -> bool:
    return order in _RELEASES


@dataclass(frozen=True, slots=True)
class _Write:
    """A reachable atomic write."""

    place: tuple[str, int] | None
    """Global and offset; None if it may be anywhere that pointers lead."""
    size: int
    is_weak: bool
    is_arithmetic: bool
    values: Unordered

    def meets(self, place: tuple[str, int] | None, size: int) -> bool:
        if self.place is None or place is None:
            return self.place is None and place is None
        mine, theirs = self.place[1], place[1]
        return self.place[0] == place[0] and mine < theirs + size and theirs < mine + self.size


def unordered_reads(program: Program) -> dict[int, Unordered]:
    """Number of an atomic read (or of a call that makes one) -> what it is unordered for.

    Reads that are not in it are ordered after all that they see.
    """
    if not any(_is_weak(i) for _, i in program.all_instructions()):
        return {}
    sets = ConstantSets(program)
    reachable = list(sets.reachable())
    if not any(_is_weak(i) for _, i in reachable):
        return {}
    return _Orders(program, sets, reachable).unordered()


def has_weak_orders(program: Program) -> bool:
    """Whether some atomic operation of the program is not sequentially consistent."""
    if not any(_orders(i) - _STRONGEST for _, i in program.all_instructions()):
        return False
    return any(_orders(i) - _STRONGEST for _, i in ConstantSets(program).reachable())


def _orders(i: Instruction) -> set[str]:
    match i:
        case Load(atomic=order) | Store(atomic=order) | AtomicUpdate(atomic=order):
            return {order} - {""}
        case CompareExchange(atomic=order, failure=failure):
            return {order, failure}
        case Call():
            return set(call_orders(i))
    return set()


def _is_weak(i: Instruction) -> bool:
    """Is it an atomic access that does not acquire or release all it could?"""
    match i:
        case Load(atomic=order):
            return bool(order) and not is_acquire(order)
        case Store(atomic=order):
            return bool(order) and not is_release(order)
        case AtomicUpdate(atomic=order):
            return not (is_acquire(order) and is_release(order))
        case CompareExchange(atomic=order, failure=failure):
            strong = is_acquire(order) and is_release(order) and is_acquire(failure)
            return not strong
        case Call():
            return any(order not in _ACQUIRES & _RELEASES for order in call_orders(i))
    return False


def call_orders(call: Call) -> tuple[str, ...]:
    """The orders of an atomic access that stayed a call of the compiler's support library; none if
    it is something else, or sequentially consistent by its name."""
    name = call.callee.name if isinstance(call.callee, FunctionAddress) else ""
    is_explicit = name.startswith("atomic_flag_") and name.endswith("_explicit")
    if not (name.startswith("__atomic_") or is_explicit):
        return ()
    if name.endswith(("_fence", "lock_free")):
        return ()
    count = 2 if "compare_exchange" in name else 1
    return tuple(map(_call_order, call.arguments[-count:]))


def _call_order(value: Value) -> str:
    if isinstance(value, IntConstant) and value.value < len(_CALL_ORDERS):
        return _CALL_ORDERS[value.value]
    return "monotonic"


class _Orders:
    def __init__(
        self, program: Program, sets: ConstantSets, reachable: list[tuple[Function, Instruction]]
    ) -> None:
        self._program = program
        self._sets = sets
        self._reachable = reachable
        self._direct = _direct_globals(program)
        self._released, self._acquired = self._fences()
        self._writes = [write for f, i in reachable if (write := self._write(f, i)) is not None]

    def unordered(self) -> dict[int, Unordered]:
        found = {}
        for function, i in self._reachable:
            unordered = self._read(function, i)
            if unordered:
                found[i.number] = unordered
        return found

    # --- writes ------------------------------------------------------------

    def _place(self, pointer: Value) -> tuple[str, int] | None:
        if isinstance(pointer, GlobalAddress) and pointer.name in self._direct:
            return pointer.name, pointer.offset
        return None

    def _write(self, function: Function, i: Instruction) -> _Write | None:
        match i:
            case Store(pointer=pointer, value=value, atomic=order) if order:
                arithmetic = False
            case AtomicUpdate(pointer=pointer, value=value, atomic=order, operation=operation):
                arithmetic = operation != "xchg"
            case CompareExchange(pointer=pointer, replacement=value, atomic=order):
                arithmetic = False
            case Call() if any(order not in _RELEASES for order in call_orders(i)[:1]):
                return _Write(None, 0, True, True, ANYTHING)
            case _:
                return None
        constants = None if arithmetic else self._sets.of(function, value)
        is_weak = not (is_release(order) or i.number in self._released)
        return _Write(
            self._place(pointer),
            self._program.layout.store_size(value.type),
            is_weak,
            arithmetic,
            ANYTHING if constants is None else Unordered(constants),
        )

    def _unreleased(self, pointer: Value, size: int) -> Unordered:
        """The values that an acquiring read may see without order."""
        place = self._place(pointer)
        values = NOTHING
        met = [write for write in self._writes if write.meets(place, size)]
        for write in met:
            if write.is_weak:
                values = values.union(write.values if write.size == size else ANYTHING)
        if values and any(write.is_arithmetic for write in met):
            return Unordered(frozenset(), True)
        return values

    # --- reads ------------------------------------------------------------

    def _read(self, function: Function, i: Instruction) -> Unordered:
        match i:
            case Load(pointer=pointer, type=type_, atomic=order) if order:
                return self._seen(i, pointer, self._program.layout.store_size(type_), order)
            case AtomicUpdate(pointer=pointer, value=value, atomic=order):
                size = self._program.layout.store_size(value.type)
                found = self._seen(i, pointer, size, order)
                is_weak = not (is_release(order) or i.number in self._released)
                if found and i.operation == "xchg" and is_weak:
                    found = replace(found, stores_in_vain=True)
                return found
            case CompareExchange():
                return self._exchange(function, i)
            case Call() if any(order not in _ACQUIRES for order in call_orders(i)):
                return ANYTHING
            case Call() if call_orders(i) and any(w.is_weak for w in self._writes):
                return ANYTHING
        return NOTHING

    def _seen(self, i: Instruction, pointer: Value, size: int, order: str) -> Unordered:
        weak = self._unreleased(pointer, size)
        if is_acquire(order):
            return weak
        before_fence = self._acquired.get(i.number)
        if before_fence is None:
            return Unordered(frozenset(), True)
        return weak.union(before_fence)

    def _exchange(self, function: Function, i: CompareExchange) -> Unordered:
        weak = self._unreleased(i.pointer, self._program.layout.store_size(i.expected.type))
        expected = self._sets.of(function, i.expected)
        may_succeed = not (is_acquire(i.atomic) or i.number in self._acquired)
        if weak and (expected is None or any(map(weak.contains, expected))):
            may_succeed = True
        may_fail = not is_acquire(i.failure) or bool(weak)
        return Unordered(may_succeed=may_succeed, may_fail=may_fail)

    # --- fences ------------------------------------------------------------

    def _fences(self) -> tuple[set[int], dict[int, Unordered]]:
        """Writes that a release fence stands right before; reads with the values that do not lead
        to an acquire fence."""
        released: set[int] = set()
        acquired: dict[int, Unordered] = {}
        if not any(isinstance(i, Fence) for _, i in self._reachable):
            return released, acquired
        for name in self._sets.blocks:
            function = self._program.functions[name]
            for block in function.blocks:
                released |= _after_release_fence(block.instructions)
                acquired |= _before_acquire_fence(function, block.instructions)
        return released, acquired


def _after_release_fence(instructions: Iterable[Instruction]) -> set[int]:
    found = set()
    is_fenced = False
    for i in instructions:
        match i:
            case Fence(atomic=order):
                is_fenced = is_fenced or is_release(order)
            case Store(atomic=order) if order and is_fenced:
                found.add(i.number)
            case (
                AtomicUpdate(atomic="monotonic")
                | CompareExchange(atomic="monotonic", failure="monotonic")
            ) if is_fenced:
                found.add(i.number)
            case _ if not _is_local(i):
                is_fenced = False
    return found


def _before_acquire_fence(
    function: Function, instructions: tuple[Instruction, ...]
) -> dict[int, Unordered]:
    """The last read of a block, if an acquire fence follows."""
    read: Instruction | None = None
    for i in instructions:
        match i:
            case Fence(atomic=order) if is_acquire(order) and read is not None:
                return {read.number: NOTHING}
            case Fence():
                continue
            case Load() | AtomicUpdate() | CompareExchange():
                read = i
            case _ if not _is_local(i):
                read = None
    last = instructions[-1]
    if read is None or read.result is None or not isinstance(last, Branch):
        return {}
    yes, no = (_starts_with_fence(function, t) for t in (last.if_true, last.if_false))
    if yes and no:
        return {read.number: NOTHING}
    if not (yes or no):
        return {}
    test = _test(instructions, last.condition, read)
    if test is None:
        return {}
    value, is_equal, is_truth = test
    if isinstance(read, CompareExchange):
        is_success = is_equal != yes  # the fence is where the flag is not 0
        return {read.number: NOTHING} if is_success else {}
    unfenced = Unordered(frozenset((value,)), is_complement=is_equal == yes)
    if is_truth:
        unfenced = Unordered(frozenset(filter(unfenced.contains, (0, 1))))
    return {read.number: unfenced}


def _starts_with_fence(function: Function, block: int) -> bool:
    for i in function.blocks[block].instructions:
        if isinstance(i, Fence) and is_acquire(i.atomic):
            return True
        if not _is_local(i):
            return False
    return False


def _test(
    instructions: tuple[Instruction, ...], condition: Value, read: Instruction
) -> tuple[int, bool, bool] | None:
    """What a branch tests of a read: whether it equals a constant (or, if False, does not), and if
    the read is a `_Bool`, only 0 or 1. Of a compare-exchange, whether its flag equals 0."""
    definitions = {i.result: i for i in instructions if i.result is not None}
    is_negated = False
    while isinstance(condition, Register):
        match definitions.get(condition):
            case Binary(operation="xor", left=left, right=IntConstant(value=1)):
                is_negated, condition = not is_negated, left
            case Compare(predicate="eq" | "ne" as predicate, left=left, right=IntConstant() as c):
                is_equal = (predicate == "eq") != is_negated
                if left is read.result:
                    return c.value, is_equal, False
                if c.value != 0:
                    return None
                is_negated, condition = is_equal, left
            case Cast(operation="zext", value=value):
                condition = value
            case Cast(operation="trunc", value=value) if (
                value is read.result and value.type == IntType(8) and condition.type == IntType(1)
            ):
                return 0, is_negated, True
            case ExtractField(aggregate=aggregate, path=(1,)) if aggregate is read.result:
                return 0, is_negated, True
            case _:
                return None
    return None


_SEEN = (
    *(Load, Store, AtomicUpdate, CompareExchange, CopyMemory, SetMemory),
    *(Call, Assembly, Intrinsic, NextArgument),
)


def _is_local(i: Instruction) -> bool:
    """Does it do nothing that another thread could see, or be ordered with?"""
    return not isinstance(i, _SEEN)


# --- globals that pointers do not reach -----------------------------------------------------------


def _direct_globals(program: Program) -> set[str]:
    """Globals whose address is used for nothing but accesses at fixed offsets."""
    taken: set[str] = set()
    work: list[object] = [g.initializer for g in program.globals.values() if g.initializer]
    for _, i in program.all_instructions():
        operands: tuple[Value, ...] = i.operands
        if isinstance(i, Load | Store | AtomicUpdate | CompareExchange):
            is_direct = isinstance(i.pointer, GlobalAddress)
            operands = tuple(o for o in operands if not (is_direct and o is i.pointer))
        work.extend(operands)
    while work:
        used = work.pop()
        if isinstance(used, GlobalAddress):
            taken.add(used.name)
        else:
            work.extend(getattr(used, "elements", ()))
            work.extend(o for o in getattr(used, "operands", ()) if not isinstance(o, Register))
    return {g.name for g in program.globals.values() if g.name not in taken}
