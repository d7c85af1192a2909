"""The small languages inside a model file: sizes, effects, results, callback arguments, formats.

Each function turns one text into its model or raises `ValueError` that says what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from raceproof.concurrency.model import (
    OF_ARGUMENT,
    Argument,
    ArgumentSize,
    BytesSize,
    CallbackArgument,
    CallbackValue,
    EffectModel,
    FormatFamily,
    FormatModel,
    ResultRange,
    ReturnKind,
    Returns,
    SizeModel,
    StringSize,
    WordSize,
)

Types = Mapping[str, BytesSize]

MOST_ARGUMENTS = 32

_EFFECT = re.compile(r"(may )?(\d+)(\.\.)?(?::\s*(.+?))?(\s+atomic)?")
_STRING = re.compile(r"(wide )?string(?: (\d+))?(?: up to (\d+))?")
_FACTOR = re.compile(r"argument (\d+)|(\w+)")
_WORDS = {word.value: word for word in WordSize}
_ONE = BytesSize(1, 1)
_RETURNS = re.compile(
    r"(any|argument|into|pointee|reachable|fresh|static|thread-local)"
    r"(?: (?!or )([\w.-]+))?( or fresh)?( or null)?"
)
_NUMBERS = re.compile(r"(-?\d+) to (?:(-?\d+)|(largest)|(argument \d+(?: \* argument \d+)*))")
_WIDE = 4


def index(text: str | int) -> int:
    """An argument's position."""
    number = int(text)
    if not 0 <= number < MOST_ARGUMENTS:
        raise ValueError(
            f"{number} is no argument position; the first argument is 0, "
            f"the last possible {MOST_ARGUMENTS - 1}"
        )
    return number


def function_operand(value: object, types: Types) -> Argument:
    """`2`, `"*2"`, or `"*2 + 8"` for a member of what argument 2 points to."""
    found = re.fullmatch(r"(\*\d+) \+ (\w+)", value) if isinstance(value, str) else None
    if found is None:
        return operand(value, may_be_indirect=True)
    offset = _constant(found[2], types)
    if offset is None:
        raise ValueError(_bad_offset(found[2], types))
    return replace(operand(found[1], may_be_indirect=True), offset=offset)


def operand(value: object, may_be_indirect: bool = False) -> Argument:
    """`2`, or for some operands `"*2"`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Argument(index(value))
    if may_be_indirect and isinstance(value, str) and re.fullmatch(r"\*\d+", value):
        return Argument(index(value[1:]), indirect=True)
    allowed = 'a number, or "*n" for what argument n points to' if may_be_indirect else "a number"
    raise ValueError(f"{value!r} is no argument position; allowed: {allowed}")


def size(text: str, types: Types, subject: int | None = None) -> SizeModel:
    """How many bytes; `subject` is the argument that a bare `string` speaks of."""
    if text in _WORDS:
        return _WORDS[text]
    string = _STRING.fullmatch(text)
    if string is not None:
        argument = index(string[2]) if string[2] else subject
        if argument is None:
            raise ValueError(f"{text!r} does not say which argument is the string")
        limit = index(string[3]) if string[3] else None
        return StringSize(argument, limit, _WIDE if string[1] else 1)
    arguments, scale = [], _ONE
    for part in text.split("*"):
        factor = _FACTOR.fullmatch(part.strip())
        if factor is None:
            raise ValueError(_bad_size(text, types))
        if factor[1]:
            arguments.append(index(factor[1]))
            continue
        known = _constant(factor[2], types)
        if known is None:
            raise ValueError(_bad_size(text, types))
        scale = BytesSize(scale.ilp32 * known.ilp32, scale.lp64 * known.lp64)
    return ArgumentSize(tuple(arguments), scale) if arguments else scale


def effect(text: str, types: Types, *, is_write: bool) -> EffectModel:
    """`"1: argument 2"`, `"0: string"`, `"2.."`, `"0: 4 atomic"`, `"may 0: object"`."""
    found = _EFFECT.fullmatch(text)
    if found is None:
        raise ValueError(
            f'{text!r} does not say what is accessed; allowed: "n", "n: SIZE", "n..: SIZE", '
            'each perhaps with "may" before it and "atomic" at the end'
        )
    argument = index(found[2])
    extent = size(found[4], types, argument) if found[4] else WordSize.UNKNOWN
    return EffectModel(
        argument, extent, is_write, bool(found[5]), rest=bool(found[3]), is_may=bool(found[1])
    )


def returns(value: object) -> Returns:
    """`0`, `"argument 0"`, `"into 0 or null"`, `"fresh"`, `"static name"`, `"-1 to 255"`, ..."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Returns(ReturnKind.CONSTANT, constant=value)
    numbers = _NUMBERS.fullmatch(value) if isinstance(value, str) else None
    if numbers is not None:
        return Returns(values=_numbers(numbers))
    found = _RETURNS.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        kind = ReturnKind(found[1])
        or_fresh, or_null = bool(found[3]), bool(found[4])
        if kind in OF_ARGUMENT:
            if found[2] and found[2].isdigit():
                return Returns(kind, index(found[2]), or_null=or_null, or_fresh=or_fresh)
        elif or_fresh:
            pass
        elif kind in (ReturnKind.STATIC, ReturnKind.THREAD_LOCAL):
            return Returns(kind, name=found[2] or "", or_null=or_null)
        elif not found[2]:
            return Returns(kind, or_null=or_null)
    raise ValueError(
        f'{value!r} is no result; allowed: an integer, "any", "argument n", "into n", '
        '"pointee n", "reachable n", "fresh", "static NAME", "thread-local NAME", "LEAST to MOST" '
        '(MOST a number, "largest" or "argument n"), '
        'each perhaps with "or null" at the end, "argument n" also with "or fresh"'
    )


def _numbers(found: re.Match[str]) -> ResultRange:
    least = int(found[1])
    if found[2]:
        if least > int(found[2]):
            raise ValueError(f"{found[0]!r} has no number in it")
        return ResultRange(least, int(found[2]))
    arguments = re.findall(r"\d+", found[4] or "")
    return ResultRange(least, None, tuple(map(index, arguments)))


def callback_argument(value: object, types: Types) -> CallbackArgument:
    """`0`, `"into 0"`, `"pointee 0"`, `"pointee 0 + 8"` or `"any"`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return CallbackArgument(CallbackValue.ITSELF, index(value))
    if value == "any":
        return CallbackArgument(CallbackValue.ANY)
    found = None
    if isinstance(value, str):
        found = re.fullmatch(r"(into|pointee) (\d+)(?:(?<=\d) \+ (\w+))?", value)
    if found is None or (found[3] and found[1] != "pointee"):
        raise ValueError(
            f'{value!r} is nothing to pass on; allowed: an argument position, "into n", '
            '"pointee n", "pointee n + OFFSET", "any"'
        )
    offset = _constant(found[3], types) if found[3] else None
    if found[3] and offset is None:
        raise ValueError(_bad_offset(found[3], types))
    return CallbackArgument(CallbackValue(found[1]), index(found[2]), offset)


def format_string(text: str) -> FormatModel:
    """`"printf 0 1"`: argument 0 is the format, its values start at argument 1."""
    found = re.fullmatch(r"(printf|scanf) (\d+) (\d+)", text)
    if found is None:
        raise ValueError(
            f'{text!r} is no format; allowed: "printf F V" or "scanf F V" with the positions of '
            "the format and of the first value"
        )
    return FormatModel(FormatFamily(found[1]), index(found[2]), index(found[3]))


def _constant(text: str, types: Types) -> BytesSize | None:
    if text.isdigit():
        return BytesSize(int(text), int(text))
    return types.get(text)


def _bad_offset(text: str, types: Types) -> str:
    return f"{text!r} is no offset; allowed: bytes, or a name: {', '.join(sorted(types))}"


def _bad_size(text: str, types: Types) -> str:
    return (
        f'{text!r} is no size; allowed: bytes, a type ({", ".join(sorted(types))}), "argument n", '
        'products of these with "*", "string", "string n", "string up to n", "wide string", '
        '"object", "reachable", "unknown"'
    )
