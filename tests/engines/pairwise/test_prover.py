"""The pair prover: what it proves, and for each of its rules programs in which the rule breaks."""

from __future__ import annotations

import pytest

from raceproof.engines.pairwise import ENGINE, Failure, Proof, execution_log
from raceproof.engines.pairwise.memory import PairMemory
from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.verdict import Outcome
from tests.engines.pairwise.pair_programs import HEAD as _HEAD
from tests.engines.pairwise.pair_programs import outcome_of
from tests.lowering import lower

_MANY = """
int main(void) { pthread_t t; while (1) pthread_create(&t, 0, work, 0); }
"""


def worker(body: str, before: str = "") -> str:
    """Any number of threads that all do this."""
    return f"{_HEAD}{before}\nstatic void *work(void *arg) {{ {body} return 0; }}{_MANY}"


def fan(body: str, loop: str, before: str = "") -> str:
    """Threads that `main` creates in a loop."""
    return (
        f"{_HEAD}{before}\nstatic void *work(void *arg) {{ {body} return 0; }}\n"
        f"int main(void) {{ pthread_t t; {loop} }}"
    )


_TAKE = "pthread_mutex_lock(&m); int i = next; next = next + 1; pthread_mutex_unlock(&m);"

PROVED = {
    "ticket under a lock": worker(_TAKE + "data[i] = 1;", "static int next;"),
    "ticket of two slots": worker(
        "pthread_mutex_lock(&m); int i = next; next += 2; pthread_mutex_unlock(&m);"
        "data[i] = 1; data[i + 1] = 2;",
        "static int next;",
    ),
    "tickets in a loop": worker("while (1) {" + _TAKE + "data[i] = 1; }", "static int next;"),
    "ticket and a distance": worker(_TAKE + "data[i + 3] = 1;", "static int next;"),
    "bounded unsigned ticket": worker(
        "pthread_mutex_lock(&m); unsigned i = next; if (i < 60) next = i + 1;"
        "pthread_mutex_unlock(&m); if (i < 60) data[i] = 1;",
        "static unsigned next;",
    ),
    "lock beside the index": worker(
        "int i = __VERIFIER_nondet_int(); require(i >= 0 && i < 64);"
        "pthread_mutex_lock(&ms[i]); data[i]++; pthread_mutex_unlock(&ms[i]);"
    ),
    "lock by a computed index": worker(
        "int i = __VERIFIER_nondet_int(); require(i >= 0 && i < 32);"
        "pthread_mutex_lock(&ms[2 * i + 1]); data[i]++; pthread_mutex_unlock(&ms[2 * i + 1]);"
    ),
    "index from the creator": fan(
        "int i = (int)(long)arg; data[i] = i;",
        "for (int i = 0; i < 64; i++) pthread_create(&t, 0, work, (void *)(long)i);",
    ),
    "address from the creator": fan(
        "*(int *)arg = 1;",
        "for (int i = 0; i < 64; i++) { data[i] = 2; pthread_create(&t, 0, work, &data[i]); }",
    ),
    "address walks with the loop": fan(
        "*(int *)arg = 1;",
        "for (int *p = data; p != data + 64; p++) pthread_create(&t, 0, work, p);",
    ),
    "an object for each": fan(
        "*(int *)arg = 1;",
        "while (1) { int *p = malloc(4); *p = 0; pthread_create(&t, 0, work, p); }",
    ),
    "two ranges": _HEAD
    + """
static int low, high;
static void *first(void *arg) { for (int i = 0; i < low; i++) data[i] = 1; return 0; }
static void *second(void *arg) { for (int i = low; i < high; i++) data[i] = 2; return 0; }
int main(void) {
    pthread_t a, b;
    low = __VERIFIER_nondet_int(); high = __VERIFIER_nondet_int();
    require(0 <= low && low <= high && high <= 64);
    pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0);
    return 0;
}""",
    "set up by whoever comes first": worker(
        "pthread_mutex_lock(&m); if (!ready) { data[0] = 7; ready = 1; }"
        "pthread_mutex_unlock(&m); int x = data[0]; (void)x;",
        "static int ready;",
    ),
    "only grows": worker(
        "pthread_mutex_lock(&m); if (5 > most) most = 5; pthread_mutex_unlock(&m);"
        "int x = most; (void)x;",
        "static int most;",
    ),
    "never leaves its value": worker(
        "pthread_mutex_lock(&m); if (state != 0) { pthread_mutex_unlock(&m); data[0]++;"
        "pthread_mutex_lock(&m); state = 0; } pthread_mutex_unlock(&m);",
        "static int state;",
    ),
    "home-made lock": worker(
        "acquire(); data[0]++; release();",
        "static int busy;"
        "static void acquire(void) { __VERIFIER_atomic_begin(); require(busy == 0); busy = 1;"
        "__VERIFIER_atomic_end(); }"
        "static void release(void) { __VERIFIER_atomic_begin(); busy = 0;"
        "__VERIFIER_atomic_end(); }",
    ),
}


def queue(
    take: str = "require(tickets != 4294967295u); mine = tickets; tickets = mine + 1;",
    wait: str = "require(serving == mine);",
    body: str = "data[0]++;",
    leave: str = "serving = serving + 1;",
    after: str = "",
    kind: str = "unsigned",
) -> str:
    """A lock that serves tickets in their order."""
    begin, end = "__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"
    return worker(
        f"{kind} mine; {begin} {take} {end} {begin} {wait} {end} {body}"
        f"{begin} {leave} {end} {after}",
        f"static {kind} tickets, serving;",
    )


PROVED["tickets are served"] = queue()
PROVED["tickets are served to who spins"] = queue(wait="while (serving != mine);")

_UP = "pthread_mutex_lock(&m); alive++; pthread_mutex_unlock(&m);"
_DOWN = "pthread_mutex_lock(&m); alive--; pthread_mutex_unlock(&m);"
_CREATE = "pthread_create(&t, 0, work, 0);"
_ALL = "pthread_mutex_lock(&m); while (alive) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);"


def counted(
    work: str = "data[0]++;" + _DOWN,
    create: str = _UP + _CREATE,
    wait: str = _ALL,
    before: str = "",
    first: int = 0,
) -> str:
    """`main` waits until a counter says that all threads are done."""
    return (
        f"{_HEAD} static int alive = {first}; pthread_cond_t c = PTHREAD_COND_INITIALIZER;"
        "static void *work(void *arg) {"
        f"pthread_mutex_lock(&k); {work} pthread_mutex_unlock(&k); return 0; }}"
        "int main(void) { pthread_t t; int n = __VERIFIER_nondet_int();"
        f"{before} for (int i = 0; i < n; i++) {{ {create} }} {wait} data[0]++; return 0; }}"
    )


PROVED["counted until all are done"] = counted()
PROVED["counted after the creation"] = counted(create=_CREATE + _UP)
PROVED["counted from another number"] = counted(wait=_ALL.replace("alive", "alive != 5"), first=5)

_BOTH = "pthread_mutex_lock(&k); pthread_mutex_lock(&m);"


def handover(main: str, work: str) -> str:
    """`main` and one thread, which take the locks k and m."""
    return fan(work, f"pthread_create(&t, 0, work, 0); {main} while (1);")


PROVED["the lock before tells"] = handover(
    _BOTH + "pthread_mutex_unlock(&k); data[0]++; pthread_mutex_unlock(&m);",
    _BOTH + "pthread_mutex_unlock(&m); data[0] = 2; pthread_mutex_unlock(&k);",
)

_RANGES = """
static int low, high;
static void *first(void *arg) {{ {first} return 0; }}
static void *second(void *arg) {{ {second} return 0; }}
int main(void) {{
    pthread_t a, b;
    low = __VERIFIER_nondet_int(); high = __VERIFIER_nondet_int();
    require({limits});
    pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0);
    {after}
    return 0;
}}"""
_LIMITS = "0 <= low && low <= high && high <= 64"
_FIRST = "for (int i = 0; i < low; i++) data[i] = 1;"
_SECOND = "for (int i = low; i < high; i++) data[i] = 2;"


def ranges(
    first: str = _FIRST, second: str = _SECOND, limits: str = _LIMITS, after: str = ""
) -> str:
    return _HEAD + _RANGES.format(first=first, second=second, limits=limits, after=after)


def made(acquire: str, release: str, body: str = "acquire(); data[0]++; release();") -> str:
    begin, end = "__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"
    return worker(
        body,
        "static int busy;"
        f"static void acquire(void) {{ {begin} {acquire} {end} }}"
        f"static void release(void) {{ {begin} {release} {end} }}",
    )


_NEXT = "static int next;"
RACY = {
    # tickets
    "ticket read before the lock": worker(
        "int i = next; pthread_mutex_lock(&m); next = next + 1; pthread_mutex_unlock(&m);"
        "data[i] = 1;",
        "static _Atomic int next;",
    ),
    "ticket read before it is advanced elsewhere": worker(
        "pthread_mutex_lock(&m); int i = next; pthread_mutex_unlock(&m);"
        "pthread_mutex_lock(&m); next = next + 1; pthread_mutex_unlock(&m); data[i] = 1;",
        _NEXT,
    ),
    "ticket advanced on one way only": worker(
        "pthread_mutex_lock(&m); int i = next; if (__VERIFIER_nondet_int()) next = next + 1;"
        "pthread_mutex_unlock(&m); data[i] = 1;",
        _NEXT,
    ),
    "ticket counter is reset": worker(
        _TAKE + "data[i] = 1; pthread_mutex_lock(&m); if (i > 9) next = 0;"
        "pthread_mutex_unlock(&m);",
        _NEXT,
    ),
    "ticket counter under two locks": worker(
        "pthread_mutex_t *l = __VERIFIER_nondet_int() ? &m : &k;"
        "pthread_mutex_lock(l); int i = atomic_load(&next); atomic_store(&next, i + 1);"
        "pthread_mutex_unlock(l); data[i & 63] = 1;",
        "static atomic_int next;",
    ),
    "tickets overlap": worker(_TAKE + "data[i] = 1; data[i + 1] = 2;", _NEXT),
    "tickets halved": worker(_TAKE + "data[i / 2] = 1;", _NEXT),
    "unsigned tickets wrap around": worker(
        "pthread_mutex_lock(&m); unsigned char i = next; next = next + 1;"
        "pthread_mutex_unlock(&m); data[i & 63] = 1;",
        "static unsigned char next;",
    ),
    "atomic tickets wrap around": worker(
        "int i = atomic_fetch_add(&next, 1); require(0 <= i && i < 64); data[i] = 1;",
        "static _Atomic int next;",
    ),
    "ticket goes down again": worker(
        _TAKE + "data[i] = 1; pthread_mutex_lock(&m); next = next - 1;pthread_mutex_unlock(&m);",
        _NEXT,
    ),
    "another thread gives tickets": _HEAD
    + _NEXT
    + "static void *work(void *arg) {"
    + _TAKE
    + """data[i] = 1; return 0; }
static void *reset(void *arg) {
    pthread_mutex_lock(&m); next = 0; pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, reset, 0);
    while (1) pthread_create(&t, 0, work, 0); }""",
    "main gives tickets twice": fan(
        _TAKE + "data[i] = 1;",
        "for (int j = 0; j < 9; j++) { pthread_mutex_lock(&m); next = 0;"
        "pthread_mutex_unlock(&m); pthread_create(&t, 0, work, 0); }",
        _NEXT,
    ),
    "ticket of a copy": worker(
        "pthread_mutex_lock(&m); int i = next; *which = i + 1; pthread_mutex_unlock(&m);"
        "data[i] = 1;",
        "static int next, spare; static int *which = &spare;",
    ),
    # locks by index
    "lock of another index": worker(
        "int i = __VERIFIER_nondet_int(), j = __VERIFIER_nondet_int();"
        "require(i >= 0 && i < 64 && j >= 0 && j < 64);"
        "pthread_mutex_lock(&ms[i]); data[j]++; pthread_mutex_unlock(&ms[i]);"
    ),
    "lock by a shared remainder": worker(
        "int i = __VERIFIER_nondet_int(); require(i >= 0 && i < 64);"
        "pthread_mutex_lock(&ms[i]); data[i / 2]++; pthread_mutex_unlock(&ms[i]);"
    ),
    "lock given back too soon": worker(
        "int i = __VERIFIER_nondet_int(), j = __VERIFIER_nondet_int();"
        "require(i >= 0 && i < 64 && j >= 0 && j < 64); pthread_mutex_lock(&ms[i]);"
        "pthread_mutex_unlock(&ms[j]); data[i]++; pthread_mutex_unlock(&ms[i]);"
    ),
    "wide access under a narrow lock": worker(
        "int i = __VERIFIER_nondet_int(); require(i >= 0 && i < 32);"
        "pthread_mutex_lock(&ms[i]); *(long long *)&data[i] = 1; pthread_mutex_unlock(&ms[i]);"
    ),
    # creators
    "creator's index halved": fan(
        "int i = (int)(long)arg; data[i / 2] = i;",
        "for (int i = 0; i < 64; i++) pthread_create(&t, 0, work, (void *)(long)i);",
    ),
    "creator's index stands still": fan(
        "int i = (int)(long)arg; data[i] = i;",
        "for (int i = 0; i < 64; i += __VERIFIER_nondet_int() ? 1 : 0)"
        " pthread_create(&t, 0, work, (void *)(long)i);",
    ),
    "creator's index comes back": fan(
        "unsigned char i = (unsigned char)(long)arg; data[i & 63] = i;",
        "for (unsigned char i = 0;; i++) pthread_create(&t, 0, work, (void *)(long)i);",
    ),
    "creator writes the slot too late": fan(
        "*(int *)arg = 1;",
        "for (int i = 0; i < 64; i++) { pthread_create(&t, 0, work, &data[i]); data[i] = 2; }",
    ),
    "creator writes the slot of the one before": fan(
        "*(int *)arg = 1;",
        "for (int i = 1; i < 64; i++) { data[i - 1] = 2; pthread_create(&t, 0, work, &data[i]); }",
    ),
    "each index twice": fan(
        "int i = (int)(long)arg; data[i] = i;",
        "for (int j = 0; j < 2; j++) for (int i = 0; i < 9; i++)"
        " pthread_create(&t, 0, work, (void *)(long)i);",
    ),
    "two creations with one index": fan(
        "int i = (int)(long)arg; data[i] = i;",
        "for (int i = 0; i < 9; i++) { pthread_create(&t, 0, work, (void *)(long)i);"
        " pthread_create(&t, 0, work, (void *)(long)i); }",
    ),
    "one object for all": fan(
        "*(int *)arg = 1;",
        "int *p = malloc(4); while (1) { pthread_create(&t, 0, work, p); }",
    ),
    "an object now and then": fan(
        "*(int *)arg = 1;",
        "int *p = malloc(4); while (1) { if (__VERIFIER_nondet_int()) p = malloc(4);"
        " pthread_create(&t, 0, work, p); }",
    ),
    "index through a variable of the loop": fan(
        "int i = *(int *)arg; data[i] = i;",
        "for (int i = 0; i < 9; i++) pthread_create(&t, 0, work, &i);",
    ),
    "whole objects overlap": fan(
        "int *p = arg; p[0] = 1; p[1] = 2;",
        "for (int i = 0; i < 60; i++) pthread_create(&t, 0, work, &data[i]);",
    ),
    # ranges and stable memory
    "ranges share an element": ranges(first="for (int i = 0; i <= low; i++) data[i] = 1;"),
    "ranges in any order": ranges(
        limits="0 <= low && low <= 64 && 0 <= high && high <= 64",
        second="for (int i = high; i < 64; i++) data[i] = 2;",
    ),
    "a bound that another thread moves": ranges(
        first="pthread_mutex_lock(&m); low = 60; pthread_mutex_unlock(&m);"
        "for (int i = 0; i < 60; i++) data[i] = 1;",
        second="pthread_mutex_lock(&m); int n = low; pthread_mutex_unlock(&m);"
        "for (int i = n; i < 64; i++) data[i] = 2;",
    ),
    "a bound that main moves": ranges(
        first="pthread_mutex_lock(&m); int n = low; pthread_mutex_unlock(&m);"
        "for (int i = 0; i < n; i++) data[i] = 1;",
        second="pthread_mutex_lock(&m); int n = low; pthread_mutex_unlock(&m);"
        "for (int i = n; i < 64; i++) data[i] = 2;",
        after="pthread_mutex_lock(&m); low = 64; pthread_mutex_unlock(&m); while (1);",
    ),
    "a pointer that is moved": worker(
        "pthread_mutex_lock(&m); int *p = shared; shared = p + 1; if (p > data + 9) shared = data;"
        "pthread_mutex_unlock(&m); *p = 1;"
    ),
    "a step back in the loop": ranges(
        second="for (int i = low; i < high; i++) { if (i == 9) i = 0; data[i] = 2; }"
    ),
    # what comes first
    "set up by all": worker(
        "pthread_mutex_lock(&m); if (!ready) { data[0] = 7; ready = __VERIFIER_nondet_int(); }"
        "pthread_mutex_unlock(&m); int x = data[0]; (void)x;",
        "static int ready;",
    ),
    "set up before it is said": worker(
        "pthread_mutex_lock(&m); int first = !ready; ready = 1; pthread_mutex_unlock(&m);"
        "if (first) data[0] = 7; int x = data[0]; (void)x;",
        "static int ready;",
    ),
    "taken back again": worker(
        "pthread_mutex_lock(&m); if (!ready) { data[0] = 7; ready = 1; }"
        "pthread_mutex_unlock(&m); int x = data[0]; (void)x;"
        "pthread_mutex_lock(&m); ready = 0; pthread_mutex_unlock(&m);",
        "static int ready;",
    ),
    "starts otherwise": worker(
        "pthread_mutex_lock(&m); if (state != 0) { pthread_mutex_unlock(&m); data[0]++;"
        "pthread_mutex_lock(&m); state = 0; } pthread_mutex_unlock(&m);",
        "static int state = 1;",
    ),
    "main starts otherwise": fan(
        "pthread_mutex_lock(&m); if (state != 0) { pthread_mutex_unlock(&m); data[0]++;"
        "pthread_mutex_lock(&m); state = 0; } pthread_mutex_unlock(&m);",
        "state = __VERIFIER_nondet_int(); while (1) pthread_create(&t, 0, work, 0);",
        "static int state;",
    ),
    "main changes it later": fan(
        "pthread_mutex_lock(&m); if (state != 0) { pthread_mutex_unlock(&m); data[0]++;"
        "pthread_mutex_lock(&m); } pthread_mutex_unlock(&m);",
        "for (int i = 0; i < 9; i++) { pthread_create(&t, 0, work, 0);"
        "pthread_mutex_lock(&m); state = i; pthread_mutex_unlock(&m); }",
        "static int state;",
    ),
    "grows and shrinks": worker(
        "pthread_mutex_lock(&m); if (5 > most) most = 5; else most = 3; pthread_mutex_unlock(&m);"
        "int x = most; (void)x;",
        "static int most;",
    ),
    "writes under a read lock": worker(
        "pthread_rwlock_rdlock(&rw); int i = next; next = i + 1; pthread_rwlock_unlock(&rw);"
        "data[i] = 1;",
        "static _Atomic int next;",
    ),
    "a lock that may fail": worker(
        "pthread_mutex_trylock(&m); int i = next; next = i + 1; data[i] = 1;"
        "pthread_mutex_unlock(&m);",
        "static _Atomic int next;",
    ),
    "forgotten in a loop": worker(
        "pthread_mutex_lock(&m); state = 1; for (int i = 0; i < 3; i++) {"
        "pthread_mutex_unlock(&m); pthread_mutex_lock(&m); }"
        "state = 0; pthread_mutex_unlock(&m);"
        "pthread_mutex_lock(&m); int x = state; pthread_mutex_unlock(&m); if (x) data[0]++;",
        "static int state;",
    ),
    "the lock before tells nothing": handover(
        _BOTH + "pthread_mutex_unlock(&k); pthread_mutex_unlock(&m); data[0]++;",
        _BOTH + "pthread_mutex_unlock(&m); data[0] = 2; pthread_mutex_unlock(&k);",
    ),
    "the lock before is another": handover(
        "pthread_mutex_lock(&m); data[0]++; pthread_mutex_unlock(&m);",
        _BOTH + "pthread_mutex_unlock(&m); data[0] = 2; pthread_mutex_unlock(&k);",
    ),
    "the lock before on one way only": handover(
        "if (__VERIFIER_nondet_int()) { pthread_mutex_lock(&k); pthread_mutex_unlock(&k); }"
        "pthread_mutex_lock(&m); data[0]++; pthread_mutex_unlock(&m);",
        _BOTH + "pthread_mutex_unlock(&m); data[0] = 2; pthread_mutex_unlock(&k);",
    ),
    "only readers before": fan(
        "pthread_rwlock_rdlock(&rw); pthread_mutex_lock(&m); pthread_mutex_unlock(&m);"
        "data[0] = 2; pthread_rwlock_unlock(&rw);",
        "pthread_create(&t, 0, work, 0); pthread_rwlock_rdlock(&rw); pthread_mutex_lock(&m);"
        "pthread_rwlock_unlock(&rw); data[0]++; while (1);",
    ),
    "taken again and again by its holder": _HEAD
    + """
static int state;
static void *work(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&again); if (state == 5) data[0] = 1; state = 5; }
    return 0; }
static void *look(void *arg) { int x = data[0]; (void)x; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, look, 0); pthread_create(&t, 0, work, 0);
    while (1); }""",
    "taken again in a loop": _HEAD
    + """
static int state;
static void *work(void *arg) {
    pthread_mutex_lock(&again); state = 5;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&again); if (state == 5) data[0] = 1; pthread_mutex_unlock(&again); }
    return 0; }
static void *look(void *arg) { int x = data[0]; (void)x; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, look, 0); pthread_create(&t, 0, work, 0);
    while (1); }""",
    # counters
    "counted as done too soon": counted(work=_DOWN + "data[0]++;"),
    "two created, one counted": counted(create=_UP + _CREATE + _CREATE),
    "counted down twice": counted(
        work="data[0]++;" + _DOWN + "if (__VERIFIER_nondet_int()) {" + _DOWN + "}"
    ),
    "counted down by main": counted(wait=_DOWN + _ALL),
    "one more to come": counted(wait=_ALL + _UP + _CREATE),
    "waits for all but one": counted(wait=_ALL.replace("(alive)", "(alive > 1)")),
    "waits once": counted(wait=_ALL.replace("while", "if")),
    "counts from another number": counted(first=-1),
    "counted up in between": counted(
        work=_DOWN + "data[0]++;" + _UP + _DOWN,
        wait=_ALL,
    ),
    "counted by chance": counted(create="if (__VERIFIER_nondet_int()) {" + _UP + "}" + _CREATE),
    # turns
    "served tickets wrap around": queue(
        take="mine = tickets; tickets = mine + 1;", kind="unsigned char"
    ),
    "served without waiting": queue(wait="require(serving <= mine);"),
    "served twice": queue(take="mine = tickets; if (__VERIFIER_nondet_int()) tickets = mine + 1;"),
    "served after leaving": queue(after="data[0]--;"),
    "served while some thread leaves": queue(wait="if (serving != mine) serving = mine;"),
    "leaves twice": queue(
        after="__VERIFIER_atomic_begin(); serving = serving + 1; __VERIFIER_atomic_end();"
    ),
    "served by a number of no ticket": queue(take="mine = __VERIFIER_nondet_uint();"),
    # home-made locks
    "free for two": _HEAD
    + """
static atomic_int busy;
static void *one(void *arg) {
    pthread_mutex_lock(&m); if (busy == 0) data[0] = 1; pthread_mutex_unlock(&m); return 0; }
static void *two(void *arg) {
    pthread_mutex_lock(&k); if (busy == 0) data[0] = 2; pthread_mutex_unlock(&k); return 0; }
static void *three(void *arg) {
    pthread_mutex_lock(&m); pthread_mutex_lock(&k); busy = 1;
    pthread_mutex_unlock(&k); pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, one, 0); pthread_create(&t, 0, two, 0);
    pthread_create(&t, 0, three, 0); while (1); }""",
    "set without looking": made("busy = 1;", "busy = 0;"),
    "looked at before": worker(
        "__VERIFIER_atomic_begin(); int b = busy; __VERIFIER_atomic_end(); require(b == 0);"
        "__VERIFIER_atomic_begin(); busy = 1; __VERIFIER_atomic_end(); data[0]++;"
        "__VERIFIER_atomic_begin(); busy = 0; __VERIFIER_atomic_end();",
        "static int busy;",
    ),
    "released by anybody": made(
        "require(busy == 0); busy = 1;",
        "busy = 0;",
        "if (__VERIFIER_nondet_int()) { acquire(); data[0]++; } release();",
    ),
    "released twice": made(
        "require(busy == 0); busy = 1;",
        "busy = 0;",
        "acquire(); data[0]++; release(); data[0]--;",
    ),
    "lock that counts": made("require(busy < 2); busy = busy + 1;", "busy = busy - 1;"),
    "taken with zero": made("require(busy == 0); busy = 0;", "busy = 0;"),
    "never taken": made(
        "require(busy == 0);", "if (__VERIFIER_nondet_int() && busy == 5) busy = 0;"
    ),
    "not atomic": worker(
        "require(atomic_load(&busy) == 0); atomic_store(&busy, 1); data[0]++;"
        "atomic_store(&busy, 0);",
        "static atomic_int busy;",
    ),
}


def test_threads_that_create_their_like_are_not_followed() -> None:
    """The child has the index of its parent."""
    text = (
        _HEAD
        + """
static void spawn(long i);
static void *work(void *arg) {
    data[(int)(long)arg] = 1; if (__VERIFIER_nondet_int()) spawn((long)arg); return 0; }
static void spawn(long i) { pthread_t t; pthread_create(&t, 0, work, (void *)i); }
int main(void) { for (int i = 0; i < 9; i++) spawn(i); while (1); }"""
    )
    outcome = outcome_of(text)
    assert isinstance(outcome, Failure)
    assert "creates its like" in outcome.reason


def test_no_more_moments_than_a_line_of_time_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many would contradict each other, and anything would be proved."""
    monkeypatch.setattr(execution_log, "_MOST_MOMENTS", 2)
    racy = worker(_TAKE + "data[i / 2] = 1;", "static int next;")
    outcome = outcome_of(racy)
    assert isinstance(outcome, Failure)
    assert "too many sections" in outcome.reason


def test_an_access_that_is_not_recorded_ends_the_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or it would be in no question."""
    monkeypatch.setattr(PairMemory, "record", lambda *_: None)
    outcome = outcome_of(worker("data[0] = 1;"))
    assert isinstance(outcome, Failure)
    assert "only the analysis sees" in outcome.reason


@pytest.mark.parametrize("name", PROVED)
def test_proves(name: str) -> None:
    outcome = outcome_of(PROVED[name])
    assert isinstance(outcome, Proof) or outcome.reason == "no pair is open", outcome


@pytest.mark.parametrize("name", RACY)
def test_no_proof_where_the_rule_breaks(name: str) -> None:
    outcome = outcome_of(RACY[name])
    assert isinstance(outcome, Failure)
    assert "not excluded (sat)" in outcome.reason


def test_the_proof_is_about_the_whole_program() -> None:
    """However many candidates were not named to it, or were dropped for being too many."""
    program = lower(PROVED["ticket under a lock"])
    answer = ENGINE.run(program, Question(Options(timeout=60.0), candidates=()))
    assert answer.outcome is Outcome.RACE_FREE
    assert answer.is_complete
