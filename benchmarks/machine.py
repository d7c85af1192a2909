"""How many IR instructions the concrete machine executes in a second, on small programs of its own.

Each program runs three times; the fastest counts. Instructions are counted in a run of their own.
Ends with exit code 1 if the slowest program without threads is below the limit.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raceproof.frontend import load_program
from raceproof.machine.machine import Machine
from raceproof.machine.segments import CompiledFunction
from raceproof.options import Options

LIMIT = 300_000

PROGRAMS = {
    "arithmetic": """
        int main(void) {
            unsigned h = 1, i;
            for (i = 0; i < 150000; i++) {
                h ^= i; h *= 16777619u; h ^= h >> 13;
                if (h & 1) h += i;
            }
            return h & 1;
        }""",
    "arrays": """
        static int sieve[20000];
        int main(void) {
            int found = 0;
            for (int i = 2; i < 20000; i++) {
                if (sieve[i]) continue;
                found++;
                for (int j = 2 * i; j < 20000; j += i) sieve[j] = 1;
            }
            return found & 1;
        }""",
    "local array": """
        int main(void) {
            int v[300];
            for (int i = 0; i < 300; i++) v[i] = i * 7919 % 301;
            for (int i = 0; i < 300; i++)
                for (int j = 0; j + 1 < 300 - i; j++)
                    if (v[j] > v[j + 1]) { int t = v[j]; v[j] = v[j + 1]; v[j + 1] = t; }
            return v[0];
        }""",
    "calls": """
        static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        int main(void) { return fib(20) & 1; }""",
    "pointers": """
        #include <stdlib.h>
        struct node { struct node *next; int key; };
        int main(void) {
            struct node *list = 0;
            int sum = 0;
            for (int i = 0; i < 500; i++) {
                struct node *n = malloc(sizeof *n);
                n->key = i; n->next = list; list = n;
            }
            for (int i = 0; i < 60; i++)
                for (struct node *n = list; n; n = n->next) sum += n->key;
            return sum & 1;
        }""",
    "floats": """
        int main(void) {
            double x = 0.5, s = 0;
            for (int i = 1; i < 60000; i++) { x = 3.7 * x * (1 - x); s += x / i; }
            return s > 1;
        }""",
    "two threads": """
        #include <pthread.h>
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static int shared;
        static void *work(void *arg) {
            for (int i = 0; i < 1500; i++) {
                int t = i * 3 + 1;
                for (int j = 0; j < 20; j++) t = t * 5 + j;
                pthread_mutex_lock(&m); shared += t & 1; pthread_mutex_unlock(&m);
            }
            return 0;
        }
        int main(void) {
            pthread_t a, b;
            pthread_create(&a, 0, work, 0);
            pthread_create(&b, 0, work, 0);
            pthread_join(a, 0);
            pthread_join(b, 0);
            return 0;
        }""",
}


def run(machine: Machine) -> float:
    """Seconds of one execution, the threads in turn."""
    start = time.perf_counter()
    machine.reset()
    turn = 0
    while enabled := machine.enabled():
        machine.step(enabled[turn % len(enabled)])
        turn += 1
    return time.perf_counter() - start


def instructions(machine: Machine) -> int:
    """How many one execution takes: once more, with segments that count."""
    executed = 0

    def counting(code: Callable[[list[Any]], Any], count: int) -> Callable[[list[Any]], Any]:
        def wrapped(registers: list[Any]) -> Any:
            nonlocal executed
            executed += count
            return code(registers)

        return wrapped

    compiled: list[CompiledFunction] = [
        machine.compiled(function) for function in machine.program.defined
    ]
    originals = [function.code for function in compiled]
    for function in compiled:
        pairs = zip(function.code, function.counts, strict=True)
        function.code = [counting(code, count) for code, count in pairs]
    run(machine)
    for function, code in zip(compiled, originals, strict=True):
        function.code = code
    return executed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="default: 3")
    runs = parser.parse_args().runs
    slowest = float("inf")
    print(f"{'program':<14}{'instructions':>14}{'seconds':>10}{'per second':>14}")
    for name, source in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.c"
            path.write_text(source, encoding="utf-8")
            machine = Machine(load_program([path], Options()))
        count = instructions(machine)
        seconds = min(run(machine) for _ in range(runs))
        print(f"{name:<14}{count:>14,}{seconds:>10.3f}{count / seconds:>14,.0f}")
        if name != "two threads":
            slowest = min(slowest, count / seconds)
    print(f"at least {LIMIT:,} wanted: {'ok' if slowest >= LIMIT else 'too slow'}")
    return 0 if slowest >= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
