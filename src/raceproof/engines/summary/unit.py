"""A translation unit (or a whole linked program) as the engine keeps it: outlines and names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from raceproof.concurrency.catalogue import Models
from raceproof.engines.summary.extract import Extractor
from raceproof.engines.summary.outline import Outline
from raceproof.engines.summary.terms import Term, is_pointer_like
from raceproof.engines.summary.valuation import Naming, constant_terms
from raceproof.ir import (
    AggregateConstant,
    ArrayType,
    Constant,
    DebugInfo,
    DebugType,
    Global,
    Layout,
    Member,
    Program,
    StructType,
)

GlobalFacts: TypeAlias = tuple[str, int, str, bool, bool, str, int]
"""Display, size, type, constant, thread-local, file, line."""


@dataclass(slots=True)
class Unit:
    file: str
    outlines: dict[str, Outline] = field(default_factory=dict)
    globals: dict[str, GlobalFacts] = field(default_factory=dict)
    stores: list[tuple[Term, Term]] = field(default_factory=list)
    """What the initializers of globals point to."""
    types: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    constructors: tuple[str, ...] = ()
    has_assembly: bool = False

    def to_tuple(self) -> tuple[Any, ...]:
        values = [getattr(self, f.name) for f in fields(self)]
        values[1] = {name: outline.to_tuple() for name, outline in self.outlines.items()}
        return tuple(values)

    @staticmethod
    def from_tuple(data: tuple[Any, ...]) -> Unit:
        values = list(data)
        values[1] = {name: Outline.from_tuple(outline) for name, outline in values[1].items()}
        return Unit(*values)

    def debug(self) -> DebugInfo:
        """The types that names are made of."""
        return DebugInfo(
            {},
            {
                key: DebugType(kind, name, size, target, counts, tuple(Member(*m) for m in members))
                for key, (kind, name, size, target, counts, members) in self.types.items()
            },
        )


def make_unit(program: Program, models: Models, file: str, naming: Naming) -> Unit:
    """Outlines of all functions, and what the globals are and hold at the start."""
    unit = Unit(file)
    for function in program.defined:
        outline = Extractor(function, program, models, naming).outline()
        unit.outlines[outline.name] = outline
    add_globals(unit, program, naming)
    for outline in unit.outlines.values():
        for _, type_, _ in outline.slots.values():
            _add_types(unit, program.debug, type_)
        for type_, _ in outline.allocations.values():
            _add_types(unit, program.debug, type_)
    unit.constructors = tuple(naming(name) for name in program.constructors)
    unit.has_assembly = bool(program.assembly)
    return unit


def add_globals(unit: Unit, program: Program, naming: Naming) -> None:
    for item in program.globals.values():
        name = naming(item.name)
        if item.initializer is not None:
            unit.stores.extend(_initial_stores(item, name, program.layout, naming))
        if item.is_string:
            continue
        position = item.position
        unit.globals[name] = (
            item.display,
            item.size,
            item.debug_type,
            item.is_constant,
            item.is_thread_local,
            position.file if position else "",
            position.line if position else 0,
        )
        _add_types(unit, program.debug, item.debug_type)


def _initial_stores(
    item: Global, name: str, layout: Layout, naming: Naming
) -> Iterator[tuple[Term, Term]]:
    assert item.initializer is not None
    stack: list[tuple[Constant, int]] = [(item.initializer, 0)]
    while stack:
        constant, offset = stack.pop()
        if isinstance(constant, AggregateConstant):
            offsets: Any
            if isinstance(constant.type, StructType):
                offsets = layout.offsets(constant.type)
            elif isinstance(constant.type, ArrayType):
                step = layout.size(constant.type.element)
                offsets = [index * step for index in range(len(constant.elements))]
            else:
                continue
            for element, at in zip(constant.elements, offsets, strict=False):
                stack.append((element, offset + at))
            continue
        for term in constant_terms(constant, naming):
            if is_pointer_like(term):
                yield (("g", name), offset, 0, ()), term


def _add_types(unit: Unit, debug: DebugInfo, key: str) -> None:
    """The type behind a key and those inside it, not those it points to."""
    stack = [key]
    while stack:
        current = stack.pop()
        if not current or current in unit.types:
            continue
        type_ = debug.type(current)
        members = tuple((m.name, m.offset, m.size, m.type, m.bit_offset) for m in type_.members)
        target = type_.target if type_.kind == "array" else ""
        unit.types[current] = (
            type_.kind, type_.name, type_.size, target, type_.counts, members,
        )  # fmt: skip
        stack.append(target)
        stack.extend(member.type for member in type_.members)
