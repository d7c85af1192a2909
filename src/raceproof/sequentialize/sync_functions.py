"""The commands of the table of synchronisation as C functions, printed where a program needs them.

    static unsigned sync_lock(unsigned t, struct object *o)
    {
        if (o->owner == 0 && o->readers == 0) {
            o->owner = t + 1;
            ...

They return why the command fails, what it returns, zero, or `GOES_ON` if the call is not over.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from raceproof.semantics.sync_expressions import (
    assignments,
    expression,
    fold,
    mentions,
    operands_of,
)
from raceproof.semantics.synchronisation import COMMANDS, FLAGS, KIND_OF_TYPE, OBJECTS
from raceproof.sequentialize.context import ProgramContext

GOES_ON = "GOES_ON"

Flags = Mapping[str, bool | str]
"""Known flags, or the C text of those that are not."""
Text = str | int


class _CText:
    """The table's expressions as C; what is known is computed."""

    def __init__(self, flags: Flags, fields: tuple[str, ...], own: str = "o->own[t]") -> None:
        self._flags = flags
        self._fields = fields
        self._own = own

    def constant(self, value: int) -> Text:
        return value

    def name(self, name: str) -> Text:
        if name in self._flags:
            flag = self._flags[name]
            return int(flag) if isinstance(flag, bool) else flag
        if name == "me":
            return "(t + 1)"
        if name == "own":
            return self._own
        if name == "kind" and name in self._fields:
            return "lock_kind(o)"
        return f"o->{name}" if name in self._fields else name

    def binary(self, operator: str, left: Text, right: Text) -> Text:
        return f"({left} {operator} {right})"

    def both(self, left: Text, right: Text) -> Text:
        if isinstance(left, int) or isinstance(right, int):
            known, other = (left, right) if isinstance(left, int) else (right, left)
            return other if known else 0
        return f"({left} && {right})"

    def either(self, left: Text, right: Text) -> Text:
        if isinstance(left, int) or isinstance(right, int):
            known, other = (left, right) if isinstance(left, int) else (right, left)
            return 1 if known else other
        return f"({left} || {right})"

    def negation(self, operand: Text) -> Text:
        return int(not operand) if isinstance(operand, int) else f"!{operand}"

    def choice(self, condition: Text, then: Text, otherwise: Text) -> Text:
        if isinstance(condition, int):
            return then if condition else otherwise
        return f"({condition} ? {then} : {otherwise})"

    def of(self, text: str) -> Text:
        return fold(expression(text), self)


def _bare(text: Text) -> str:
    """Without parentheses around all of it."""
    found = str(text)
    if not found.startswith("("):
        return found
    depth = 0
    for place, character in enumerate(found):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return found[1:-1] if place == len(found) - 1 else found
    return found


def _suffix(command: str, flags: Flags) -> str:
    words = command.replace(" ", "_")
    used = [name for name in FLAGS if mentions(command, name) and flags.get(name) is True]
    if flags.get("recursive") == "recursive" and mentions(command, "recursive"):
        used.append("perhaps_recursive")
    return "_".join([words, *used])


def can_always(command: str, flags: Flags) -> bool:
    """Whether some case always applies."""
    text = _CText(flags, OBJECTS[COMMANDS[command].object])
    return any(text.of(case.when) == 1 for case in COMMANDS[command].cases)


def guard_name(context: ProgramContext, command: str, flags: Flags) -> str:
    """The function that says whether a command can be done."""
    name = f"can_{_suffix(command, flags)}"
    if name not in context.sync_functions:
        text = _CText(flags, OBJECTS[COMMANDS[command].object])
        whens = [found for case in COMMANDS[command].cases if (found := text.of(case.when)) != 0]
        condition = " || ".join(str(when) for when in whens) or "0"
        context.sync_functions[name] = (
            f"static int {name}(unsigned t, struct object *o)\n{{\n"
            f"    (void)t;\n    return {_bare(condition) if len(whens) == 1 else condition};\n}}\n"
        )
    return name


def function_name(context: ProgramContext, command: str, flags: Flags) -> str:
    """The function that does a command."""
    name = f"sync_{_suffix(command, flags)}"
    if name not in context.sync_functions:
        context.sync_functions[name] = _function(name, command, flags)
    return name


def _function(name: str, command: str, flags: Flags) -> str:
    meaning = COMMANDS[command]
    text = _CText(flags, OBJECTS[meaning.object])
    parameters = ["unsigned t", "struct object *o"]
    if flags.get("recursive") == "recursive" and mentions(command, "recursive"):
        parameters.append("int recursive")
    parameters += [f"uint32_t {operand}" for operand in operands_of(command)]
    lines: list[str] = []
    if any(case.everyone for case in meaning.cases):
        lines.append("    unsigned i;")
    lines.append("    (void)t;")
    is_complete = False
    for case in meaning.cases:
        when = text.of(case.when)
        if when == 0 or is_complete:
            continue
        body = [
            f"{_target(target)} = {_bare(fold(value, text))};"
            for target, value in (assignments(case.then) if case.then else ())
        ]
        if case.everyone:
            each = _CText(flags, OBJECTS[meaning.object], own="o->own[i]").of(case.everyone)
            body.append("for (i = 0; i < THREADS; ++i)")
            body.append(f"    o->own[i] = (unsigned char){each};")
        body.append(f"return {_returned(case.goes_on, case.error or case.value, text)};")
        is_complete = when == 1
        indent = "    " if is_complete else "        "
        if not is_complete:
            lines.append(f"    if ({_bare(when)}) {{")
        lines += [indent + line for line in body]
        if not is_complete:
            lines.append("    }")
    if not is_complete:
        lines.append(f"    return {_returned(False, meaning.otherwise, text)};")
    return f"static unsigned {name}({', '.join(parameters)})\n{{\n" + "\n".join(lines) + "\n}\n"


def _target(name: str) -> str:
    return "o->own[t]" if name == "own" else f"o->{name}"


def _returned(goes_on: bool, text: str, c_text: _CText) -> str:
    if goes_on:
        return GOES_ON
    if not text:
        return "0"
    found = c_text.of(text)
    return f"{found & 0xFFFFFFFF}u" if isinstance(found, int) else _bare(found)


@cache
def kind_function() -> str:
    """The kind of mutex that a number of the C library means."""
    kind = _CText({}, ()).of(KIND_OF_TYPE)
    return f"static unsigned kind_of_type(unsigned type)\n{{\n    return {_bare(kind)};\n}}\n"
