"""Kinds of data races: each a rule with an id, what it means, and what usually mends it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """`name` is for machines that want one word, `title` for people; `cwe` are its weaknesses."""

    id: str
    name: str
    title: str
    help: str
    cwe: tuple[int, ...]
    security: float
    """A severity between 0 and 10, as code scanning services want it."""


RULES: tuple[Rule, ...] = (
    Rule(
        "free-while-used",
        "FreeWhileUsed",
        "Memory is given back while another thread may still use it",
        "Free it after joining the threads that use it, or count the references atomically.",
        (416, 362),
        8.1,
    ),
    Rule(
        "unsafe-library-function",
        "UnsafeLibraryFunction",
        "Two threads call a library function that keeps its result in one place for all",
        "Use the variant that takes a buffer of the caller's (`strtok_r`, `localtime_r`, ...), "
        "or call it under one lock.",
        (362,),
        4.3,
    ),
    Rule(
        "mixed-atomic",
        "MixedAtomic",
        "One access is atomic, the other is not",
        "Make every access atomic: a plain access beside an atomic one is a race like any other.",
        (362, 366),
        5.3,
    ),
    Rule(
        "bit-field-neighbours",
        "BitFieldNeighbours",
        "Two bit-fields share a storage unit, so a write to one is a write to both",
        "Protect both by one lock, or keep them apart: a zero-width bit-field between them, or "
        "members of their own.",
        (362, 366),
        5.3,
    ),
    Rule(
        "double-checked",
        "DoubleCheckedInitialisation",
        "A variable is tested without the lock under which it is set",
        "Make it atomic (load with acquire, store with release), or use `pthread_once` or "
        "`std::call_once`.",
        (362, 367),
        5.3,
    ),
    Rule(
        "read-lock-for-write",
        "ReadLockForWrite",
        "A write happens under a lock that is held for reading only",
        "Take the lock for writing: a read lock lets other readers in.",
        (667, 362),
        6.5,
    ),
    Rule(
        "different-locks",
        "DifferentLocks",
        "Both accesses hold a lock, but not the same one",
        "Choose one lock for this location and hold it in every access.",
        (667, 362),
        6.5,
    ),
    Rule(
        "released-early",
        "LockReleasedEarly",
        "The access comes after the lock was given back",
        "Move the access up, or the unlock down.",
        (667, 366),
        6.5,
    ),
    Rule(
        "unlocked-write",
        "UnlockedWrite",
        "A write holds no lock, though the other access does",
        "Hold the same lock around the write.",
        (366, 667),
        6.5,
    ),
    Rule(
        "unlocked-read",
        "UnlockedRead",
        "A read holds no lock, though the write does",
        "Hold the same lock around the read, or make the variable atomic.",
        (366, 667),
        5.3,
    ),
    Rule(
        "published-early",
        "PublishedBeforeInitialised",
        "An object is written after other threads can reach it",
        "Fill it in first, then hand it over (under a lock, or with a release store).",
        (362, 366),
        5.3,
    ),
    Rule(
        "weak-order",
        "WeakMemoryOrder",
        "Only relaxed atomic operations stand between the two accesses",
        "Store with release and load with acquire: relaxed operations order nothing else.",
        (362, 366),
        5.3,
    ),
    Rule(
        "not-joined",
        "NotJoined",
        "A thread and the one that created it access the same memory, without a join between them",
        "Do it before the thread is created or after it is joined, or protect both by one lock.",
        (366, 362),
        5.3,
    ),
    Rule(
        "no-lock",
        "NoLock",
        "Neither access holds a lock",
        "Protect every access by one lock, or make the variable atomic.",
        (366, 362),
        5.3,
    ),
)
BY_ID = {rule.id: rule for rule in RULES}
