"""What the analysis knows of small programs, asked through accesses.

A program says `probe[v] = 1` where it wants to know what a value may be: the offsets of the access
are the values.
"""

from __future__ import annotations

from raceproof.analysis.records import RawAccess
from raceproof.analysis.thread_modular import Analysis
from raceproof.concurrency.catalogue import Models
from raceproof.domains.integers import Integers
from tests.lowering import lower

HEAD = """
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
char probe[4096];
int x, y, z;
extern int any(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER, locks[8];
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
"""


def analysed(text: str, *, sees_others: bool = True, depth: int | None = None) -> Analysis:
    analysis = Analysis(
        lower(HEAD + text), Models.load(()), sees_others=sees_others, context_depth=depth
    )
    analysis.run()
    return analysis


def accesses(analysis: Analysis, name: str) -> list[RawAccess]:
    """Those to the object of that name, in the order of the source."""
    found = [
        access
        for info in analysis.threads.all
        for access in info.records.accesses.values()
        if analysis.objects[access.base].name == name
    ]
    return sorted(found, key=lambda a: (a.instruction, a.thread))


def numbers(offsets: Integers) -> set[int]:
    found = offsets.signed_numbers(4096)
    assert found is not None, offsets
    return set(found)


def probed(text: str, *, sees_others: bool = True, depth: int | None = None) -> set[int]:
    """The values that `probe` was indexed with, in all threads and contexts."""
    analysis = analysed(text, sees_others=sees_others, depth=depth)
    return {v for access in accesses(analysis, "probe") for v in numbers(access.offsets)}


def in_main(body: str, before: str = "") -> str:
    return f"{before}\nint main(void) {{ {body} return 0; }}\n"


def locks_at(analysis: Analysis, name: str = "x") -> list[list[tuple[str, bool, int]]]:
    """For each access to the object: the locks surely held, as (name and offset, is it for writing,
    how often)."""
    return [
        sorted(
            (
                f"{analysis.objects[held.lock.base].name}+{held.lock.offset}",
                held.is_write,
                held.times,
            )
            for held in access.facets.must_lockset
        )
        for access in accesses(analysis, name)
    ]


def running_at(analysis: Analysis, name: str = "x") -> list[set[str]]:
    """For each access of `main` to the object: the entries of the threads that may run beside."""
    return [
        {
            info.entry
            for info in analysis.threads.all
            if access.facets.may_parallel >> info.index & 1
        }
        for access in accesses(analysis, name)
        if access.thread == 0
    ]
