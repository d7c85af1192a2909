"""The directed search: what it finds with how many executions, always the same for a seed."""

from __future__ import annotations

import pytest

from raceproof.engines.interleave.constants import interesting_constants
from raceproof.engines.interleave.search import DirectedSearch
from raceproof.machine.findings import Race
from raceproof.machine.machine import Machine
from tests.machine.running import machine_of

INPUT = "int __VERIFIER_nondet_int(void); static int shared;"


def racing(condition: str, declarations: str = "") -> str:
    """A program that races only if the condition on the input `x` holds."""
    return f"""{INPUT} {declarations}
    static void *work(void *arg) {{ shared = 1; return 0; }}
    int main(void) {{ int x = __VERIFIER_nondet_int(); CREATE(a, work);
        if ({condition}) shared = 2; JOIN(a); return 0; }}"""


HIDDEN = {
    "a constant": racing("x == 123456"),
    "one more than a constant": racing("x > 987654 && x < 987656"),
    "a computed value": racing("x * 3 + 1 == 3000022"),
    "behind bits": racing("((x >> 4) ^ 0x55) == 0x4321"),
    "a case": racing(
        "kind(x)", "static int kind(int x) { switch (x) { case 77177: return 1; } return 0; }"
    ),
    "a negative number": racing("x == -88888"),
    "a flag that another thread sets": f"""{INPUT} static atomic_int flag;
        static void *work(void *arg) {{ while (!flag) ; shared = 1; return 0; }}
        int main(void) {{ CREATE(a, work); CREATE(b, work); flag = 1;
            JOIN(a); JOIN(b); return 0; }}""",
    "behind a barrier of many threads": f"""{INPUT} static pthread_barrier_t b;
        static void *work(void *arg) {{ pthread_barrier_wait(&b); shared++; return 0; }}
        int main(void) {{ pthread_t t[20]; pthread_barrier_init(&b, 0, 20);
            for (int i = 0; i < 20; i++) pthread_create(&t[i], 0, work, 0);
            for (int i = 0; i < 20; i++) JOIN(t[i]); return 0; }}""",
    "after a long loop": f"""{INPUT}
        static void *work(void *arg) {{
            for (volatile int i = 0; i < 3000; i++) ; shared++; return 0; }}
        int main(void) {{ CREATE(a, work); CREATE(b, work); JOIN(a); JOIN(b); return 0; }}""",
    "behind locks of assumptions": f"""{INPUT} static int m;
        void __VERIFIER_atomic_acquire(void) {{ if (m) abort(); m = 1; }}
        void __VERIFIER_atomic_release(void) {{ m = 0; }}
        static void *work(void *arg) {{ for (int i = 0; i < 6; i++) {{
            __VERIFIER_atomic_acquire(); shared++; __VERIFIER_atomic_release(); }}
            shared = 9; return 0; }}
        int main(void) {{ for (int i = 0; i < 4; i++) {{ CREATE(a, work); }} pthread_exit(0); }}""",
    "among endlessly many threads": f"""{INPUT}
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static void *work(void *arg) {{ pthread_mutex_lock(&m); int x = ++shared;
            pthread_mutex_unlock(&m); if (x == 5) shared = 0; return 0; }}
        int main(void) {{ for (;;) {{ CREATE(a, work); }} }}""",
}


def search(machine: Machine, seed: int = 0, executions: int = 1500) -> tuple[Race | None, int]:
    found: list[Race] = []

    def take(race: Race) -> bool:
        found.append(race)
        return True

    directed = DirectedSearch(machine, None, seed)
    directed.run(lambda: float(executions - directed.executions), take)
    return (found[0] if found else None), directed.executions


@pytest.mark.parametrize("name", HIDDEN)
def test_finds_the_race(name: str) -> None:
    race, _ = search(machine_of(HIDDEN[name]))
    assert race is not None


def test_the_seed_decides() -> None:
    machine = machine_of(HIDDEN["behind locks of assumptions"])
    first, again, other = search(machine, 1), search(machine, 1), search(machine, 2)
    assert first == again
    assert first != other


def test_constants_are_followed_backwards() -> None:
    machine = machine_of(racing("x * 3 + 1 == 3000022"))
    assert 1000007 in interesting_constants(machine.program)


def test_no_race_where_a_lock_of_assumptions_protects() -> None:
    source = HIDDEN["behind locks of assumptions"].replace("shared = 9;", "")
    race, _ = search(machine_of(source), executions=300)
    assert race is None
