"""Small programs under many schedules: the set of ways in which they end."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from raceproof.frontend import load_program
from raceproof.machine.faults import ProgramExit
from raceproof.machine.inputs import RandomInputs
from raceproof.machine.machine import Machine
from raceproof.options import DataModel, Options

HEAD = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#define CREATE(id, f) pthread_t id; pthread_create(&id, 0, f, 0)
#define JOIN(id) pthread_join(id, 0)
"""


def machine_of(source: str, model: DataModel = DataModel.LP64, **settings: Any) -> Machine:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.c"
        path.write_text(HEAD + source)
        return Machine(load_program([path], Options(data_model=model)), **settings)


def run_once(machine: Machine, seed: int, most_steps: int = 2000) -> str:
    """Exit code, kind of fault, `deadlock` or `endless`."""
    generator = random.Random(seed)
    machine.reset(RandomInputs(generator))
    for _ in range(most_steps):
        enabled = machine.enabled()
        if not enabled:
            break
        machine.step(generator.choice(enabled))
    else:
        return "endless"
    ended = machine.ended
    if isinstance(ended, ProgramExit):
        return str(ended.code)
    return "deadlock" if ended is None else ended.kind


def outcomes(source: str, seeds: int = 80, **settings: Any) -> set[str]:
    machine = machine_of(source, **settings)
    return {run_once(machine, seed) for seed in range(seeds)}
