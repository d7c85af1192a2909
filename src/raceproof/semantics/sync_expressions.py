"""Reads the expressions of the table of synchronisation.

`definition` makes a command a function on numbers; other executors go through its expressions with
`fold`: formulas, C text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from raceproof.semantics.synchronisation import (
    COMMANDS,
    CONSTANTS,
    FLAGS,
    KIND_OF_TYPE,
    OBJECTS,
    OPERANDS,
)

T = TypeVar("T")


class Algebra(Protocol[T]):
    """How an executor reads expressions."""

    def constant(self, value: int) -> T: ...
    def name(self, name: str) -> T: ...
    def binary(self, operator: str, left: T, right: T) -> T:
        """`+`, `-`, `&`; compared as unsigned numbers `==`, `!=`, `<`, `<=`, `>`, `>=`."""

    def both(self, left: T, right: T) -> T: ...
    def either(self, left: T, right: T) -> T: ...
    def negation(self, operand: T) -> T: ...
    def choice(self, condition: T, then: T, otherwise: T) -> T: ...


_OPERATORS: Final[Mapping[type[ast.AST], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.BitAnd: "&",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


@cache
def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@cache
def assignments(text: str) -> tuple[tuple[str, ast.expr], ...]:
    """Of `then`: done one after the other, each sees those before it."""
    found = []
    for statement in ast.parse(text.strip()).body:
        assert isinstance(statement, ast.Assign)
        (target,) = statement.targets
        assert isinstance(target, ast.Name)
        found.append((target.id, statement.value))
    return tuple(found)


@cache
def names_in(text: str) -> frozenset[str]:
    """What an expression or a list of assignments speaks of."""
    nodes = ast.walk(ast.parse(text.strip()))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def mentions(command: str, name: str) -> bool:
    """Whether a command looks at a field, flag or operand, or sets it."""
    found = COMMANDS[command]
    texts = [
        text
        for case in found.cases
        for text in (case.when, case.then, case.everyone, case.error, case.value)
    ]
    return any(name in names_in(text) for text in (*texts, found.otherwise) if text)


@cache
def operands_of(command: str) -> tuple[str, ...]:
    """The operands that a command needs."""
    fields = OBJECTS[COMMANDS[command].object]
    return tuple(name for name in OPERANDS if name not in fields and mentions(command, name))


def fold(node: ast.expr, algebra: Algebra[T]) -> T:
    """An expression in an executor's values."""
    match node:
        case ast.Constant(value=value):
            return algebra.constant(int(value))  # type: ignore[arg-type]
        case ast.Name(id=name):
            known = CONSTANTS.get(name)
            return algebra.name(name) if known is None else algebra.constant(known)
        case ast.BinOp(left=left, op=operator, right=right):
            return algebra.binary(
                _OPERATORS[type(operator)], fold(left, algebra), fold(right, algebra)
            )
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return algebra.binary(
                _OPERATORS[type(operator)], fold(left, algebra), fold(right, algebra)
            )
        case ast.BoolOp(op=operator, values=[first, *rest]):
            join = algebra.both if isinstance(operator, ast.And) else algebra.either
            result = fold(first, algebra)
            for operand in rest:
                result = join(result, fold(operand, algebra))
            return result
        case ast.UnaryOp(op=ast.Not(), operand=negated):
            return algebra.negation(fold(negated, algebra))
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            return algebra.choice(
                fold(test, algebra), fold(body, algebra), fold(otherwise, algebra)
            )
    raise ValueError(f"no expression of the table: {ast.unparse(node)}")


# --- the definition, with numbers ------------------------------------------------------------


class Outcome(NamedTuple):
    """What a command did."""

    fields: tuple[int, ...]
    own: int
    error: int = 0
    value: int | None = None
    everyone: Callable[[int], int] | None = None
    """To be applied to the own fields of all other threads (the thread's own is done)."""
    goes_on: bool = False


Fields = tuple[Any, ...]
"""The fields of an object, and perhaps more."""
Definition = Callable[[Fields, int, int, Mapping[str, Any]], Outcome | None]
"""(fields, own field, number of the thread plus one, flags and operands) -> what is done; None if
no case applies. The kind of a lock that its field does not tell is asked of `given["unset"]()`."""
Guard = Callable[[Fields, int, int, Mapping[str, Any]], bool]


@cache
def definition(command: str) -> Definition:
    """A command as a function, compiled from its cases."""
    found = COMMANDS[command]
    lines = _head(command)
    state = f"({', '.join(OBJECTS[found.object])},)"
    for case in found.cases:
        lines.append(f"    if {_asked(case.when)}:")
        if case.then:
            lines.append(f"        {case.then.strip()}")
        rest = "None"
        if case.everyone:
            rest = f"lambda own: {case.everyone}"
            lines.append(f"        own = ({rest})(own)")
        error, value = case.error or "0", case.value or "None"
        lines.append(
            f"        return Outcome({state}, own, {error}, {value}, {rest}, {case.goes_on})"
        )
    lines.append("    return None")
    run: Definition = _compiled(lines)
    return run


@cache
def guard(command: str) -> Guard:
    """Whether some case of a command applies."""
    whens = " or ".join(f"({_asked(case.when)})" for case in COMMANDS[command].cases)
    run: Guard = _compiled([*_head(command), f"    return {whens}"])
    return run


def _head(command: str) -> list[str]:
    names = OBJECTS[COMMANDS[command].object]
    flags = [flag for flag in FLAGS if mentions(command, flag)]
    return [
        "def run(fields, own, me, given):",
        f"    {', '.join(names)}, *_ = fields",
        *(f"    {name} = given[{name!r}]" for name in (*flags, *operands_of(command))),
    ]


def _asked(when: str) -> str:
    return re.sub(r"\bkind\b", "(kind or given['unset']())", when)


def _compiled(lines: list[str]) -> Any:
    space: dict[str, Any] = {**CONSTANTS, "Outcome": Outcome}
    exec("\n".join(lines), space)
    return space["run"]


class _Numbers:
    """Expressions on numbers."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = values

    def constant(self, value: int) -> int:
        return value

    def name(self, name: str) -> int:
        return self._values[name]

    def binary(self, operator: str, left: int, right: int) -> int:
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "&":
                return left & right
            case "==":
                return left == right
            case "!=":
                return left != right
            case "<":
                return left < right
            case "<=":
                return left <= right
            case ">":
                return left > right
        return left >= right

    def both(self, left: int, right: int) -> int:
        return left and right

    def either(self, left: int, right: int) -> int:
        return left or right

    def negation(self, operand: int) -> int:
        return not operand

    def choice(self, condition: int, then: int, otherwise: int) -> int:
        return then if condition else otherwise


def number(text: str, values: Mapping[str, int]) -> int:
    """What an expression is for given numbers."""
    return int(fold(expression(text), _Numbers(values)))


def errors_of(command: str, flags: Mapping[str, bool], waits: bool) -> list[int]:
    """All reasons for which a command may fail."""
    found = COMMANDS[command]
    texts = [case.error for case in found.cases if case.error]
    if found.otherwise and not waits:
        texts.append(found.otherwise)
    return sorted(
        {number(text, {name: int(flag) for name, flag in flags.items()}) for text in texts}
    )


def kind_of(type_: int) -> int:
    """The kind of mutex that a number of the C library means."""
    return number(KIND_OF_TYPE, {"type": type_})
