"""Which lines of an LLVM module the instructions of a program came from.

The program was made from the module with bodies of library functions put in, so lines are found by
what both have: the function, the kind of instruction, the source position, and which one of those
it is. Locals that live in registers have no instruction; their loads and stores are left out.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from raceproof.frontend.function_text import cut_blocks, read_signature
from raceproof.frontend.llvm_text import Names, symbol
from raceproof.frontend.module_text import split_module
from raceproof.frontend.positions import Positions
from raceproof.frontend.promotion import promotable
from raceproof.ir import (
    AtomicUpdate,
    Call,
    CompareExchange,
    CopyMemory,
    DebugInfo,
    Function,
    FunctionAddress,
    Instruction,
    Layout,
    Load,
    Position,
    Program,
    SetMemory,
    Store,
)
from raceproof.verdict import Access

_DEFINE = re.compile(r'^define [^\n]*?@("[^"]*"|[-\w.$]+)\(')
_LINE = re.compile(
    r"^  (?:(?P<result>%\"[^\"]*\"|%[-\w.$]+) = )?(?:tail |notail |musttail )?"
    r"(?P<opcode>load|store|atomicrmw|cmpxchg|call|invoke) "
)
_CALLEE = re.compile(r'(?:call|invoke) [^@%\n]*?(@"[^"]*"|@[-\w.$]+|%[-\w.$]+|%"[^"]*")\(')
_DEBUG = re.compile(r", !dbg (![0-9]+)")
_POINTER = re.compile(r'\bptr (%"[^"]*"|%[-\w.$]+|@"[^"]*"|@[-\w.$]+)')
_COPY = re.compile(r"^llvm\.mem(?:cpy|move|set)\.")

Key = tuple[str, str, Position, int]
"""Function, kind, position, and the how manieth of these."""


@dataclass(frozen=True, slots=True)
class Point:
    """A line of the module, by its number; `pointer` is the operand that it accesses, if plain."""

    line: int
    kind: str
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class PointTable:
    """The points by number, and which of them an instruction or an access is."""

    points: dict[int, Point]
    by_instruction: dict[int, int] = field(default_factory=dict)
    by_place: dict[tuple[Position, bool], tuple[int, ...]] = field(default_factory=dict)
    """For accesses that are told by their position only, and whether they write."""

    def of(self, access: Access) -> tuple[int, ...]:
        """Where the access may happen; nothing if it cannot be told."""
        if access.instruction in self.by_instruction:
            return (self.by_instruction[access.instruction],)
        if access.position is None:
            return ()
        return self.by_place.get((access.position, access.is_write), ())

    def shifted(self, first: int) -> PointTable:
        """The same places, with points numbered from `first` on."""
        number = {old: new for new, old in enumerate(self.points, first)}
        return PointTable(
            {number[old]: point for old, point in self.points.items()},
            {one: number[old] for one, old in self.by_instruction.items()},
            {place: tuple(number[o] for o in old) for place, old in self.by_place.items()},
        )

    def joined(self, other: PointTable) -> PointTable:
        """Both; for places that both have, the points of both."""
        places = dict(self.by_place)
        for place, points in other.by_place.items():
            places[place] = (*places.get(place, ()), *points)
        return PointTable({**self.points, **other.points}, {}, places)


def points_of(text: str, program: Program, numbers: Iterable[int]) -> PointTable:
    """For each instruction its line; those that the module does not have are missing."""
    found = _by_instruction(text, program, numbers)
    first: dict[int, int] = {}
    for number in sorted(found):
        first.setdefault(found[number].line, number)
    known = {number: first[point.line] for number, point in found.items()}
    return PointTable({number: found[number] for number in first.values()}, known)


def points_at(text: str, accesses: Iterable[Access]) -> PointTable:
    """For each access the lines at its position that may be it: loads, stores, calls."""
    wanted = {(_real(a.position), a.is_write): a for a in accesses if a.position is not None}
    points: dict[int, Point] = {}
    places: dict[tuple[Position, bool], list[int]] = {}
    for (_, kind, position, _), point in _lines(text, None).items():
        for is_write in (False, True):
            access = wanted.get((_real(position), is_write))
            if access is None or kind == ("load" if is_write else "store"):
                continue
            points[point.line] = point
            assert access.position is not None
            places.setdefault((access.position, is_write), []).append(point.line)
    return PointTable(points, {}, {place: tuple(found) for place, found in places.items()})


def _real(position: Position) -> tuple[str, int, int]:
    return os.path.realpath(position.file), position.line, position.column


def _by_instruction(text: str, program: Program, numbers: Iterable[int]) -> dict[int, Point]:
    wanted: dict[str, set[int]] = {}
    for number in numbers:
        wanted.setdefault(program.function_of(number).name, set()).add(number)
    lines = _lines(text, frozenset(wanted))
    found: dict[int, Point] = {}
    calls = _only_calls(lines)
    for name, chosen in wanted.items():
        for key, number in _instructions(program.functions[name]):
            if number in chosen and key in lines:
                found[number] = lines[key]
        for number in chosen - found.keys():
            # In the body of a library function that was put in place of its call.
            place = program.instruction(number).position
            if place is not None and (name, place) in calls:
                found[number] = calls[name, place]
    return found


def _only_calls(lines: Mapping[Key, Point]) -> dict[tuple[str, Position], Point]:
    """The calls that stand alone at their position."""
    found: dict[tuple[str, Position], Point] = {}
    several = set()
    for (name, kind, position, _), point in lines.items():
        if kind.startswith("call"):
            if (name, position) in found:
                several.add((name, position))
            found[name, position] = point
    return {place: point for place, point in found.items() if place not in several}


def _instructions(function: Function) -> Iterable[tuple[Key, int]]:
    counts: Counter[tuple[str, Position]] = Counter()
    for instruction in function.instructions:
        kind = _kind(instruction)
        position = instruction.position
        if not kind or position is None:
            continue
        yield (function.name, kind, position, counts[kind, position]), instruction.number
        counts[kind, position] += 1


def _kind(instruction: Instruction) -> str:
    match instruction:
        case Load():
            return "load"
        case Store():
            return "store"
        case AtomicUpdate():
            return "atomicrmw"
        case CompareExchange():
            return "cmpxchg"
        case CopyMemory() | SetMemory():
            return "copy"
        case Call(callee=FunctionAddress(name=name)):
            return f"call {name}"
        case Call():
            return "call"
        case _:
            return ""


def _lines(text: str, functions: frozenset[str] | None) -> dict[Key, Point]:
    """The lines of these functions, or of all, that may be points."""
    module = split_module(text)
    positions = Positions(DebugInfo(module.metadata))
    names = Names(Layout.parse(module.layout), definitions=module.structs)
    found: dict[Key, Point] = {}
    at = _starts(text)
    for function in module.functions:
        match = _DEFINE.match(function.header)
        name = symbol("@" + match[1]) if match else ""
        if functions is not None and name not in functions:
            continue
        signature = read_signature(function.header, names, module.attributes, positions)
        slots = promotable([block.lines for block in cut_blocks(function.lines, signature)])
        counts: Counter[tuple[str, Position]] = Counter()
        for number, line in enumerate(function.lines, at[name] + 1):
            point = _point(line, number, slots)
            debug = _DEBUG.search(line)
            position = positions.of(debug[1]) if debug else None
            if point is None or position is None:
                continue
            found[name, point.kind, position, counts[point.kind, position]] = point
            counts[point.kind, position] += 1
    return found


def _starts(text: str) -> dict[str, int]:
    """The line numbers, from 0, of the definitions."""
    return {
        symbol("@" + match[1]): number
        for number, line in enumerate(text.split("\n"))
        if line.startswith("define ") and (match := _DEFINE.match(line))
    }


def _point(line: str, number: int, slots: dict[str, str]) -> Point | None:
    match = _LINE.match(line)
    if match is None:
        return None
    opcode = match["opcode"]
    if opcode in ("call", "invoke"):
        callee = _CALLEE.search(line)
        if callee is None:
            return None
        name = callee[1]
        if name.startswith("%"):
            return Point(number, "call")
        called = symbol(name)
        if _COPY.match(called):
            return Point(number, "copy")
        return None if called.startswith("llvm.") else Point(number, f"call {called}")
    pointers: list[str] = _POINTER.findall(line[match.end() :])
    if opcode == "store":
        pointer = pointers[-1] if pointers else ""
    else:
        pointer = pointers[0] if pointers else ""
    return None if pointer in slots else Point(number, opcode, pointer)
