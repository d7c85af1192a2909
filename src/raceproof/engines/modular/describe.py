"""From the analysis's numbers to the words of a verdict."""

from __future__ import annotations

import re
from dataclasses import replace

from raceproof.analysis.backend import Analysed
from raceproof.analysis.locks import ANYWHERE, ATOMIC, UNCLEAR, LockKey, control_of, is_once
from raceproof.analysis.records import RawAccess
from raceproof.analysis.spin_locks import is_spin_lock, variable_of
from raceproof.analysis.threads import ThreadInfo
from raceproof.ir import Global, StackSlot, names
from raceproof.ir.names import block_name, heap_type
from raceproof.verdict import (
    Access,
    HeldLock,
    Location,
    LockMode,
    Site,
    Thread,
)

_INDEX = re.compile(r"\[\d+\]")


def is_of_library(site: Site) -> bool:
    """Does it lie in a header of the C++ library?"""
    return names.is_of_library(site.position)


class Describer:
    def __init__(self, analysis: Analysed, depth: int) -> None:
        self.analysis = analysis
        self.program = analysis.program
        self.objects = analysis.objects
        self.depth = depth
        self._threads: dict[int, Thread] = {}

    def thread(self, index: int) -> Thread:
        found = self._threads.get(index)
        if found is None:
            info = self.analysis.threads[index]
            chain: tuple[Site, ...] = ()
            if info.parent is not None:
                chain = (*self.thread(info.parent).chain, self.creation(info))
            function = self.program.functions[info.entry]
            found = Thread(function.display, chain, info.is_unique)
            self._threads[index] = found
        return found

    def creation(self, info: ThreadInfo) -> Site:
        """Where the program creates a thread; of `std::thread`, not where the library does."""
        site = self.site(info.call)
        context = info.site
        place = site
        while context is not None and place.position is not None:
            if not is_of_library(place):
                return replace(place, instruction=info.call)
            context = context.parent
            if context is None or context.call < 0:
                break
            place = self.site(context.call)
        return site

    def site(self, number: int) -> Site:
        function = self.program.function_of(number)
        return Site(number, function.display, self.program.instruction(number).position)

    def location(self, base: int, start: int | None, end: int | None) -> Location:
        described = self.objects[base]
        debug_type = self._debug_type(base)
        member = self._type_name(debug_type)
        path = f"+{start}" if start else ""
        if start is not None and debug_type:
            path = self.program.debug.path(debug_type, start, (end or start) - start)
            member += path if member else ""
        name = self.name(base, path)
        return Location(described.kind, _identity(described.descriptor), name, start, end, member)

    def _type_name(self, debug_type: str) -> str:
        """Of a struct with a name."""
        if not debug_type:
            return ""
        type_ = self.program.debug.type(debug_type)
        return f"struct {type_.name}" if type_.kind == "struct" and type_.name else ""

    def name(self, base: int, path: str = "") -> str:
        """What the part at `path` of an object is called."""
        described = self.objects[base]
        descriptor = described.descriptor
        if isinstance(descriptor, tuple) and descriptor[0] == "heap":
            return block_name(self.program, int(descriptor[2]), path)
        return f"{described.name}{path}"

    def pattern(self, raw: RawAccess) -> str:
        """The path to what an access may touch, `[*].next` for that member of any element; empty if
        there is no such path."""
        debug_type = self._debug_type(raw.base)
        offsets = raw.offsets
        if not debug_type or raw.size is None or offsets.is_bottom:
            return ""
        low, _ = offsets.signed_range()
        some = offsets.values if offsets.values is not None else (low, low + offsets.stride)
        paths = {
            _INDEX.sub("[*]", self.program.debug.path(debug_type, offset, raw.size))
            for offset in some
        }
        return paths.pop() if len(paths) == 1 else ""

    def _debug_type(self, base: int) -> str:
        if base in self.objects.typed:
            return self.objects.typed[base]
        descriptor = self.objects[base].descriptor
        assert isinstance(descriptor, tuple)
        if descriptor[0] in ("global", "thread-local"):
            variable: Global = self.program.globals[str(descriptor[-1])]
            return variable.debug_type
        if descriptor[0] == "slot":
            slot = self.program.instruction(int(descriptor[2]))
            return slot.debug_type if isinstance(slot, StackSlot) else ""
        return heap_type(self.program, int(descriptor[2])) if descriptor[0] == "heap" else ""

    def lock_name(self, key: LockKey) -> str:
        if key == ATOMIC:
            return "atomic section"
        if key == UNCLEAR:
            return "an unknown lock"
        if key.offset == ANYWHERE:
            return f"some lock in {self.name(key.base)}"
        if is_once(key):
            return f"once {self._lock_name(key.base, control_of(key))}"
        if is_spin_lock(key):
            return self.location(key.base, variable_of(key), None).name
        return self._lock_name(key.base, key.offset)

    def _lock_name(self, base: int, offset: int) -> str:
        debug_type = self._debug_type(base)
        if debug_type:
            return self.name(base, self.program.debug.lock_path(debug_type, offset))
        return self.name(base, f"+{offset}" if offset else "")

    def access(self, raw: RawAccess) -> Access:
        instruction = self.program.instruction(raw.instruction)
        start = raw.offsets.signed_constant
        end = None if start is None or raw.size is None else start + raw.size
        sure = {held.lock for held in raw.facets.must_lockset}
        locks = [
            HeldLock(self.lock_name(held.lock), LockMode.WRITE if held.is_write else LockMode.READ)
            for held in sorted(raw.facets.must_lockset)
        ]
        locks += [
            HeldLock(self.lock_name(key), LockMode.WRITE, False)
            for key in sorted(raw.facets.may_lockset - sure)
        ]
        chain = raw.context.chain()[1:]
        return Access(
            self.thread(raw.thread),
            raw.instruction,
            self.program.function_of(raw.instruction).display,
            instruction.position,
            self.location(raw.base, start, end),
            raw.is_write,
            raw.is_atomic,
            tuple(locks),
            tuple(self.site(context.call) for context in chain[max(0, len(chain) - self.depth) :]),
        )


def _identity(descriptor: object) -> str:
    assert isinstance(descriptor, tuple)
    return ":".join(str(part) for part in descriptor)
