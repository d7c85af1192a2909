"""Names for people: of locations, locks, threads and places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from raceproof.engines.summary.outline import Induction, Outline
from raceproof.engines.summary.state import ThreadId
from raceproof.engines.summary.summary import Site as SummarySite
from raceproof.engines.summary.terms import LOCAL_OBJECTS, OBJECTS, Origin, Term
from raceproof.engines.summary.unit import Unit
from raceproof.ir import DebugInfo, Position
from raceproof.ir.names import heap_name
from raceproof.verdict import BaseKind, Location, Site, Thread

ANY_CALLER = "callers of the library"
_LIBRARY = re.compile(r"/libcxx/include/|/include/c\+\+/")

_PATH = "\0"
"""Where the part of an object goes in its name; at the end if it is not there."""


def _with_path(name: str, path: str) -> str:
    return name.replace(_PATH, path) if _PATH in name else name + path


class LocationNames:
    def __init__(self, units: Sequence[Unit], first_numbers: Mapping[str, int]) -> None:
        self._outlines: dict[str, Outline] = {}
        self._debug: dict[str, DebugInfo] = {}
        self._globals: dict[str, tuple[Unit, DebugInfo]] = {}
        self._first_numbers = first_numbers
        self._elements: dict[tuple[Origin, int, int], tuple[int, int] | None] = {}
        self._orders: dict[SummarySite, tuple[object, ...]] = {}
        for unit in units:
            debug = unit.debug()
            for name, outline in unit.outlines.items():
                self._outlines[name] = outline
                self._debug[name] = debug
            for name, facts in unit.globals.items():
                if name not in self._globals or facts[2]:
                    self._globals[name] = (unit, debug)

    def number(self, function: str, number: int) -> int:
        """The instruction's number in the program (in its function, if there is no program)."""
        return self._first_numbers.get(function, 0) + self._place(function, number)

    def _place(self, function: str, number: int) -> int:
        outline = self._outlines.get(function)
        return number if outline is None else outline.order.get(number, number)

    def order(self, site: SummarySite) -> tuple[object, ...]:
        """By which places are sorted: as in the source, within a function."""
        known = self._orders.get(site)
        if known is None:
            function, number, calls = site
            inside = tuple((f, self._place(f, n)) for f, n in calls)
            known = self._orders[site] = (function, self._place(function, number), inside)
        return known

    def thread_order(self, thread: ThreadId) -> tuple[object, ...]:
        return tuple(tuple((f, self._place(f, n)) for f, n in segment) for segment in thread)

    def position(self, function: str, number: int) -> Position | None:
        outline = self._outlines.get(function)
        place = outline.places.get(number) if outline else None
        return Position(place[2], place[0], place[1]) if place else None

    def function(self, name: str) -> str:
        outline = self._outlines.get(name)
        return outline.display if outline else name

    def site(self, function: str, number: int) -> Site:
        position = self.position(function, number)
        return Site(self.number(function, number), self.function(function), position)

    def counting_loop(self, index: Term) -> Induction | None:
        """The loop whose variable an index is, perhaps plus a number."""
        origin, _, stride, _ = index
        outline = self._outlines.get(origin[1]) if origin[0] == "r" and not stride else None
        return outline.inductions.get(origin[2]) if outline is not None else None

    def is_library_code(self, function: str) -> bool:
        """Whether the function is the C++ standard library's own."""
        outline = self._outlines.get(function)
        return outline is not None and bool(_LIBRARY.search(outline.file))

    def is_shareable(self, origin: Origin) -> bool:
        """Whether several threads can see one object of this origin and someone can write it."""
        if origin[0] != "g":
            return origin[0] in LOCAL_OBJECTS
        found = self._globals.get(origin[1])
        if found is None:
            return False
        facts = found[0].globals[origin[1]]
        return not facts[3] and not facts[4]

    def extent(self, origin: Origin) -> int:
        """How many bytes the object has; 0 if that is not known."""
        if origin[0] == "g":
            found = self._globals.get(origin[1])
            return found[0].globals[origin[1]][1] if found else 0
        outline = self._outlines.get(origin[1])
        if outline is None:
            return 0
        if origin[0] == "s":
            return outline.slots.get(origin[2], ("", "", 0))[2]
        return outline.allocations.get(origin[2], ("", 0))[1]

    def elements(self, origin: Origin, offset: int, stride: int) -> tuple[int, int] | None:
        """The bytes of the array that an index with that stride goes through, if that is known.

        A stride of 1 says that it is unknown which bytes are meant.
        """
        key = (origin[:3], offset, stride)
        if key not in self._elements:
            _, _, type_, debug = self._base(origin)
            known = stride > 1 and bool(type_)
            self._elements[key] = debug.array_around(type_, offset, stride) if known else None
        return self._elements[key]

    def location(self, origin: Origin, offset: int, size: int | None, stride: int) -> Location:
        end = None if size is None or stride else offset + size
        start = None if stride else offset
        base = "/".join(map(str, origin[1:3]))
        kind, name, type_, debug = self._base(origin)
        if origin[0] == "h" and origin[3]:
            base += "".join(f"<{f}:{n}" for f, n in origin[3])
        path = debug.path(type_, offset, size or 0) if type_ and offset >= 0 else ""
        if not path and offset and not type_:
            path = f"+{offset}"
        if stride:
            path = path.replace("[0]", "[*]", 1) if "[0]" in path else path + "[*]"
        return Location(kind, base, _with_path(name, path), start, end)

    def _base(self, origin: Origin) -> tuple[BaseKind, str, str, DebugInfo]:
        nothing = DebugInfo()
        if origin[0] == "g":
            found = self._globals.get(origin[1])
            if found is None:
                return BaseKind.EXTERNAL, origin[1], "", nothing
            unit, debug = found
            display, _, type_, _, local, _, _ = unit.globals[origin[1]]
            kind = BaseKind.THREAD_LOCAL if local else BaseKind.GLOBAL
            return kind, display or origin[1], type_, debug
        outline = self._outlines.get(origin[1])
        debug = self._debug.get(origin[1], nothing)
        if origin[0] == "s":
            name, type_, _ = outline.slots.get(origin[2], ("", "", 0)) if outline else ("", "", 0)
            return BaseKind.STACK, name or f"local of {self.function(origin[1])}", type_, debug
        position = self.position(origin[1], origin[2])
        type_ = outline.allocations.get(origin[2], ("", 0))[0] if outline else ""
        name = heap_name(debug, type_, _PATH, self.function(origin[1]), position)
        return BaseKind.HEAP, name, type_, debug

    def term(self, term: Term) -> str:
        """A lock as the source might write it."""
        origin, offset, stride, _ = term
        kind = origin[0]
        if kind == "a":
            return "atomic section"
        if kind == "*":
            return f"*{self.term(origin[1])}" + (f"+{offset}" if offset else "")
        if kind in OBJECTS:
            return self._lock_name(origin, offset, stride)
        if kind == "p":
            return f"argument {origin[1] + 1}" + (f"+{offset}" if offset else "")
        return "?"

    def _lock_name(self, origin: Origin, offset: int, stride: int) -> str:
        _, name, type_, debug = self._base(origin)
        if not type_ or offset < 0:
            return self.location(origin, offset, None, stride).name
        path = debug.lock_path(type_, offset)
        if stride:
            path = path.replace("[0]", "[*]", 1) if "[0]" in path else path + "[*]"
        return _with_path(name, path)

    def _outside(self, segment: tuple[tuple[str, int], ...]) -> tuple[str, int]:
        """The creation, or the call nearest to it that is not inside of the library."""
        outside = [site for site in segment if not self.is_library_code(site[0])]
        return outside[-1] if outside else segment[-1]

    def thread(self, thread: ThreadId, entries: Sequence[str], is_unique: bool) -> Thread:
        """Of a thread of the C++ library people know what they wrote: `std::thread t(worker)`."""
        chain = tuple(self.site(*self._outside(segment)) for segment in thread)
        own = [name for name in entries if not self.is_library_code(name)]
        entry = self.function((own or entries)[0]) if entries else "?"
        if thread and thread[0][0][0] == ANY_CALLER and len(thread) == 1:
            entry = ANY_CALLER
        if thread and thread[0][0][1] < 0:
            chain = chain[1:]
        return Thread(entry, chain, is_unique)
