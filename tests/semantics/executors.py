"""The executors that are compared: each gives a value, `ANY`, `UNDEFINED`, or `UNSUPPORTED`."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Any

from raceproof.domains import float_operations, value_operations, value_refinement, values
from raceproof.errors import UserError
from raceproof.ir import I1, FloatType, IntType, Layout, StructType, Type
from raceproof.machine import operators
from raceproof.machine.faults import Unsupported
from raceproof.machine.intrinsics import intrinsic
from raceproof.semantics import floats
from raceproof.semantics.concrete import MEANINGS
from raceproof.semantics.edges import Undefined, Unrepresentable
from raceproof.sequentialize import accesses, expressions
from raceproof.smt import compute
from raceproof.smt.terms import Term, Terms
from tests.semantics.cases import Case
from tests.semantics.native_operations import SLOT, Native, llvm_function

POINTER_BITS = 64
LAYOUT = Layout.parse("e-i64:64")


class Outcome(Enum):
    ANY = "any"
    UNDEFINED = "undefined"
    UNSUPPORTED = "unsupported"


Row = tuple[float, ...]
Result = Any
"""An `Outcome`, a number, or a tuple of numbers."""


def concrete(case: Case, row: Row) -> Result:
    try:
        if case.operation.name == "bitcast":
            if isinstance(case.operands[0], FloatType):
                return floats.float_bits(case.bits, row[0])
            return floats.bits_float(case.bits, int(row[0]))
        return _bare(MEANINGS[case.operation.name](case.bits, case.target, *row, *case.flags))
    except Undefined:
        return Outcome.UNDEFINED
    except Unrepresentable:
        return Outcome.ANY


def _bare(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_bare(part) for part in value)
    return int(value) if isinstance(value, bool) else value


# --- the machine ------------------------------------------------------------


def machine(case: Case, row: Row) -> Result:
    try:
        text = _machine_text(case)
        names: dict[str, Any] = {**operators.HELPERS, "intrinsic": intrinsic}
        names["select"] = operators.select
        return _bare(eval(text, names, dict(zip("abc", row, strict=False))))
    except (Undefined, ZeroDivisionError):
        return Outcome.UNDEFINED
    except Unrepresentable:
        return Outcome.ANY
    except Unsupported:
        return Outcome.UNSUPPORTED


def _machine_text(case: Case) -> str:
    kind, _, name = case.operation.name.rpartition(" ")
    type_ = case.operands[0]
    if name.startswith("llvm."):
        letters = "abc"[: len(case.operands)]
        arguments = ", ".join([*letters, *map(str, case.flags)])
        return f"intrinsic({name[5:]!r}, {case.bits}, {case.target}, {arguments})"
    if kind in ("icmp", "fcmp"):
        return operators.compare(name, type_, "a", "b", POINTER_BITS)
    if kind == "atomicrmw":
        return operators.update(name, type_, "a", "b", POINTER_BITS)
    if "cmpxchg" in case.operation.name:
        return "(select(a == b, c, a), a == b)"
    if name == "select":
        return "select(a, b, c)"
    if name == "fneg":
        return "-a"
    if len(case.operands) == 1:
        return operators.cast(name, type_, case.result, "a", POINTER_BITS)
    return operators.binary(name, type_, "a", "b", POINTER_BITS)


# --- formulas ------------------------------------------------------------


def to_bits(type_: object, number: float) -> int:
    if isinstance(type_, FloatType):
        return int.from_bytes(floats.encode_float(type_.bits, number), "little")
    return int(number)


def from_bits(type_: object, number: int) -> float:
    return floats.bits_float(type_.bits, number) if isinstance(type_, FloatType) else number


def term_of(case: Case, terms: Terms, operands: list[Term]) -> Term | tuple[Term, ...] | None:
    """The term that the engines build."""
    kind, _, name = case.operation.name.rpartition(" ")
    is_float = isinstance(case.operands[0], FloatType)
    if name.startswith("llvm."):
        flags = [terms.truth(bool(flag)) for flag in case.flags]
        types = [*case.operands, *[IntType(1)] * len(flags)]
        return compute.intrinsic(terms, name[5:], [*operands, *flags], types, _whole(case))
    if kind == "icmp":
        return terms.compare(name, *operands)
    if kind == "fcmp":
        return compute.compare_floats(terms, name, *operands)
    if kind == "atomicrmw":
        return compute.update(terms, name, *operands)
    if "cmpxchg" in case.operation.name:
        same = terms.eq(operands[0], operands[1])
        return terms.ite(same, operands[2], operands[0]), same
    if name == "select":
        return terms.ite(*operands)
    if name == "fneg":
        return compute.negate(terms, operands[0])
    if len(operands) == 1:
        return compute.cast(terms, name, operands[0], case.target, is_float=is_float)
    return compute.binary(terms, name, *operands)


def _whole(case: Case) -> Type:
    return StructType((case.result, I1)) if has_two_results(case) else case.result


def folded(case: Case, row: Row) -> Result:
    """Terms of constants."""
    terms = Terms()
    pairs = zip(case.operands, row, strict=True)
    operands = [terms.const(to_bits(type_, number), type_.bits) for type_, number in pairs]  # type: ignore[attr-defined]
    found = term_of(case, terms, operands)
    if found is None:
        return Outcome.ANY
    if isinstance(found, tuple):
        return tuple(
            from_bits(case.result, part.constant) if index == 0 else part.constant
            for index, part in enumerate(found)
        )
    return from_bits(case.result, found.constant)


# --- abstract values ------------------------------------------------------------


def abstract(case: Case, row: Row) -> Result:
    """From known numbers: the number, `ANY`, or (for no number) `UNDEFINED`."""
    kind, _, name = case.operation.name.rpartition(" ")
    if kind == "atomicrmw" or "cmpxchg" in case.operation.name or name == "select":
        return Outcome.UNSUPPORTED  # transfer functions with states, which other tests run
    known = [
        values.constant(to_bits(type_, number), type_.bits)  # type: ignore[attr-defined]
        for type_, number in zip(case.operands, row, strict=True)
    ]
    if kind in ("icmp", "fcmp"):
        compare = value_refinement.compare if kind == "icmp" else float_operations.compare
        answer = compare(name, known[0], known[1], case.bits)
        return Outcome.ANY if answer is None else int(answer)
    if name.startswith("llvm."):
        flags = [values.constant(flag, 1) for flag in case.flags]
        types = [*case.operands, *[I1] * len(flags)]
        found = value_operations.intrinsic(name[5:], [*known, *flags], types, _whole(case))
        if isinstance(found, tuple):
            return tuple(
                _known(part, part_type)
                for part, part_type in zip(found, (case.result, IntType(1)), strict=True)
            )
    elif name == "fneg":
        found = float_operations.negate(known[0], case.bits)
    elif len(known) == 1:
        if name == "bitcast" and isinstance(case.operands[0], FloatType):
            found = float_operations.as_integer(known[0], case.bits)
        else:
            found = value_operations.cast(name, known[0], case.bits, case.target)
    elif isinstance(case.operands[0], FloatType):
        found = float_operations.binary(name, known[0], known[1], case.bits)
    else:
        found = value_operations.binary(name, known[0], known[1], case.bits)
    return _known(found, case.result)


def _known(found: values.AbstractValue, type_: object) -> Result:
    if found.is_bottom:
        return Outcome.UNDEFINED
    return Outcome.ANY if found.constant is None else from_bits(type_, found.constant)


# --- native code ------------------------------------------------------------


def llvm_text(cases: list[Case]) -> str:
    declared: dict[str, None] = {}
    functions = [_llvm(case, declared) for case in cases]
    return "\n".join([*declared, *functions])


def _word(type_: object) -> str:
    if isinstance(type_, FloatType):
        return "float" if type_.bits == 32 else "double"
    return str(type_)


def _llvm(case: Case, declared: dict[str, None]) -> str:
    kind, _, name = case.operation.name.rpartition(" ")
    words = [_word(type_) for type_ in case.operands]
    first, result = words[0], _word(case.result)
    results = [result]
    loads = words
    if name == "select":
        loads = ["i8", *words[1:]]
        body = f"  %c1 = trunc i8 %a to i1\n  %r = select i1 %c1, {result} %b, {result} %c"
    elif "cmpxchg" in case.operation.name:
        weak = "weak " if name == "weak" else ""
        results.append("i1")
        body = (
            f"  %m = alloca {first}\n  store {first} %a, ptr %m\n"
            f"  %x = cmpxchg {weak}ptr %m, {first} %b, {first} %c seq_cst seq_cst\n"
            f"  %s = extractvalue {{{first}, i1}} %x, 1\n  %r = load {first}, ptr %m"
        )
    elif kind == "atomicrmw":
        body = (
            f"  %m = alloca {first}\n  store {first} %a, ptr %m\n"
            f"  %x = atomicrmw {name} ptr %m, {first} %b seq_cst\n  %r = load {first}, ptr %m"
        )
    elif name.startswith("llvm."):
        return _llvm_intrinsic(case, name, words, result, declared)
    elif kind in ("icmp", "fcmp"):
        body = f"  %r = {kind} {name} {first} %a, %b"
    elif name == "fneg":
        body = f"  %r = fneg {first} %a"
    elif len(words) == 1:
        body = f"  %r = {name} {first} %a to {result}"
    else:
        body = f"  %r = {name} {first} %a, %b"
    return llvm_function(case.name, loads, results, body)


_TWO_SUFFIXES = ("llvm.ldexp", "llvm.powi")
_RESULT_FIRST = (
    "llvm.fptosi.sat",
    "llvm.fptoui.sat",
    "llvm.lround",
    "llvm.llround",
    "llvm.lrint",
    "llvm.llrint",
)


def _suffix(type_: object) -> str:
    return f"{'f' if isinstance(type_, FloatType) else 'i'}{type_.bits}"  # type: ignore[attr-defined]


def _llvm_intrinsic(
    case: Case, name: str, words: list[str], result: str, declared: dict[str, None]
) -> str:
    full = f"{name}.{_suffix(case.operands[0])}"
    if name in _RESULT_FIRST:
        full = f"{name}.{_suffix(case.result)}.{_suffix(case.operands[0])}"
    elif name in _TWO_SUFFIXES:
        full = f"{name}.{_suffix(case.operands[0])}.{_suffix(case.operands[1])}"
    is_pair = name.endswith("with.overflow")
    whole = f"{{{result}, i1}}" if is_pair else result
    types = [*words, *["i1"] * len(case.flags)]
    declared[f"declare {whole} @{full}({', '.join(types)})"] = None
    arguments = [f"{word} %{letter}" for word, letter in zip(words, "abc", strict=False)]
    arguments += [f"i1 {flag}" for flag in case.flags]
    call = f"call {whole} @{full}({', '.join(arguments)})"
    if is_pair:
        body = (
            f"  %x = {call}\n  %r = extractvalue {whole} %x, 0\n  %s = extractvalue {whole} %x, 1"
        )
        return llvm_function(case.name, words, [result, "i1"], body)
    return llvm_function(case.name, words, [result], f"  %r = {call}")


def native(library: Native) -> Callable[[Case, Row], Result]:
    def run(case: Case, row: Row) -> Result:
        operands = [
            to_bits(type_, number).to_bytes(8, "little")
            for type_, number in zip(case.operands, row, strict=True)
        ]
        first, second = library.call(case.name, operands)
        value = _from_slot(case.result, first)
        return (value, second[0]) if has_two_results(case) else value

    return run


def has_two_results(case: Case) -> bool:
    return "cmpxchg" in case.operation.name or case.operation.name.endswith("with.overflow")


def _from_slot(type_: object, slot: bytes) -> float:
    bits = max(type_.bits, 8)  # type: ignore[attr-defined]
    return from_bits(type_, int.from_bytes(slot[: bits // 8], "little"))


# --- C text ------------------------------------------------------------


def c_text(case: Case) -> str | None:
    """A function that computes what the printer of sequential C prints; None if it does not."""
    from raceproof.sequentialize.c_text import c_type

    try:
        texts = _c_results(case)
    except UserError:
        return None
    if texts is None:
        return None
    lines = [f"void {case.name}(const char *in, char *out) {{"]
    for index, (letter, type_) in enumerate(zip("abc", case.operands, strict=False)):
        lines.append(
            f"{c_type(type_)} {letter}; memcpy(&{letter}, in + {index * SLOT}, sizeof {letter});"
        )
    lines.append("undefined = 0;")
    for index, (text, type_) in enumerate(zip(texts, (case.result, IntType(8)), strict=False)):
        lines.append(f"{c_type(type_)} r{index} = {text};")
        lines.append(f"memcpy(out + {index * SLOT}, &r{index}, sizeof r{index});")
    lines.append(f"if (undefined) out[{2 * SLOT - 1}] = 1;")
    return "\n".join([*lines, "}"])


def _c_results(case: Case) -> list[str] | None:
    kind, _, name = case.operation.name.rpartition(" ")
    type_ = case.operands[0]
    letters = list("abc"[: len(case.operands)])
    if name.startswith("llvm."):
        given = [*letters, *map(str, case.flags)]
        return expressions.intrinsic(name[5:], type_, case.result, given, LAYOUT)
    if kind in ("icmp", "fcmp"):
        return [expressions.compare(name, type_, "a", "b", LAYOUT)]
    if kind == "atomicrmw":
        return [accesses.updated(name, type_, "a", "b", LAYOUT)]
    if "cmpxchg" in case.operation.name:
        return ["a == b ? c : a", "a == b"]
    if name == "select":
        return ["a ? b : c"]
    if name == "fneg":
        return ["-a"]
    if len(letters) == 1:
        return [expressions.cast(name, type_, case.result, "a", LAYOUT)]
    return [expressions.binary(name, type_, "a", "b", LAYOUT)]


C_HEAD = """
#include <stdint.h>
#include <string.h>
static int undefined;
typedef uint64_t address;
static void must(int holds) { if (!holds) undefined = 1; }
"""


def printed(library: Native) -> Callable[[Case, Row], Result]:
    def run(case: Case, row: Row) -> Result:
        if c_text(case) is None:
            return Outcome.ANY
        operands = [
            to_bits(type_, number).to_bytes(8, "little")
            for type_, number in zip(case.operands, row, strict=True)
        ]
        first, second = library.call(case.name, operands)
        if second[-1]:
            return Outcome.UNDEFINED
        value = _from_slot(case.result, first)
        return (value, second[0]) if has_two_results(case) else value

    return run


# --- comparison ------------------------------------------------------------

_LOOSE = frozenset(
    f"llvm.{name}"
    for name in (
        *("exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos"),
        *("atan", "sinh", "cosh", "tanh", "pow", "atan2", "powi"),
    )
)
"""The last digit is not fixed."""
_ZERO_OF_EITHER_SIGN = frozenset({"llvm.minnum", "llvm.maxnum", "atomicrmw fmax", "atomicrmw fmin"})


def agree(case: Case, a: Result, b: Result) -> bool:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return (
            isinstance(a, tuple)
            and isinstance(b, tuple)
            and all(agree(case, x, y) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        if a == 0 and b == 0 and case.operation.name not in _ZERO_OF_EITHER_SIGN:
            return math.copysign(1, a) == math.copysign(1, b)
        if case.operation.name in _LOOSE and math.isfinite(a) and math.isfinite(b):
            return math.isclose(a, b, rel_tol=1e-6 if case.target == 32 else 1e-14, abs_tol=1e-37)
    return bool(a == b)
