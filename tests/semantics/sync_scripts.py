"""Small programs of synchronisation calls, whose results and blocking can be compared.

A script is what `main` does, then what another thread does while `main` waits for its end, then
what `main` does after that. So every call finds a certain state, and there is one outcome: the
results of all calls, or that the program blocks.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HEAD = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
static struct timespec past = {1, 0};
"""
OBJECTS = """\
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, made;
static pthread_mutex_t rec = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t chk = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t bar;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static mtx_t mtx;
static int ran, number;
static void routine(void) { ran++; }
static int make(int kind)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, kind);
    return pthread_mutex_init(&made, &a);
}
static void begin(void)
{
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&bar, 0, 1);
    sem_init(&sem, 0, 1);
    mtx_init(&mtx, mtx_plain | mtx_recursive);
    make(PTHREAD_MUTEX_ERRORCHECK);
}
"""


@dataclass(frozen=True)
class Script:
    name: str
    parts: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    """Calls of main, of the other thread, of main again."""
    blocks: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return sum(len(part) for part in self.parts)

    def text(self) -> str:
        """`work` and `script()`, which leaves the results in `r`."""
        numbers = iter(range(self.size))
        before, inside, after = (
            "\n".join(f"    r[{next(numbers)}] = {call};" for call in part) for part in self.parts
        )
        return f"""{OBJECTS}
static int r[{max(self.size, 1)}];
static void *work(void *arg)
{{
{inside}
    return arg;
}}
static void script(void)
{{
    pthread_t t;
    begin();
{before}
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
{after}
}}
"""

    def program(self, expected: Sequence[int]) -> str:
        """Races on `right` if all results are as expected, on `wrong` if one is not, and not at all
        if it blocks."""
        tests = " && ".join(f"r[{i}] == {value}" for i, value in enumerate(expected)) or "1"
        return f"""{HEAD}{self.text()}
static int right, wrong;
static void *race_right(void *arg) {{ right = 1; return arg; }}
static void *race_wrong(void *arg) {{ wrong = 1; return arg; }}
int main(void)
{{
    pthread_t t;
    script();
    if ({tests}) {{
        pthread_create(&t, 0, race_right, 0);
        right = 2;
    }} else {{
        pthread_create(&t, 0, race_wrong, 0);
        wrong = 2;
    }}
    return right ? 1 : 2;
}}
"""


def native_results(scripts: Sequence[Script], folder: Path) -> list[list[int] | None]:
    """What each script returns when it is really run; None if it blocks.

    How long one is waited for depends on what is expected, so that a slow machine changes nothing.
    """
    from tests.machine.native import zig

    units, found = [], []
    for index, script in enumerate(scripts):
        unit = folder / f"script{index}.c"
        seconds = 1 if script.blocks else 60
        unit.write_text(
            f"{HEAD}#include <stdio.h>\n#include <unistd.h>\n{script.text()}\n"
            f"void run{index}(void)\n{{\n    alarm({seconds});\n    script();\n"
            f'    for (int i = 0; i < {script.size}; i++) printf("%d ", r[i]);\n}}\n'
        )
        units.append(str(unit))
    calls = "".join(f"    case {i}: run{i}(); break;\n" for i in range(len(scripts)))
    declared = "".join(f"void run{i}(void);\n" for i in range(len(scripts)))
    main = folder / "main.c"
    main.write_text(
        f"#include <stdlib.h>\n{declared}int main(int n, char **v)\n{{\n"
        f"    switch (n > 1 ? atoi(v[1]) : 0) {{\n{calls}    }}\n    return 0;\n}}\n"
    )
    binary = folder / "scripts"
    command = [zig(), "cc", "-O0", "-w", "-pthread", *units, str(main), "-o", str(binary)]
    subprocess.run(command, check=True)
    runs = [
        subprocess.Popen([str(binary), str(index)], stdout=subprocess.PIPE, text=True)
        for index in range(len(scripts))
    ]
    for run in runs:
        text, _ = run.communicate()
        found.append([int(word) for word in text.split()] if run.returncode == 0 else None)
    return found


# --- scripts that block ------------------------------------------------------------


def _blocking(name: str, before: str = "", inside: str = "", after: str = "") -> Script:
    parts = tuple(tuple(filter(None, text.split("; "))) for text in (before, inside, after))
    return Script(name, parts, blocks=True)  # type: ignore[arg-type]


BLOCKING = [
    _blocking("a normal mutex twice", "pthread_mutex_lock(&m); pthread_mutex_lock(&m)"),
    _blocking("another's recursive mutex", "pthread_mutex_lock(&rec)", "pthread_mutex_lock(&rec)"),
    _blocking("another's checking mutex", "pthread_mutex_lock(&chk)", "pthread_mutex_lock(&chk)"),
    _blocking(
        "a recursive mutex given back once",
        "pthread_mutex_lock(&rec); pthread_mutex_lock(&rec); pthread_mutex_unlock(&rec)",
        "pthread_mutex_lock(&rec)",
    ),
    _blocking(
        "reading while another writes", "pthread_rwlock_wrlock(&rw)", "pthread_rwlock_rdlock(&rw)"
    ),
    _blocking(
        "writing while another reads", "pthread_rwlock_rdlock(&rw)", "pthread_rwlock_wrlock(&rw)"
    ),
    _blocking(
        "one of two readers has left",
        "pthread_rwlock_rdlock(&rw)",
        "pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw); pthread_rwlock_wrlock(&rw)",
    ),
    _blocking("another's spin lock", "pthread_spin_lock(&spin)", "pthread_spin_lock(&spin)"),
    _blocking("an empty semaphore", "sem_wait(&sem)", "sem_wait(&sem)"),
    _blocking(
        "alone at a barrier", "pthread_barrier_init(&bar, 0, 2)", "pthread_barrier_wait(&bar)"
    ),
    _blocking("a C11 mutex", "mtx_lock(&mtx)", "mtx_lock(&mtx)"),
]

# --- scripts that do not ------------------------------------------------------------

FIXED = [
    Script(
        "once",
        (
            ("pthread_once(&once, routine)", "ran"),
            ("pthread_once(&once, routine)", "ran"),
            ("pthread_once(&once, routine)", "ran"),
        ),
    ),
    Script(
        "semaphore",
        (
            (
                "sem_post(&sem)",
                "sem_getvalue(&sem, &number)",
                "number",
                "sem_init(&sem, 0, 2147483647)",
            ),
            ("sem_post(&sem)", "sem_wait(&sem)", "sem_post(&sem)"),
            ("sem_trywait(&sem)", "sem_destroy(&sem)"),
        ),
    ),
    Script(
        "waiting with a time limit",
        (
            ("pthread_mutex_lock(&m)", "pthread_cond_timedwait(&cond, &m, &past)"),
            ("pthread_mutex_trylock(&m)", "pthread_cond_signal(&cond)"),
            ("pthread_cond_timedwait(&cond, &m, &past)", "pthread_mutex_unlock(&m)"),
        ),
    ),
    Script(
        "a mutex of the wrong kind",
        (
            ("make(77)", "pthread_mutex_trylock(&made)", "pthread_mutex_trylock(&made)"),
            ("pthread_mutex_trylock(&made)",),
            ("pthread_mutex_unlock(&made)", "make(PTHREAD_MUTEX_RECURSIVE)"),
        ),
    ),
    Script(
        "own locks in the other mode",
        (
            (
                "pthread_rwlock_wrlock(&rw)",
                "pthread_rwlock_rdlock(&rw)",
                "pthread_rwlock_wrlock(&rw)",
            ),
            ("pthread_rwlock_tryrdlock(&rw)", "pthread_rwlock_trywrlock(&rw)"),
            ("pthread_rwlock_tryrdlock(&rw)", "pthread_rwlock_unlock(&rw)"),
        ),
    ),
]


class _Writer:
    """Writes random calls that are defined and do not block, by what the objects hold."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.owner: dict[str, tuple[int, int]] = {}
        """Owner and depth of held mutexes."""
        self.readers = [0, 0]
        self.tokens = 1

    def calls(self, thread: int, count: int) -> tuple[str, ...]:
        found: list[str] = []
        while len(found) < count:
            write = self.random.choice((self._mutex, self._mutex, self._rwlock, self._other))
            call = write(thread)
            if call:
                found.append(call)
        return tuple(found)

    def _mutex(self, thread: int) -> str:
        name = self.random.choice(("m", "rec", "chk", "made", "mtx"))
        lock = "mtx_lock" if name == "mtx" else "pthread_mutex_lock"
        trylock = "mtx_trylock" if name == "mtx" else "pthread_mutex_trylock"
        unlock = "mtx_unlock" if name == "mtx" else "pthread_mutex_unlock"
        owner, depth = self.owner.get(name, (-1, 0))
        deeper = name in ("rec", "mtx")
        choice = self.random.choice(("lock", "try", "timed", "unlock", "unlock"))
        if choice == "unlock":
            if owner == thread:
                self.owner[name] = (owner, depth - 1) if depth > 1 else (-1, 0)
            elif name in ("m", "mtx"):
                return ""  # undefined
            return f"{unlock}(&{name})"
        if choice == "timed" and name == "mtx":
            return ""
        if choice == "lock" and owner not in (-1, thread):
            return ""  # blocks
        if choice == "lock" and owner == thread and name == "m":
            return ""  # blocks
        if owner == -1 or (owner == thread and deeper):
            self.owner[name] = (thread, depth + 1)
        if choice == "timed":
            return f"pthread_mutex_timedlock(&{name}, &past)"
        return f"{lock if choice == 'lock' else trylock}(&{name})"

    def _rwlock(self, thread: int) -> str:
        owner, _ = self.owner.get("rw", (-1, 0))
        readers = sum(self.readers)
        choice = self.random.choice(
            ("rd", "wr", "tryrd", "trywr", "timedrd", "timedwr", "un", "un")
        )
        if choice == "un":
            if owner == thread:
                self.owner["rw"] = (-1, 0)
            elif self.readers[thread]:
                self.readers[thread] -= 1
            else:
                return ""  # undefined
            return "pthread_rwlock_unlock(&rw)"
        reads = choice.endswith("rd")
        is_free = owner == -1 and (reads or readers == 0)
        if not is_free and choice in ("rd", "wr") and owner != thread:
            return ""  # blocks
        if is_free and reads:
            self.readers[thread] += 1
        elif is_free:
            self.owner["rw"] = (thread, 1)
        timed = ", &past" if choice.startswith("timed") else ""
        return f"pthread_rwlock_{choice}lock(&rw{timed})"

    def _other(self, thread: int) -> str:
        choice = self.random.randrange(6)
        if choice == 0:
            self.tokens += 1
            return "sem_post(&sem)"
        if choice == 1:
            taken = self.tokens > 0
            self.tokens -= taken
            wait = self.random.choice(("sem_wait(&sem)", "sem_trywait(&sem)")) if taken else ""
            return wait or "sem_timedwait(&sem, &past)"
        if choice == 2:
            return "pthread_barrier_wait(&bar)"
        if choice == 3:
            return self.random.choice(
                ("pthread_cond_signal(&cond)", "pthread_cond_broadcast(&cond)")
            )
        owner, _ = self.owner.get("spin", (-1, 0))
        if choice == 4:
            if owner == thread:
                self.owner["spin"] = (-1, 0)
                return "pthread_spin_unlock(&spin)"
            if owner == -1:
                self.owner["spin"] = (thread, 1)
            return "pthread_spin_trylock(&spin)"
        return "pthread_once(&once, routine) + ran"


def random_script(seed: int, count: int = 6) -> Script:
    writer = _Writer(seed)
    return Script(
        f"random {seed}",
        (writer.calls(0, count), writer.calls(1, count), writer.calls(0, count)),
    )
