"""Locks, conditions, barriers, semaphores and once controls, as the table of synchronisation says.

The fields of an object at address `a` are hidden variables at `a + SHADOW` (see `hidden`), in the
words of a `Layout`. A step of a call reads them, can only take place if a case of the command
applies, and writes what the case says (see `semantics.synchronisation`).

What is left out, or taken more generally than the table has it:

- Own fields. Of a read-write lock every reader counts as the thread's own, so that a thread may
  give back what another holds: more can happen. At a barrier the thread remembers the epoch in
  which it came, and what the table does to everyone is done by beginning the next one.
- The state of conditions, unless some wait has a time limit and tells why it ended; in a cautious
  unfolding always, as it may end for any reason. Any other wait may end for no reason anyway.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import LockKind, Role, Wait
from raceproof.concurrency.roles import ROLES
from raceproof.concurrency.synchronisation import (
    SYNCHRONISING,
    flags_of,
    success_value,
    sync_call,
    waits,
)
from raceproof.engines.bounded.cursor import Part as WalkerPart
from raceproof.engines.bounded.cursor import PathEnds
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.engines.bounded.sync_layout import (
    EPOCH,
    LAYOUTS,
    MUTEX,
    NORMAL,
    PLAIN,
    SHARED,
    Formulas,
    Layout,
    Number,
    Word,
)
from raceproof.ir import NullPointer
from raceproof.semantics.sync_expressions import (
    assignments,
    fold,
    kind_of,
    mentions,
    names_in,
    operands_of,
)
from raceproof.semantics.synchronisation import Case, Part, SyncStep
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


@dataclass(slots=True, eq=False)
class _Taken:
    """A case that may apply: when, and what holds after it."""

    when: Term
    case: Case
    values: dict[str, Number]


@dataclass(slots=True, eq=False)
class _Done:
    """A command that was done."""

    taken: list[_Taken]
    otherwise: str
    flags: Mapping[str, Number]


@dataclass(slots=True, eq=False)
class _Carried:
    """What a thread remembers from the first step of a call to the second."""

    goes_on: Term
    """When there is a second one."""
    own: Number = 0
    epoch: Number = 0
    everyone: str = ""


class SyncObjects(WalkerPart):
    """Calls that the table describes."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.memory = walker.memory
        self.operands = walker.operands
        self.instructions = walker.instructions
        self.functions = walker.functions
        self.hidden = walker.hidden
        self.allocation = walker.allocation

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {ROLES[role].event: self.synchronise for role in SYNCHRONISING}

    def synchronise(self, event: meaning.Event) -> None:
        call = sync_call(event.model)
        if isinstance(event, meaning.SemaphoreInit) and event.semaphore is None:
            made = self.space.pointer(self.allocation.new_object("semaphore", 32, zeroed=True))
            with self.cursor.step(call.steps[0].name):
                self._do(call.steps[0].parts[0], event, made, None)
            self.operands.set_result(made)
            return
        first = self._step(call.steps[0], event, None)
        if call.runs:
            self._run_once(event, first, call.steps[1])
        elif len(call.steps) > 1:
            carried = self._carried(call.steps[0], first)
            second = self._step(call.steps[1], event, carried)
            self._return(event, second, first, carried.goes_on)
        else:
            self._return(event, first)

    # --- steps ------------------------------------------------------------

    def _step(self, step: SyncStep, event: meaning.Event, carried: _Carried | None) -> _Done:
        parts = [part for part in step.parts if not self._is_left_out(part, event)]
        if not parts:
            return self._any_outcome(step.parts[0], event)
        addresses = [self._address(part, event) for part in parts]
        done = []
        with self.cursor.step(step.name):
            for part, address in zip(parts, addresses, strict=True):
                done.append(self._do(part, event, address, carried))
            if isinstance(event, meaning.SemaphoreValue) and event.result_pointer is not None:
                value = done[0].taken[0]
                count = Formulas(self.terms, value.values).of(value.case.value)
                assert isinstance(count, Term)
                self.memory.write(self.operands.term(event.result_pointer), count)
        return done[0] if parts[0] is step.parts[0] else self._any_outcome(step.parts[0], event)

    def _is_left_out(self, part: Part, event: meaning.Event) -> bool:
        if part.meaning.object != "condition":
            return False
        if isinstance(event, meaning.ConditionWait) and event.wait is Wait.TIMED:
            self.unfolder.notice_timed_waits()
            if not self.unfolder.limits.cautious:
                self.unfolder.has_choices = True
        return self.unfolder.limits.cautious or not self.unfolder.has_timed_waits

    def _any_outcome(self, part: Part, event: meaning.Event) -> _Done:
        """A command on an object whose state is left out: its fields have any value."""
        tokens: Number = 0
        if part.command == "wake" and getattr(event, "wait", None) is Wait.TIMED:
            tokens = self.operands.fresh_input("woken", 1)
        values: dict[str, Number] = {"waiting": 1, "tokens": tokens, **self._flags(event)}
        return self._cases(part, values, self._flags(event))

    def _address(self, part: Part, event: meaning.Event) -> Term:
        operand = getattr(event, part.operand)
        is_indirect = part.operand == "lock" and getattr(event, "is_indirect", False)
        return self.hidden.operand_address(operand, is_indirect)

    def _do(
        self, part: Part, event: meaning.Event, address: Term, carried: _Carried | None
    ) -> _Done:
        """One command on one object, in the current step."""
        words, values = self._look(part, event, address, carried)
        stored = dict(values)
        flags = self._flags(event)
        values.update(flags)
        values["me"] = self.thread + 1
        self._operands(part, event, values)
        if "kind" in values and mentions(part.command, "kind"):
            values["kind"] = self._kind(event, address, values["kind"])
        done = self._cases(part, values, flags)
        if waits(event.model):
            guard = self.terms.any(taken.when for taken in done.taken)
            if carried is not None:
                guard = self.terms.or_(guard, self.terms.not_(carried.goes_on))
            if guard is not self.terms.true:
                self.hidden.wait_until(guard)
        elif part.meaning.object == "lock" and part.meaning.otherwise:
            self.unfolder.notice_trials()
        for word, target in words:
            self._write_word(word, target, stored, done, carried, waits(event.model))
        return done

    def _look(
        self, part: Part, event: meaning.Event, address: Term, carried: _Carried | None
    ) -> tuple[list[tuple[Word, Term]], dict[str, Number]]:
        """The fields of an object as they are now."""
        layout = self._layout(part, event)
        if part.meaning.object != "attribute":
            address = self.hidden.shadow(address)
        values: dict[str, Number] = dict(layout.fixed)
        words = []
        for word in layout.words:
            if not any(self._uses(part.command, name) for name in word.fields):
                continue
            target = self.instructions.moved(address, word.offset) if word.offset else address
            words.append((word, target))
            found = None
            if any(self._reads(part, name) for name in word.fields):
                found = self.hidden.peek(target, word.size)
            for name, (low, width) in word.fields.items():
                values[name] = (
                    self.terms.const(0, width)
                    if found is None
                    else self.terms.extract(found, low + width - 1, low)
                )
        if layout.own:
            values["own"] = values[layout.own]
        elif "own" not in values:
            values["own"] = 0
            if carried is not None and carried.everyone:
                values["own"] = self._own_now(carried, values)
        return words, values

    def _own_now(self, carried: _Carried, values: dict[str, Number]) -> Number:
        formulas = Formulas(self.terms, {**values, "own": carried.own})
        is_same = formulas.binary("==", values[EPOCH], carried.epoch)
        return formulas.choice(is_same, carried.own, formulas.of(carried.everyone))

    @staticmethod
    def _uses(command: str, name: str) -> bool:
        if name == EPOCH:
            return command in ("arrive", "leave")
        return mentions(command, name)

    @staticmethod
    def _reads(part: Part, name: str) -> bool:
        """Whether a command looks at a field, or leaves it as it is in some case."""
        cases = part.meaning.cases
        if name == EPOCH or len(cases) > 1:
            return True
        (case,) = cases
        return name in names_in(case.when) or not any(
            target == name
            and not any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))
            for target, value in assignments(case.then)
        )

    def _layout(self, part: Part, event: meaning.Event) -> Layout:
        if part.meaning.object != "lock":
            return LAYOUTS[part.meaning.object]
        if getattr(event, "kind", LockKind.MUTEX) is LockKind.READ_WRITE:
            return SHARED
        if event.model.recursive:
            self.unfolder.notice_kinds_of_locks()
        return MUTEX if self.unfolder.has_kinds_of_locks else PLAIN

    def _flags(self, event: meaning.Event) -> dict[str, Number]:
        flags: dict[str, Number] = dict(flags_of(event.model))
        flags["anyone"] = self.unfolder.limits.anyone_unlocks
        flags["spurious"] = True
        rule = event.model.recursive_when
        if rule is not None and rule.argument < len(event.call.arguments):
            number = self.operands.term(event.call.arguments[rule.argument])
            masked = self.terms.binary("bvand", number, self.terms.const(rule.mask, number.width))
            flags["recursive"] = self.terms.eq(masked, self.terms.const(rule.equals, number.width))
            flags["number"] = number
        return flags

    def _operands(self, part: Part, event: meaning.Event, values: dict[str, Number]) -> None:
        for name in operands_of(part.command):
            if name in values:
                continue
            if name == "type":
                values[name] = self._attribute(event)
            elif name == "number":
                values[name] = 0
            else:
                operand = getattr(event, name)
                value = (
                    getattr(event, "initial", 0) if operand is None else self.operands.term(operand)
                )
                values[name] = self.terms.resize(value, 32) if isinstance(value, Term) else value
        if part.command == "set attribute" and isinstance(values["number"], Term):
            values["number"] = self.terms.resize(values["number"], 8)
        if part.command == "initialise lock" and not self._is_normal(values):
            self.unfolder.notice_kinds_of_locks()

    def _is_normal(self, values: dict[str, Number]) -> bool:
        formulas = Formulas(self.terms, values)
        return (
            formulas.truth(values["recursive"]) is self.terms.false
            and isinstance(values["type"], int)
            and kind_of(values["type"]) == NORMAL
        )

    def _attribute(self, event: meaning.Event) -> Number:
        """The number in the first byte of the attribute, so that a copy of it says the same."""
        attribute = getattr(event, "attribute", None)
        rule = event.model.recursive_when
        if attribute is None or rule is not None or isinstance(attribute, NullPointer):
            return 0
        address = self.operands.term(attribute)
        if not self.sharing.targets(address) - {UNKNOWN}:
            return 0
        found = self.hidden.peek(address)
        return found.constant if found.is_constant else found

    def _kind(self, event: meaning.Event, address: Term, stored: Number) -> Number:
        """The kind of a mutex: as initialised, else as its first bytes say."""
        if isinstance(event, meaning.LockInit | meaning.LockDestroy):
            return stored
        terms = self.terms
        static: Number = NORMAL
        formulas = Formulas(terms, {})
        offset_of_type = 12 if self.space.pointer_width == 32 else 16
        for number, offset in self.sharing.targets(address):
            target = self.space.all[number] if number >= 0 else None
            if target is None or not target.initial or offset is None:
                continue
            initial = target.initial.get(offset + offset_of_type)
            kind = kind_of(initial.constant) if initial and initial.is_constant else NORMAL
            if kind != NORMAL:
                self.unfolder.notice_kinds_of_locks()
                here = self.memory.at(address, (target, offset))
                static = formulas.choice(here, kind, formulas.term(static, terms.const(0, 2)))
        if isinstance(stored, int):
            return stored
        is_unset = terms.eq(stored, terms.const(0, stored.width))
        return formulas.choice(is_unset, formulas.term(static, stored), stored)

    def _cases(self, part: Part, values: dict[str, Number], flags: Mapping[str, Number]) -> _Done:
        """Which cases may apply, and what they do."""
        terms = self.terms
        left = terms.true
        taken = []
        for case in part.meaning.cases:
            when = Formulas(terms, values)
            holds = when.truth(when.of(case.when))
            active = terms.and_(left, holds)
            left = terms.and_(left, terms.not_(holds))
            if active is terms.false:
                continue
            after = dict(values)
            formulas = Formulas(terms, after)
            for name, value in assignments(case.then) if case.then else ():
                after[name] = fold(value, formulas)
            if case.everyone and EPOCH in after and "own" in names_in(case.everyone):
                after[EPOCH] = formulas.binary("+", after[EPOCH], 1)
            taken.append(_Taken(active, case, after))
        return _Done(taken, part.meaning.otherwise, flags)

    def _write_word(
        self,
        word: Word,
        target: Term,
        stored: dict[str, Number],
        done: _Done,
        carried: _Carried | None,
        must_apply: bool,
    ) -> None:
        """Store what the cases leave behind."""
        terms = self.terms
        value: Term | None = None
        changes = terms.false
        keeps = terms.false
        for taken in reversed(done.taken):
            targets = (
                {name for name, _ in assignments(taken.case.then)} if taken.case.then else set()
            )
            if taken.case.everyone:
                targets.add(EPOCH)
            if not targets & word.fields.keys():
                keeps = terms.or_(keeps, taken.when)
                continue
            new = self._packed(
                word,
                {
                    name: taken.values[name] if name in targets else stored[name]
                    for name in word.fields
                },
            )
            value = new if value is None else terms.ite(taken.when, new, value)
            changes = terms.or_(changes, taken.when)
        if value is None:
            return
        condition = terms.not_(keeps) if must_apply else changes
        if carried is not None:
            condition = terms.and_(condition, carried.goes_on)
        self.hidden.poke(target, value, None if condition is terms.true else condition)

    def _packed(self, word: Word, fields: Mapping[str, Number]) -> Term:
        terms = self.terms
        result: Term | None = None
        for name, (_, width) in sorted(word.fields.items(), key=lambda item: item[1]):
            value = fields[name]
            part = (
                terms.const(value, width) if isinstance(value, int) else terms.resize(value, width)
            )
            result = part if result is None else terms.concat(part, result)
        assert result is not None
        return result

    def _carried(self, step: SyncStep, done: _Done) -> _Carried:
        goes_on = self.terms.any(taken.when for taken in done.taken if taken.case.goes_on)
        carried = _Carried(goes_on)
        for taken in done.taken:
            if taken.case.goes_on:
                carried.own = taken.values.get("own", 0)
                carried.epoch = taken.values.get(EPOCH, 0)
        for case in step.parts[0].meaning.cases:
            if case.everyone:
                carried.everyone = case.everyone
        return carried

    # --- results ------------------------------------------------------------

    def _return(
        self,
        event: meaning.Event,
        done: _Done,
        first: _Done | None = None,
        goes_on: Term | None = None,
    ) -> None:
        """What the call returns; with `first` that only if it went on from there."""
        result = event.call.result
        if result is None:
            return
        if event.model.role is Role.SEMAPHORE_VALUE and event.model.operands.get("result_pointer"):
            self.operands.set_result(self.terms.const(0, self.space.width(result.type)))
            return
        width = self.space.width(result.type)
        value = self._result(event, done, width)
        if first is not None and goes_on is not None and goes_on is not self.terms.true:
            ended = [taken for taken in first.taken if not taken.case.goes_on]
            before = self._result(event, _Done(ended, first.otherwise, first.flags), width)
            value = self.terms.ite(goes_on, value, before)
        self.operands.set_result(value)

    def _result(self, event: meaning.Event, done: _Done, width: int) -> Term:
        value: Term | None = None
        if done.otherwise and not waits(event.model):
            formulas = Formulas(self.terms, dict(done.flags))
            error = formulas.of(done.otherwise)
            assert isinstance(error, int)
            value = self.hidden.error(event, error, width)
        for taken in reversed(done.taken):
            mine = self._outcome(event, taken, width)
            value = mine if value is None else self.terms.ite(taken.when, mine, value)
        return self.terms.const(0, width) if value is None else value

    def _outcome(self, event: meaning.Event, taken: _Taken, width: int) -> Term:
        formulas = Formulas(self.terms, taken.values)
        if taken.case.error:
            error = formulas.of(taken.case.error)
            assert isinstance(error, int)
            return self.hidden.error(event, error, width)
        if taken.case.value:
            value = formulas.of(taken.case.value)
            if isinstance(value, Term):
                return self.terms.resize(value, width)
            return self.terms.const(value, width)
        return self.terms.const(success_value(event.model), width)

    # --- once ------------------------------------------------------------

    def _run_once(self, event: meaning.Event, first: _Done, last: SyncStep) -> None:
        assert isinstance(event, meaning.Once)
        is_first = self.terms.any(
            taken.when for taken in first.taken if taken.case.value not in ("", "0")
        )

        def initialise() -> None:
            arguments = [self.operands.value(event.argument)] if event.argument is not None else []
            self.walker.library.call_pointer(self.operands.term(event.routine), arguments)
            self._step(last, event, None)

        self.under(is_first, initialise)
        if event.call.result is not None:
            width = self.space.width(event.call.result.type)
            self.operands.set_result(self.terms.const(success_value(event.model), width))

    def under(self, condition: Term, action: Callable[[], None]) -> None:
        """Does something on the paths where the condition holds."""
        terms = self.terms
        base = self.cursor.state
        taken = base.copy(terms.and_(base.guard, condition))
        other = base.copy(terms.and_(base.guard, terms.not_(condition)))
        if taken.guard is terms.false:
            return
        self.cursor.state = taken
        try:
            action()
        except PathEnds:
            if other.guard is terms.false:
                raise
            self.cursor.state = other
            return
        if other.guard is not terms.false:
            self.cursor.state = self.functions.merge([self.cursor.state, other])
