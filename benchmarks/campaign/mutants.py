"""Mutants of a C program: one small mistake each, of the kinds that make data races.

The text is changed, not a tree: a mutant that does not compile is thrown away by its caller. No
line is added or removed, so that positions stay those of the program.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_LOCK = re.compile(
    r"\b(pthread_mutex_lock|pthread_spin_lock|pthread_rwlock_(?:rd|wr)lock|mtx_lock)"
    r"\(([^;{}]*?)\);"
)
_UNLOCKS = {
    "pthread_mutex_lock": "pthread_mutex_unlock",
    "pthread_spin_lock": "pthread_spin_unlock",
    "pthread_rwlock_rdlock": "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock": "pthread_rwlock_unlock",
    "mtx_lock": "mtx_unlock",
}
_WAIT = re.compile(r"\b(?:pthread_join|thrd_join|pthread_barrier_wait|sem_wait)\([^;{}]*?\);(?=\s)")
_SIGNAL_WAIT = re.compile(r"\bwhile \(([^;{}]*)\)(?=\s*(?:\{\s*)?pthread_cond_wait)")
_CREATE = re.compile(r"\b(?:pthread_create|thrd_create)\([^;{}]*?\);")
_ATOMIC_TYPE = re.compile(
    r"\b_Atomic\s+(?=\w)|\b_Atomic\(([\w ]+)\)|\batomic_(?=(?:u?int|long|bool)\b)"
)
_ATOMIC_ADD = re.compile(r"\batomic_fetch_(add|sub)\(([^,;()]*), ([^,;()]*)\)")
_ATOMIC_LOAD = re.compile(r"\batomic_load\(([^,;()]*)\)")
_ATOMIC_STORE = re.compile(r"\batomic_store\(([^,;()]*), ([^;]*)\);")
_ORDER = re.compile(r"\bmemory_order_(?:acquire|release|acq_rel|seq_cst)\b")
_INDEX = re.compile(r"(?<=\w)\[(\w+)\](?=\s*(?:[-+*/|&^]?=(?!=| \{)|\+\+|--|;|\)|\.))")
_ADDRESS = re.compile(r"\(&(\w+)[),]")
_MODE = re.compile(r"\bpthread_rwlock_wrlock\b")
_THREAD_LOCAL = re.compile(r"\b(?:_Thread_local|__thread)\s+")
_LOOP = re.compile(r"(?<=< )(\d+)(?=; \w+\+\+)")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one mistake."""

    operator: str
    line: int
    text: str


def _blanked(text: str, *spans: tuple[int, int], by: str = ";") -> str:
    for start, end in sorted(spans, reverse=True):
        newlines = text.count("\n", start, end)
        text = text[:start] + by + "\n" * newlines + text[end:]
    return text


def _drop_lock_pair(text: str) -> Iterator[tuple[int, str]]:
    """Each lock with the unlocks of the same lock up to the end of the function."""
    for match in _LOCK.finditer(text):
        end = text.find("\n}", match.end())
        unlock = re.compile(rf"\b{_UNLOCKS[match[1]]}\({re.escape(match[2])}\);")
        again = re.compile(rf"\b{match[1]}\({re.escape(match[2])}\);").search(
            text, match.end(), end
        )
        unlocks = [
            m.span() for m in unlock.finditer(text, match.end(), again.start() if again else end)
        ]
        if unlocks:
            yield match.start(), _blanked(text, match.span(), *unlocks)


def _drop_wait(text: str) -> Iterator[tuple[int, str]]:
    for match in _WAIT.finditer(text):
        yield match.start(), _blanked(text, match.span())


def _drop_condition_wait(text: str) -> Iterator[tuple[int, str]]:
    for match in _SIGNAL_WAIT.finditer(text):
        yield match.start(), text[: match.start()] + "while (0)" + text[match.end() :]


def _drop_atomic(text: str) -> Iterator[tuple[int, str]]:
    for match in _ATOMIC_TYPE.finditer(text):
        plain = match[1] or ""
        changed = text[: match.start()] + plain + text[match.end() :]
        yield match.start(), _plain_operations(changed)
    for match in _ATOMIC_LOAD.finditer(text):
        plain = f"(*(volatile int *)({match[1]}))"
        yield match.start(), text[: match.start()] + plain + text[match.end() :]


def _plain_operations(text: str) -> str:
    """Operations on what is no longer atomic; those of others stay atomic in effect."""
    text = _ATOMIC_ADD.sub(
        lambda m: (
            f"__atomic_fetch_{m[1]}({m[2]}, {m[3]}, 5)"
            if "->" in m[2]
            else f"((*({m[2]})) {'+-'[m[1] == 'sub']}= ({m[3]}))"
        ),
        text,
    )
    text = _ATOMIC_LOAD.sub(r"(*(\1))", text)
    return _ATOMIC_STORE.sub(r"*(\1) = (\2);", text)


def _relax(text: str) -> Iterator[tuple[int, str]]:
    for match in _ORDER.finditer(text):
        yield match.start(), text[: match.start()] + "memory_order_relaxed" + text[match.end() :]


def _swap_lock(text: str) -> Iterator[tuple[int, str]]:
    """Another lock instead, at a lock call and the unlocks of it that follow."""
    names = sorted(
        {m[1] for call in _LOCK.finditer(text) for m in _ADDRESS.finditer(f"({call[2]})")}
    )
    for match in _LOCK.finditer(text):
        for name in names:
            if match[2] == f"&{name}":
                continue
            end = text.find("\n}", match.end())
            body = text[match.start() : end]
            changed = body.replace(f"({match[2]})", f"(&{name})")
            yield match.start(), text[: match.start()] + changed + text[end:]


def _shift_index(text: str) -> Iterator[tuple[int, str]]:
    for match in _INDEX.finditer(text):
        yield match.start(), text[: match.start()] + f"[({match[1]}) ^ 1]" + text[match.end() :]


def _more_threads(text: str) -> Iterator[tuple[int, str]]:
    for match in _CREATE.finditer(text):
        call = match[0]
        extra = re.sub(r"\(\s*[^,]*,", "(&(pthread_t){0},", call, count=1)
        if call.startswith("pthread"):
            yield (
                match.start(),
                text[: match.start()] + f"{{ {extra} {call} }}" + text[match.end() :],
            )


def _share_reading(text: str) -> Iterator[tuple[int, str]]:
    for match in _MODE.finditer(text):
        yield match.start(), text[: match.start()] + "pthread_rwlock_rdlock" + text[match.end() :]


def _share_thread_local(text: str) -> Iterator[tuple[int, str]]:
    for match in _THREAD_LOCAL.finditer(text):
        yield match.start(), text[: match.start()] + text[match.end() :]


def _one_round_more(text: str) -> Iterator[tuple[int, str]]:
    for match in _LOOP.finditer(text):
        for number in (int(match[1]) + 1, int(match[1]) - 1):
            yield match.start(), text[: match.start()] + str(number) + text[match.end() :]


OPERATORS: dict[str, Callable[[str], Iterator[tuple[int, str]]]] = {
    "drop-lock-pair": _drop_lock_pair,
    "drop-wait": _drop_wait,
    "drop-condition-wait": _drop_condition_wait,
    "drop-atomic": _drop_atomic,
    "relax-order": _relax,
    "swap-lock": _swap_lock,
    "shift-index": _shift_index,
    "more-threads": _more_threads,
    "read-lock": _share_reading,
    "drop-thread-local": _share_thread_local,
    "loop-bound": _one_round_more,
}


def mutants(text: str) -> Iterator[Mutant]:
    """All mutants of a program, by operator and place; each text once."""
    seen = {text}
    for name, operator in OPERATORS.items():
        for position, changed in operator(text):
            if changed not in seen:
                seen.add(changed)
                yield Mutant(name, text.count("\n", 0, position) + 1, changed)
