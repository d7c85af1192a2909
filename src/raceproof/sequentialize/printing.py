"""The whole printed program: constants, memory, runtime, threads, driver, native part."""

from __future__ import annotations

from raceproof.concurrency import Models
from raceproof.concurrency.events import Allocate
from raceproof.errors import UserError
from raceproof.ir import Call, Program, StackSlot
from raceproof.sequentialize.arena import LIBRARY_OBJECT, room
from raceproof.sequentialize.c_text import comment
from raceproof.sequentialize.context import Bounds, ProgramContext
from raceproof.sequentialize.runtime import native_part, pieces_for, words
from raceproof.sequentialize.sync_functions import kind_function
from raceproof.sequentialize.thread_printer import ThreadPrinter

_HEAP = 1 << 16
_LEAST_STACK = 1 << 12
_LARGEST_AREA = 1 << 24

_DECLARATIONS = """\
#include <stdint.h>
#ifdef RACEPROOF_RUN
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#else
#include <assert.h>
#endif

extern unsigned char __VERIFIER_nondet_uchar(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned long long __VERIFIER_nondet_ulonglong(void);
extern long __VERIFIER_nondet_long(void);
extern double __VERIFIER_nondet_double(void);
extern void __VERIFIER_assume(int condition);

#ifdef RACEPROOF_RUN
void reach_error(void);
static void native_stop(unsigned t, unsigned label, int is_visible);
#else
void reach_error(void)
{
    assert(0);
}
#endif

static void __VERIFIER_assert(int condition)
{
    if (!condition)
        reach_error();
}
"""


def sequentialize(program: Program, models: Models, bounds: Bounds) -> str:
    """The bounded, sequentialized and monitored program as C."""
    entry = program.functions.get(program.entry)
    if entry is None or not entry.is_defined:
        raise UserError(f"there is no function {program.entry} to start in; name one with --entry")
    context = ProgramContext(program, models, bounds)
    context.add_entry(entry.name)
    threads: list[tuple[str, ThreadPrinter, str]] = []
    while len(threads) < len(context.entries):
        name = context.entries[len(threads)]
        function = program.functions.get(name)
        if function is None or not function.is_defined:
            raise UserError(f"a thread starts in {name}, which has no body")
        printer = ThreadPrinter(context, function)
        printer.name += "" if not any(printer.name == t.name for _, t, _ in threads) else "_2"
        threads.append((name, printer, printer.print()))
    return _Assembly(context, threads).text()


class _Assembly:
    """Puts the parts together."""

    def __init__(
        self, context: ProgramContext, threads: list[tuple[str, ThreadPrinter, str]]
    ) -> None:
        self._context = context
        self._arena = context.arena
        self._threads = threads

    def text(self) -> str:
        bodies = "\n".join(text for _, _, text in self._threads)
        own = "\n".join([bodies, self._run(), self._initialise()])
        generated = "\n".join(self._context.sync_functions.values())
        before, driver = pieces_for(generated + own)
        runtime = "\n".join([*before, generated]).replace("@START_LOCALS@", self._start_locals())
        runtime = runtime.replace("@KIND_OF_TYPE@", kind_function())
        middle = "\n".join([runtime, own, driver])
        front = [self._title(), _DECLARATIONS, self._sizes(), self._macros(middle), self._memory()]
        printed = "\n".join([*front, middle])
        return f"{printed}\n{native_part(printed)}"

    def _title(self) -> str:
        bounds, program = self._context.bounds, self._context.program
        lines = [
            f"The program of {', '.join(program.files)}, sequentialized by raceproof:",
            "the assertion in explore() can fail if and only if threads race within the bounds:",
            f"loops and recursion followed {bounds.unwind} times (counting loops as often as they "
            f"run), {bounds.rounds} rounds,",
            f"{bounds.threads} threads besides main. ROUNDS and THREADS can be changed when "
            "compiling.",
        ]
        return "\n".join(f"/* {line} */" for line in lines)

    def _sizes(self) -> str:
        bounds, program, arena = self._context.bounds, self._context.program, self._arena
        labels = max(printer.writer.labels for _, printer, _ in self._threads) + 2
        bits = 8 * program.layout.pointer_size
        rows = [
            ("LABELS", f"{labels}u"),
            ("SILENT", "1000000u"),
            ("OBJECTS", "64u"),
            ("KEYS", "16u"),
            ("CLEANUPS", "8u"),
            ("HANDLERS", "8u"),
            ("MUTEX_KIND", "12u" if program.layout.pointer_size == 4 else "16u"),
            ("ANYONE_UNLOCKS", str(int(bounds.anyone_unlocks))),
            ("SPURIOUS", "1"),
            ("LOCALS_START", f"{arena.end}u"),
            ("LOCALS_SIZE", f"{arena.thread_local_size}u"),
            ("LOCALS(t)", "(address)(LOCALS_START + (t) * LOCALS_SIZE)"),
            ("STACKS", "(LOCALS_START + THREADS * LOCALS_SIZE)"),
            ("STACK", f"{self._stack_size()}u"),
            ("HEAP_START", "(STACKS + THREADS * STACK + 16u)"),
            ("HEAP", f"{self._heap_size()}u"),
            ("SIZE", "(HEAP_START + HEAP)"),
        ]
        adjustable = [("ROUNDS", f"{bounds.rounds}u"), ("THREADS", f"{bounds.threads + 1}u")]
        lines = [f"typedef uint{bits}_t address;"]
        for name, value in adjustable:
            lines += [f"#ifndef {name}", f"#define {name} {value}", "#endif"]
        lines += [f"#define {name} {value}" for name, value in rows]
        return "\n".join(lines) + "\n"

    def _stack_size(self) -> int:
        """Room for every stack slot of the program, as often as loops are followed."""
        layout = self._context.program.layout
        total = _LEAST_STACK
        for function in self._context.program.defined:
            for instruction in function.instructions:
                if isinstance(instruction, StackSlot):
                    count = getattr(instruction.count, "value", 64)
                    total += room(layout.size(instruction.type) * count)
        return min(total * (self._context.bounds.unwind + 1), _LARGEST_AREA) // 16 * 16

    def _heap_size(self) -> int:
        """Room for every allocation of a known size, in every thread."""
        total = 0
        bounds = self._context.bounds
        for _, instruction in self._context.program.all_instructions():
            if isinstance(instruction, Call):
                event = self._context.events.of(instruction)
                size = getattr(event, "size", None)
                if isinstance(event, Allocate) and isinstance(size, int):
                    total += room(size)
        wanted = total * (bounds.unwind + 1) * (bounds.threads + 1)
        return max(_HEAP, min(wanted, _LARGEST_AREA)) // 16 * 16

    def _macros(self, printed: str) -> str:
        used = words(printed)
        lines = [
            f"#define {macro} {self._arena.functions[name]}u"
            for name, macro in self._arena.function_macros.items()
            if macro in used
        ]
        for placed in self._arena.placed.values():
            if placed.macro in used or any(placed.data):
                variable = placed.variable
                where = f", {variable.position}" if variable.position else ""
                about = comment(f"{variable.display}{where}")
                lines.append(f"#define {placed.macro} {placed.address}u {about}")
        lines += [
            f"#define {found.macro} {found.address}u"
            for found in self._arena.library_objects.values()
        ]
        return "\n".join(lines) + "\n"

    def _memory(self) -> str:
        """The bytes of the global variables, as far as they are not zero."""
        rows = []
        for placed in self._arena.placed.values():
            if placed.variable.is_thread_local or not any(placed.data):
                continue
            values = [f"[{placed.macro} + {i}] = {b}," for i, b in enumerate(placed.data) if b]
            rows += [f"    {' '.join(values[i : i + 6])}" for i in range(0, len(values), 6)]
        start = "/* All bytes of the program; an address is an index. */\n"
        if not rows:
            return f"{start}static unsigned char memory[SIZE];\n"
        rows[-1] = rows[-1].rstrip(",")
        return f"{start}static unsigned char memory[SIZE] = {{\n" + "\n".join(rows) + "\n};\n"

    def _start_locals(self) -> str:
        lines = []
        for placed in self._arena.placed.values():
            if not placed.variable.is_thread_local:
                continue
            start = f"LOCALS(t) + {placed.macro}"
            lines.append(f"    object({start}, {placed.variable.size}, ALIVE);")
            lines += [f"    put({start} + {i}u, {b}, 1);" for i, b in enumerate(placed.data) if b]
        for found in self._arena.library_objects.values():
            if found.is_thread_local:
                lines.append(
                    f"    object(LOCALS(t) + {found.macro}, {LIBRARY_OBJECT}, ALIVE | PRIVATE);"
                )
        body = "\n".join(lines) if lines else "    (void)t;"
        return (
            "/* The thread-local variables of a new thread. */\n"
            f"static void start_locals(unsigned t)\n{{\n{body}\n}}"
        )

    def _initialise(self) -> str:
        lines = []
        for placed in self._arena.placed.values():
            variable = placed.variable
            if variable.is_thread_local or not variable.size:
                continue
            kind = "ALIVE"
            if variable.is_constant:
                kind += " | PRIVATE | FIXED"
            if self._arena.is_unknown(variable):
                kind += " | UNKNOWN"
            lines.append(f"    object({placed.macro}, {variable.size}, {kind});")
        for found in self._arena.library_objects.values():
            if not found.is_thread_local:
                lines.append(f"    object({found.macro}, {LIBRARY_OBJECT}, ALIVE);")
        main = self._arena.function_macros[self._context.program.entry]
        lines.append(f"    (void)create({main}, 0);")
        return "static void initialise(void)\n{\n" + "\n".join(lines) + "\n}\n"

    def _run(self) -> str:
        macros = self._arena.function_macros
        cases = "".join(
            f"    case {macros[name]}:\n        {printer.name}(t);\n        break;\n"
            for name, printer, _ in self._threads
        )
        return (
            "/* Simulates one context of a thread. */\nstatic void run(unsigned t)\n{\n"
            f"    switch (thread[t].entry) {{\n{cases}    default:\n        must(0);\n    }}\n}}\n"
        )
