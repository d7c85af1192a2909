"""An exploration proves nothing that rests on what it left out: a library function that fails, a
recursion deeper than the machine's stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from raceproof.concurrency import Models
from raceproof.engines.interleave.concrete import explore
from raceproof.frontend import load_program
from raceproof.machine.machine import Machine
from raceproof.options import MutexRules, Options

_PROGRAM = """
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>
int shared;
struct iovec parts[1] = {{&shared, sizeof shared}};
void *worker(void *arg) { shared++; return NULL; }
void descend(int left) { if (left) descend(left - 1); else shared = 0; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    %s
    return 0;
}
"""


@pytest.mark.parametrize(
    "step",
    [
        "if (close(7) != 0) shared = 0;",
        "if (sleep(1) != 0) shared = 0;",
        "close(7); if (errno == EINTR) shared = 0;",
        "if (fflush(stdout) == EOF) shared = 0;",
        "readv(0, parts, 1);",
        "descend(20000);",
    ],
)
def test_no_proof(step: str, tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text(_PROGRAM % step)
    models = Models.load()
    machine = Machine(load_program([source], Options()), models)
    assert not explore(machine, models, MutexRules.POSIX, lambda: 5.0).is_proved
