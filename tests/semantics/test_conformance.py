"""Every operation means the same in every executor, and natively.

Each executor is held to the definition with numbers, on all pairs of edge operands and on
random ones. What is undefined may have any result; what an executor leaves out is
`any value` or `unsupported`, for exactly the operations that it lists. With `RACEPROOF_EXPLORE=1`
there are more operands.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from raceproof.analysis.transfer import TRANSFER
from raceproof.analysis.transfer import _any_result as any_result
from raceproof.domains import value_operations
from raceproof.engines.bounded import instructions as bounded
from raceproof.engines.pairwise import instructions as pairwise
from raceproof.ir import (
    AtomicUpdate,
    Binary,
    Cast,
    Compare,
    CompareExchange,
    ExtractElement,
    Fence,
    InsertElement,
    InsertField,
    Intrinsic,
    Load,
    Negate,
    Select,
    Shuffle,
    Store,
)
from raceproof.machine import access_code, compiler, operators
from raceproof.semantics.concrete import MEANINGS
from raceproof.semantics.operations import _BY_CLASS, OPERATIONS, Edge
from raceproof.sequentialize import expressions
from raceproof.sequentialize import instructions as printer
from raceproof.smt import compute
from raceproof.smt.evaluate import evaluate
from raceproof.smt.terms import Term, Terms
from tests.machine.native import ON_X86
from tests.semantics import executors
from tests.semantics.cases import Case, cases, rows
from tests.semantics.executors import Outcome, Result, Row, agree
from tests.semantics.native_operations import Native, compiled

ALL = list(cases())
COUNT = 400 if os.environ.get("RACEPROOF_EXPLORE") else 8
RUNTIME = Path(expressions.__file__).parent / "runtime"


def compare(executor: Callable[[Case, Row], Result]) -> dict[str, set[Outcome]]:
    """Against the definition; what the executor left out, by operation."""
    wrong: list[str] = []
    left_out: dict[str, set[Outcome]] = {}
    generator = random.Random(12)
    for case in ALL:
        for row in rows(case, generator, COUNT):
            expected = executors.concrete(case, row)
            if expected in (Outcome.UNDEFINED, Outcome.ANY):
                continue
            found = executor(case, row)
            if found in (Outcome.ANY, Outcome.UNSUPPORTED):
                left_out.setdefault(case.operation.name, set()).add(found)
            elif not any(agree(case, other, found) for other in permitted(case, row, expected)):
                wrong.append(f"{case}{row}: {found}, not {expected}")
    assert not wrong, f"{len(wrong)} results differ, as {wrong[:5]}"
    return left_out


def permitted(case: Case, row: Row, expected: Result) -> list[Result]:
    """The definition, and what a compiler may choose in its place."""
    if case.operation.name == "llvm.fmuladd":
        return [expected, MEANINGS["llvm.fma"](case.bits, case.target, *row)]
    return [expected]


def listed(omitted: Iterable[str]) -> set[str]:
    """Those of them that are compared here."""
    return {case.operation.name for case in ALL} & set(omitted)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Native:
    return compiled(executors.llvm_text(ALL), ".ll", tmp_path_factory.mktemp("native"))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Native:
    state = (RUNTIME / "state.c").read_text(encoding="utf-8")
    pieces = [
        piece.partition("\n")[2]
        for piece in state.split("//: ")
        if piece.split("\n")[0].strip()
        in ("float_of_bits", "double_of_bits", "bits_of_float", "bits_of_double")
    ]
    arithmetic = (RUNTIME / "arithmetic.c").read_text(encoding="utf-8")
    functions = [text for case in ALL if (text := executors.c_text(case)) is not None]
    text = "\n".join([executors.C_HEAD, *pieces, arithmetic, *functions])
    return compiled(text, ".c", tmp_path_factory.mktemp("printed"))


def test_every_operation_has_a_definition_or_is_run_by_other_tests() -> None:
    whole = {name for name in OPERATIONS if name not in MEANINGS}
    assert whole == {
        *("freeze", "bitcast", "extractvalue", "insertvalue", "extractelement", "insertelement"),
        *("shufflevector", "getelementptr", "alloca", "load", "store", "load atomic"),
        *("store atomic", "memcpy", "memset", "fence", "llvm.frameaddress", "llvm.returnaddress"),
        *(name for name in OPERATIONS if name.startswith("vector ")),
    }
    assert not MEANINGS.keys() - OPERATIONS.keys()


@ON_X86
def test_native_code_computes_the_definition(native: Native) -> None:
    assert not compare(executors.native(native))


def test_the_machine_computes_the_definition() -> None:
    assert compare(executors.machine).keys() == listed(operators.OMITTED)


def test_the_machine_ends_where_the_definition_is_undefined() -> None:
    generator = random.Random(13)
    for case in ALL:
        for row in rows(case, generator, COUNT):
            if executors.concrete(case, row) is Outcome.UNDEFINED:
                assert executors.machine(case, row) is Outcome.UNDEFINED, (case, row)


def test_formulas_of_constants_compute_the_definition() -> None:
    assert compare(executors.folded).keys() == listed(compute.OMITTED)


def test_formulas_of_variables_compute_the_definition() -> None:
    """As the evaluation of models says; those of floating point have any value."""

    def symbolic(case: Case, row: Row) -> Result:
        terms = Terms()
        operands = [
            terms.var(letter, type_.bits)  # type: ignore[attr-defined]
            for letter, type_ in zip("abc", case.operands, strict=False)
        ]
        found = executors.term_of(case, terms, operands)
        if found is None:
            return Outcome.ANY
        numbers = {
            operand.number: executors.to_bits(type_, number)
            for operand, type_, number in zip(operands, case.operands, row, strict=True)
        }

        def value(term: Term) -> int:
            return evaluate(term, {}, lambda variable: numbers[variable.number])

        if isinstance(found, tuple):
            return tuple(
                executors.from_bits(case.result, value(part)) if index == 0 else value(part)
                for index, part in enumerate(found)
            )
        return executors.from_bits(case.result, value(found))

    assert compare(symbolic).keys() == listed(compute.OMITTED.keys() | compute.CONSTANTS_ONLY)


def test_abstract_values_contain_the_definition() -> None:
    with_states = {name for name in OPERATIONS if name.startswith(("atomicrmw", "cmpxchg"))}
    left_out = compare(executors.abstract).keys() - with_states - {"select"}
    assert left_out == listed(value_operations.OMITTED)


@ON_X86
def test_sequential_c_computes_the_definition(printed: Native) -> None:
    assert compare(executors.printed(printed)).keys() == listed(expressions.OMITTED)


def test_instructions_without_an_entry_are_listed() -> None:
    computing = set(_BY_CLASS) | {Load, Store, AtomicUpdate, CompareExchange, Binary, Compare}
    computing |= {Cast, Negate, Select, Intrinsic}
    assert computing <= compiler._WRITERS.keys() | access_code.ACCESS_WRITERS.keys()
    assert computing <= printer._WRITERS.keys()
    assert computing - bounded._HANDLERS.keys() == {Fence}
    skipped = {kind for kind, handler in TRANSFER.items() if handler is any_result} & computing
    assert skipped == {ExtractElement, InsertElement, Shuffle}
    assert set(pairwise.ANY_RESULT) == {InsertField, ExtractElement, InsertElement, Shuffle}


def test_what_is_left_to_the_compiler_is_not_folded() -> None:
    for operation in OPERATIONS.values():
        if Edge.CHOSEN in operation.edges or Edge.LAST_DIGIT in operation.edges:
            assert not operation.is_fixed
