"""The sequentialized program as plain C, for any sequential verifier or compiler.

    arena           all bytes of the program in one array, so that each has its shadow
    loops           which loops are unrolled, and how often
    thread_printer  a thread as one function: calls inlined, visible statements numbered
    instructions, expressions, calls, operations, library
                    what each instruction and library function becomes
    runtime         the fixed parts, as C files: memory, race monitor, locks, driver
    printing        the whole file
    follow          a found schedule, in the terms of the printed program

The scheme is lazy sequentialization (Inverso, Tomasco, Fischer, La Torre and Parlato) with the race
monitor of LaDR. `ROUNDS` times every thread runs one context, from the visible statement where it
stood to one that is guessed:

    v6: if (pc > 6) goto v7;               hop on to where the thread stood
        if (stop(t, 6, shared(p))) {       the context ends here?
            announce(t, p, 4, WRITE, ...); the monitor, if this is the guessed context
            goto end;
        }
        put(p, value, 4);

LaDR marks the bytes of the last statement that a context executes and checks those of the first
one of the next. Here a statement is announced *before* it is executed, in both phases: two threads
stand before accesses to the same byte, which is how our verdicts define a race, and what follows
the access in its thread cannot hide it. A context may end before any visible statement, or where
its thread must wait.
"""

from raceproof.sequentialize.context import Bounds
from raceproof.sequentialize.printing import sequentialize

__all__ = ["Bounds", "sequentialize"]
