"""Random programs that follow a discipline for each shared object, or break it at one access.

    lock      every access holds the object's lock
    atomic    every access is atomic
    own       each thread accesses its own element
    early     written before the threads are made, and read after; written again after the joins
    handover  written before a release store to a flag, accessed by who has seen it
    semaphore written before a post, accessed after the wait

A program without a broken access has no race by construction. With one it may have: what its runs
show decides.
"""

import random
from dataclasses import dataclass, field

_DISCIPLINES = ("lock", "lock", "lock", "atomic", "own", "early", "handover", "semaphore")


@dataclass(frozen=True, slots=True)
class Shared:
    """An object of the program: `kind` is what is done with it."""

    name: str
    kind: str
    discipline: str
    lock: int = 0


@dataclass(slots=True)
class Written:
    """A generated program and what is known about it."""

    text: str
    is_broken: bool
    """Does one access break its object's discipline?"""


@dataclass
class _Writer:
    random: random.Random
    threads: int
    locks: int
    shared: list[Shared]
    broken: int
    """The access that breaks the discipline, counted down; negative: none does."""
    did_break: bool = False
    lines: list[str] = field(default_factory=list)

    def access(self, one: Shared, is_write: bool, me: str) -> str:
        """Statements that access the object, without any protection."""
        element = me if one.discipline == "own" else str(self.random.randrange(4))
        accesses = (_WRITES if is_write else _READS)[one.kind]
        if one.discipline == "own":
            accesses = tuple(code for code in accesses if "{i}" in code)
        return self.random.choice(accesses).format(n=one.name, i=element)

    def protected(self, one: Shared, is_write: bool, me: str) -> str:
        breaks = self.broken == 0
        self.broken -= 1
        if breaks:
            self.did_break = True
        if one.discipline == "atomic":
            if breaks:
                return f"*(int *)&{one.name} += 1;"
            operations = (
                f"atomic_fetch_add(&{one.name}, 1);",
                f"atomic_store(&{one.name}, 2);",
                f"local += atomic_load(&{one.name});",
            )
            return self.random.choice(operations)
        if one.discipline == "own":
            other = f"({me} ^ 1)" if breaks else me
            return self.access(one, is_write, other)
        code = self.access(one, is_write, me)
        if one.discipline == "early":
            return self.access(one, breaks, me)
        if one.discipline == "handover":
            return (
                code
                if breaks
                else f"if (atomic_load(&seen_{one.name}) == 1) {{ {self.access(one, False, me)} }}"
            )
        if one.discipline == "semaphore":
            if breaks:
                return code
            return f"sem_wait(&ready_{one.name}); {code} sem_post(&ready_{one.name});"
        lock = one.lock
        if breaks and self.locks > 1 and self.random.random() < 0.5:
            lock = (lock + 1) % self.locks
        elif breaks:
            return code
        return self._locked(lock, code)

    def _locked(self, lock: int, code: str) -> str:
        give = f"pthread_mutex_unlock(&m[{lock}]);"
        ways = (
            f"pthread_mutex_lock(&m[{lock}]); {code} {give}",
            f"take({lock}); {code} give({lock});",
            f"if (pthread_mutex_trylock(&m[{lock}]) == 0) {{ {code} {give} }}",
            f"pthread_mutex_t *p = &m[{lock}]; pthread_mutex_lock(p); {code} {give}",
        )
        return self.random.choice(ways)

    def statement(self, me: str) -> str:
        one = self.random.choice(self.shared)
        code = self.protected(one, self.random.random() < 0.6, me)
        shape = self.random.random()
        if shape < 0.2:
            return f"    if (local % 2 == 0) {{ {code} }}"
        if shape < 0.35:
            return f"    for (int k = 0; k < 2; k++) {{ {code} }}"
        if shape < 0.45:
            return f"    if (argument != NULL || local >= 0) {{ {code} }}"
        return f"    {{ {code} }}"


_READS = {
    "int": ("local += {n};", "if ({n} > 3) local++;", "local ^= {n};"),
    "array": ("local += {n}[{i}];", "local += *({n} + {i});", "local += abs({n}[{i}]);"),
    "struct": ("local += {n}.a;", "local += {n}.b;", "struct pair copy = {n}; local += copy.a;"),
    "text": (
        "local += (int)strlen({n});",
        "local += atoi({n});",
        "local += {n}[{i}];",
        'local += strcmp({n}, "17") == 0;',
        "local += memchr({n}, '7', 4) != NULL;",
        'local += (int)strspn({n}, "123");',
        "local += (int)strtol({n}, NULL, 10);",
    ),
    "heap": (
        "local += {n}[{i}];",
        "local += *({n} + {i});",
        "int c[4]; memcpy(c, {n}, sizeof c); local += c[0];",
    ),
}
_WRITES = {
    "int": ("{n}++;", "{n} = local;", "{n} += 3;"),
    "array": ("{n}[{i}]++;", "{n}[{i}] = local;", "*({n} + {i}) -= 1;"),
    "struct": ("{n}.a++;", "{n}.b = local;", "{n} = (struct pair){{1, 2}};"),
    "text": (
        'strcpy({n}, "17");',
        'snprintf({n}, sizeof {n}, "%d", 12);',
        "memset({n}, '3', 2);",
        "{n}[0] = '1';",
        'strncpy({n}, "8", 4);',
    ),
    "heap": ("{n}[{i}]++;", "{n}[{i}] = local;", "memset({n}, 0, 4 * sizeof(int));"),
}
_OWN = ("array", "heap")


def _shared(rng: random.Random, locks: int) -> list[Shared]:
    found = []
    for number in range(rng.randint(1, 3)):
        discipline = rng.choice(_DISCIPLINES)
        kind = rng.choice(tuple(_READS))
        if discipline == "own":
            kind = rng.choice(_OWN)
        found.append(Shared(f"s{number}", kind, discipline, rng.randrange(locks)))
    return found


def _declarations(shared: list[Shared], locks: int) -> list[str]:
    lines = [f"static pthread_mutex_t m[{locks}];", "struct pair { int a, b; };"]
    for one in shared:
        if one.discipline == "atomic":
            lines.append(f"static atomic_int {one.name};")
            continue
        declared = {
            "int": f"static int {one.name};",
            "array": f"static int {one.name}[4];",
            "struct": f"static struct pair {one.name};",
            "text": f'static char {one.name}[16] = "17";',
            "heap": f"static int *{one.name};",
        }
        lines.append(declared[one.kind])
        if one.discipline == "handover":
            lines.append(f"static atomic_int seen_{one.name};")
        if one.discipline == "semaphore":
            lines.append(f"static sem_t ready_{one.name};")
    return lines


def random_program(seed: int) -> Written:
    """The program of that number."""
    rng = random.Random(seed)
    locks = rng.randint(1, 2)
    threads = rng.randint(1, 3)
    shared = _shared(rng, locks)
    wants_break = rng.random() < 0.6
    writer = _Writer(rng, threads, locks, shared, rng.randrange(5) if wants_break else -1)
    lines = [
        "#include <pthread.h>", "#include <semaphore.h>", "#include <stdatomic.h>",
        "#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "",
        *_declarations(shared, locks), "static int sink;", "",
        "static void take(int k) { pthread_mutex_lock(&m[k]); }",
        "static void give(int k) { pthread_mutex_unlock(&m[k]); }", "",
    ]  # fmt: skip
    for thread in range(threads):
        lines += [f"static void *work{thread}(void *argument)", "{", "    int local = 0;"]
        lines += [writer.statement(str(thread)) for _ in range(rng.randint(1, 3))]
        lines += ["    return (void *)(long)(local & 1);", "}", ""]
    lines += ["int main(void)", "{", "    int local = 0;", "    void *argument = NULL;"]
    lines.append(f"    for (int k = 0; k < {locks}; k++) pthread_mutex_init(&m[k], NULL);")
    for one in shared:
        if one.kind == "heap" and one.discipline != "atomic":
            lines.append(f"    {one.name} = calloc(4, sizeof(int));")
        if one.discipline == "semaphore":
            lines.append(f"    sem_init(&ready_{one.name}, 0, 1);")
        if one.discipline == "early":
            lines.append(f"    {writer.access(one, True, '3')}")
    lines.append(f"    pthread_t t[{threads}];")
    lines += [
        f"    pthread_create(&t[{k}], NULL, work{k}, {rng.choice(('NULL', '&sink'))});"
        for k in range(threads)
    ]
    for one in shared:
        if one.discipline == "handover":
            lines.append(
                f"    {{ {writer.access(one, True, '3')} atomic_store(&seen_{one.name}, 1); }}"
            )
    lines += [writer.statement("3") for _ in range(rng.randint(0, 2))]
    lines += [f"    pthread_join(t[{k}], NULL);" for k in range(threads)]
    lines += [
        f"    {{ {writer.access(one, True, '3')} }}"
        for one in shared
        if one.discipline not in ("atomic",)
    ]
    lines += ["    sink = local + (argument != NULL);", "    return 0;", "}"]
    return Written("\n".join(lines) + "\n", writer.did_break)
