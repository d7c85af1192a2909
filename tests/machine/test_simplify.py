"""Schedules for people reach the same race with fewer context switches."""

from pathlib import Path

import pytest

from raceproof.engines.interleave.search import DirectedSearch
from raceproof.frontend import load_program
from raceproof.ir import Call, FunctionAddress
from raceproof.machine.findings import Race
from raceproof.machine.machine import Machine
from raceproof.machine.replay import replay, stands_at_race
from raceproof.machine.simplify import blocks_of, simplified
from raceproof.options import Options

HANDOVER = """
#include <pthread.h>
int ready, data, noise[8];
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *talker(void *x) { for (int i = 0; i < 8; i++) noise[i]++; return x; }
void *writer(void *x) {
  pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m);
  data = 1;
  return x;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, talker, 0);
  pthread_create(&b, 0, writer, 0);
  for (int i = 0; i < 50; i++) {
    pthread_mutex_lock(&m); int r = ready; pthread_mutex_unlock(&m);
    if (r) { data++; break; }
  }
  return 0;
}
"""


def handover(folder: Path) -> Machine:
    source = folder / "handover.c"
    source.write_text(HANDOVER)
    return Machine(load_program([source], Options()))


def a_race(machine: Machine, seed: int) -> Race:
    found: list[Race] = []
    ticks = iter(range(3000, -1, -1))

    def take(race: Race) -> bool:
        found.append(race)
        return True

    DirectedSearch(machine, None, seed).run(lambda: next(ticks), take)
    return found[0]


@pytest.mark.parametrize("seed", range(5))
def test_fewer_switches_to_the_same_race(seed: int, tmp_path: Path) -> None:
    machine = handover(tmp_path)
    before = a_race(machine, seed).schedule
    after = simplified(machine, before)
    assert stands_at_race(machine, after)
    assert after.instructions == before.instructions
    assert len(blocks_of(after)) <= min(len(blocks_of(before)), 5)
    assert replay(machine, after).reached


def test_every_creation_is_shown(tmp_path: Path) -> None:
    machine = handover(tmp_path)
    after = simplified(machine, a_race(machine, 0).schedule)
    creations = [
        i.number
        for i in machine.program.functions["main"].instructions
        if isinstance(i, Call) and isinstance(i.callee, FunctionAddress)
        if i.callee.name == "pthread_create"
    ]
    assert [s.instruction for s in after.shown_steps if s.instruction in creations] == creations


UNINVOLVED = """
#include <pthread.h>
int data, tally[64];
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *reader(void *x) {
  for (int i = 0; i < 20; i++) { pthread_mutex_lock(&m); tally[i]++; pthread_mutex_unlock(&m); }
  return x;
}
void *writer(void *x) {
  int rounds = __VERIFIER_nondet_int();
  for (int i = 0; i < rounds && i < 30; i++) {
    pthread_mutex_lock(&m); tally[i]++; pthread_mutex_unlock(&m);
  }
  data++;
  return x;
}
int main(void) {
  pthread_t t[4];
  pthread_create(&t[0], 0, reader, 0);
  pthread_create(&t[1], 0, writer, 0);
  pthread_create(&t[2], 0, reader, 0);
  pthread_create(&t[3], 0, writer, 0);
  return 0;
}
"""


@pytest.mark.parametrize("seed", range(3))
def test_only_the_racing_threads_take_steps(seed: int, tmp_path: Path) -> None:
    source = tmp_path / "uninvolved.c"
    source.write_text(UNINVOLVED)
    machine = Machine(load_program([source], Options()))
    after = simplified(machine, a_race(machine, seed).schedule)
    assert {step.thread for step in after.steps} <= {0, 2, 4}
    assert set(after.inputs) <= {0}
    assert len(after.steps) <= 8
    assert replay(machine, after).reached
