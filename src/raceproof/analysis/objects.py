"""The objects of a program as numbered bases: globals, functions, slots, heap, thread ids."""

from __future__ import annotations

from raceproof.analysis.contexts import Context, Counters
from raceproof.domains.bases import Base, Bases
from raceproof.ir import Global, Program, StackSlot
from raceproof.verdict import BaseKind

EXTERNAL = ("external",)
"""All memory that only code outside of the program knows."""


class Objects:
    """Names every object once; the number of a base is its identity in values."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.bases: Bases[BaseKind] = Bases()
        self.owner: dict[int, int] = {}
        """Base of a slot, heap object or thread-local -> the thread that made it."""
        self.private: set[int] = set()
        """Slots whose address never leaves their function."""
        self.thread_ids: dict[int, int] = {}
        """Base -> index of the thread whose id it stands for."""
        self.typed: dict[int, str] = {}
        """Base of all objects of a type -> the type's debug key."""
        self.external = self.bases.intern(
            EXTERNAL, BaseKind.EXTERNAL, "memory outside of the program", is_weak=True
        )
        self.any_string = self.bases.intern(
            ("strings",), BaseKind.STRING, "some string", is_weak=True, alignment=1
        )
        """All strings, for those who do not tell them apart."""

    def __getitem__(self, number: int) -> Base[BaseKind]:
        return self.bases[number]

    def is_weak(self, number: int) -> bool:
        return number in self.bases.weak

    def global_base(self, variable: Global, thread: int, is_weak: bool = False) -> int:
        """`is_weak`: of a thread-local, whether the thread may be one of many."""
        if variable.is_thread_local:
            number = self.bases.intern(
                ("thread-local", thread, variable.name),
                BaseKind.THREAD_LOCAL,
                variable.display,
                variable.size,
                is_weak=is_weak,
                alignment=self.program.layout.alignment(variable.type),
            )
            self.owner[number] = thread
            return number
        kind = BaseKind.GLOBAL
        if variable.is_string:
            kind = BaseKind.STRING
        return self.bases.intern(
            ("global", variable.name),
            kind,
            variable.display,
            None if variable.initializer is None else variable.size or None,
            alignment=self.program.layout.alignment(variable.type),
        )

    def library_object(self, name: str, thread: int | None) -> int:
        """An object of the C library, one for all threads or one for each."""
        kind = BaseKind.EXTERNAL if thread is None else BaseKind.THREAD_LOCAL
        number = self.bases.intern(
            ("library", name, thread), kind, f"{name} of the C library", is_weak=thread is None
        )
        if thread is not None:
            self.owner[number] = thread
        return number

    def any_of_type(self, key: str) -> int:
        """Whatever objects of a struct type pointers lead to that may point anywhere."""
        name = self.program.debug.type(key).name
        number = self.bases.intern(("typed", name), BaseKind.HEAP, name, is_weak=True)
        self.typed.setdefault(number, key)
        return number

    def lock_object(self, name: str) -> int:
        """A lock that a function means without an argument."""
        return self.bases.intern(("lock", name), BaseKind.EXTERNAL, name, 1)

    def function_base(self, name: str) -> int:
        return self.bases.intern(
            ("function", name), BaseKind.EXTERNAL, name, 1, function=name, alignment=16
        )

    def slot(
        self,
        slot: StackSlot,
        context: Context,
        counters: Counters,
        size: int | None,
        is_private: bool,
        is_weak: bool,
    ) -> int:
        number = self.bases.intern(
            ("slot", context.number, slot.number, counters),
            BaseKind.STACK,
            slot.name or f"local of {context.function}",
            size,
            is_weak=is_weak,
            alignment=self.program.layout.alignment(slot.type),
        )
        self.owner[number] = context.thread
        if is_private:
            self.private.add(number)
        return number

    def by_value_copy(
        self, context: Context, index: int, size: int, name: str, is_weak: bool
    ) -> int:
        """The copy that a callee has of a struct passed by value."""
        number = self.bases.intern(
            ("copy", context.number, index),
            BaseKind.STACK,
            name,
            size,
            is_weak=is_weak,
            alignment=4,
        )
        self.owner[number] = context.thread
        return number

    def heap(
        self, call: int, context: Context, counters: Counters, size: int | None, is_weak: bool
    ) -> int:
        instruction = self.program.instruction(call)
        number = self.bases.intern(
            ("heap", context.number, call, counters),
            BaseKind.HEAP,
            f"malloc at {instruction.position or context.function}",
            size,
            is_weak=is_weak,
            alignment=8,
        )
        self.owner[number] = context.thread
        return number

    def arguments(self, context: Context) -> int:
        """The variable arguments of a call, as they lie in memory."""
        number = self.bases.intern(
            ("arguments", context.number),
            BaseKind.STACK,
            f"variable arguments of {context.function}",
            is_weak=True,
            alignment=4,
        )
        self.owner[number] = context.thread
        return number

    def thread_id(self, thread: int, name: str) -> int:
        number = self.bases.intern(
            ("thread", thread), BaseKind.EXTERNAL, f"id of {name}", 1, alignment=1
        )
        self.thread_ids[number] = thread
        return number
