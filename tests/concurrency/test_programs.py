"""Events of compiled programs."""

from pathlib import Path

from raceproof.concurrency import Events
from raceproof.concurrency import events as kinds
from raceproof.frontend import load_program
from raceproof.ir import Call, FunctionAddress, GlobalAddress
from raceproof.options import Options
from tests.concurrency.building import MODELS

SOURCE = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
char name[8];
int count;

void __VERIFIER_atomic_step(void) { count++; }
void reach_error(void) { abort(); }

static void *worker(void *unused) {
    if (pthread_mutex_trylock(&m) == 0) {
        strcpy(name, "worker");
        pthread_mutex_unlock(&m);
    }
    __VERIFIER_atomic_step();
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, worker, malloc(4));
    printf("%s %d %p\\n", name, count, (void *)&m);
    pthread_join(id, 0);
    if (count > 1) reach_error();
    exit(0);
}
"""


def test_events_of_a_program(tmp_path: Path) -> None:
    source = tmp_path / "small.c"
    source.write_text(SOURCE)
    program = load_program([source], Options())
    events = Events(program, MODELS)
    found = [
        (instruction.callee.name, events.of(instruction))
        for _, instruction in program.all_instructions()
        if isinstance(instruction, Call) and isinstance(instruction.callee, FunctionAddress)
    ]
    assert {name: type(event).__name__ for name, event in found} == {
        "abort": "ProcessExit",
        "pthread_mutex_trylock": "LockAcquire",
        "strcpy": "LibraryCall",
        "pthread_mutex_unlock": "LockRelease",
        "__VERIFIER_atomic_step": "AtomicFunction",
        "malloc": "Allocate",
        "pthread_create": "ThreadCreate",
        "printf": "LibraryCall",
        "pthread_join": "ThreadJoin",
        "reach_error": "NoneType",
        "exit": "ProcessExit",
    }
    by_name = dict(found)
    create = by_name["pthread_create"]
    assert isinstance(create, kinds.ThreadCreate)
    assert isinstance(create.entry, FunctionAddress)
    assert create.entry.name == "worker"
    lock = by_name["pthread_mutex_trylock"]
    assert isinstance(lock, kinds.LockAcquire)
    assert isinstance(lock.lock, GlobalAddress)
    assert lock.lock.name == "m"
    printed = by_name["printf"]
    assert printed is not None
    read = [
        effect.pointer for effect in printed.effects if isinstance(effect.pointer, GlobalAddress)
    ]
    assert [pointer.name for pointer in read][1:] == ["name"]
