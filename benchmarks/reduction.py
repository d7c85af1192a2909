"""How many states and transitions the explorer needs at each level of its reduction.

On small programs of its own, typical of how threads are used, and on files that you name. All
levels must agree, else it ends with exit code 1.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from raceproof.engines.interleave.explorer import Conclusion, Exploration, Explorer, Reduction
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.machine.machine import Machine
from raceproof.options import Options

HEAD = """
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, own[3] = {PTHREAD_MUTEX_INITIALIZER};
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int x, part[3], ready; atomic_int a, flags[3]; sem_t s;
static void *run(void *number);
int main(void) {
  pthread_t t[3]; sem_init(&s, 0, 1);
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, run, &part[i]);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return x; }
static void *run(void *mine) { int i = (int *)mine - part; """

PROGRAMS = {
    "one lock": "for (int k = 0; k < 2; k++) { pthread_mutex_lock(&m); x++; x++;"
    " pthread_mutex_unlock(&m); }",
    "a lock each": "for (int k = 0; k < 2; k++) { pthread_mutex_lock(&own[i]); part[i]++;"
    " pthread_mutex_unlock(&own[i]); }",
    "an atomic each": "for (int k = 0; k < 3; k++) atomic_fetch_add(&flags[i], 1);",
    "one atomic": "for (int k = 0; k < 2; k++) atomic_fetch_add(&a, 1);",
    "own work, then one lock": "for (int k = 0; k < 2; k++) { pthread_mutex_lock(&own[i]);"
    " part[i]++; pthread_mutex_unlock(&own[i]); }"
    " pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
    "condition": "pthread_mutex_lock(&m); if (i == 0) { ready = 1; pthread_cond_broadcast(&c); }"
    " while (!ready) pthread_cond_wait(&c, &m); x++; pthread_mutex_unlock(&m);",
    "semaphore": "sem_wait(&s); x++; sem_post(&s);",
}
MOST_STATES = 20_000


def explored(program: Program) -> list[Exploration] | None:
    """At each level; None if one does not come to an end."""
    found = []
    for level in Reduction:
        explorer = Explorer(Machine(program, is_open=True), reduction=level)
        found.append(explorer.run(lambda: 1.0, MOST_STATES))
        if found[-1].conclusion is Conclusion.INCOMPLETE:
            return None
    return found


def row(name: str, found: list[Exploration]) -> None:
    cells = [f"{one.states:>7} / {one.transitions:<7}" for one in found]
    print(f"{name:<26}", *cells, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    print(f"{'states / transitions':<26}", *[f"{level.name.lower():^17}" for level in Reduction])
    disagree = False
    with tempfile.TemporaryDirectory() as folder:
        for name, body in PROGRAMS.items():
            path = Path(folder) / "program.c"
            path.write_text(HEAD + body + " return 0; }", encoding="utf-8")
            found = explored(load_program([path], Options()))
            if found is None:
                print(f"{name}: too many states")
                continue
            disagree |= len({one.conclusion for one in found}) > 1
            row(name, found)
    for path in options.files:
        found = explored(load_program([path], Options()))
        if found is None:
            print(f"{path.name}: too many states, or not for the explorer")
            continue
        disagree |= len({one.conclusion for one in found}) > 1
        row(path.stem[:26], found)
    return int(disagree)


if __name__ == "__main__":
    sys.exit(main())
