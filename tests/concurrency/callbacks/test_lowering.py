"""What is written into a program for the calls that libraries make."""

from __future__ import annotations

from pathlib import Path

import pytest

from raceproof.concurrency import Models
from raceproof.concurrency.callbacks import is_synthesized, with_callbacks
from raceproof.concurrency.callbacks.listing import HandlerListing
from raceproof.errors import UserError
from raceproof.ir import Call, FunctionAddress, Program
from raceproof.ir.verify import broken_promises
from raceproof.options import UnknownCallbacks
from tests.concurrency.callbacks.lowering import lowered
from tests.concurrency.callbacks.programs import UNKNOWN, libevent
from tests.lowering import lower

QUEUE_WORK = """
typedef struct uv_work_s { void *data; } uv_work_t;
int uv_queue_work(void *, uv_work_t *, void (*)(uv_work_t *), void (*)(uv_work_t *, int));
int uv_run(void *, int);
static void work(uv_work_t *request) { request->data = 0; }
static void done(uv_work_t *request, int status) { request->data = 0; }
uv_work_t request;
int main(void) { uv_queue_work(0, &request, work, done); return uv_run(0, 0); }
"""
TIMER = """
#include <signal.h>
#include <time.h>
#include <string.h>
static void expired(union sigval value) { }
int main(void)
{
    struct sigevent event;
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = expired;
    return timer_create(CLOCK_REALTIME, &event, &timer);
}
"""
WRAPPED = """
struct event { void *library[16]; };
void event_set(struct event *, int, short, void (*)(int, short, void *), void *);
int event_dispatch(void);
static int seen;
static void handler(int fd, short what, void *argument) { seen = fd; }
static void watch(struct event *event, void (*function)(int, short, void *))
{
    event_set(event, 1, 2, function, event);
}
struct event event;
int main(void) { watch(&event, handler); return event_dispatch(); }
"""
PROGRAMS = {
    "libevent": libevent(),
    "unknown": UNKNOWN,
    "uv_queue_work": QUEUE_WORK,
    "timer": TIMER,
    "wrapped": WRAPPED,
}


def callees(program: Program, name: str) -> list[str]:
    return [
        call.callee.name
        for function in program.defined
        if name in function.name
        for call in function.instructions
        if isinstance(call, Call) and isinstance(call.callee, FunctionAddress)
    ]


@pytest.mark.parametrize("choice", UnknownCallbacks)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_the_program_stays_what_a_program_is(text: str, choice: UnknownCallbacks) -> None:
    assert broken_promises(lowered(text, choice)) == []


def test_programs_without_callbacks_stay_as_they_are() -> None:
    program = lower("int puts(const char *); int main(void) { return puts(0); }")
    assert with_callbacks(program, Models.load(), UnknownCallbacks.THREAD) is program


def test_it_is_done_once() -> None:
    program = lowered(libevent())
    assert with_callbacks(program, Models.load(), UnknownCallbacks.THREAD) is program


def test_the_loop_calls_the_handler() -> None:
    program = lowered(libevent())
    assert "on_read" in callees(program, "raceproof$loop$libevent")
    assert "raceproof$loop$libevent" in callees(program, "raceproof$event_base_loop")
    assert "event_set" in callees(program, "raceproof$event_set")


def test_work_runs_on_a_thread_and_then_the_rest_in_the_loop() -> None:
    program = lowered(QUEUE_WORK)
    threads = [f.name for f in program.defined if f.name.endswith("$thread")]
    assert len(threads) == 1
    assert "work" in callees(program, threads[0])
    assert "done" in callees(program, "raceproof$loop$libuv")


def test_later_calls_of_unknown_code_run_what_was_given() -> None:
    program = lowered(UNKNOWN)
    assert {"open_server", "read_request"} <= set(callees(program, "raceproof$loop$unknown code"))
    assert "raceproof$loop$unknown code" in callees(program, "raceproof$library_main")


def test_handlers_are_listed_by_thread() -> None:
    handlers = HandlerListing(lowered(libevent()))
    assert handlers.of("worker") == ("on_read",)
    assert handlers.of("main") == ()


def test_ignored_callbacks_leave_the_program_alone() -> None:
    program = lowered(UNKNOWN, UnknownCallbacks.IGNORE)
    assert not any(is_synthesized(name) for name in program.functions)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{ function = 0, time = "loop" }', "'loop' names the loop"),
        ('{ function = 0, loop = "x" }', "'loop' names the loop"),
        ('{ function = "*0 + nothing" }', "is no offset"),
        ('{ function = 0, time = "thread", after = true }', "'after' needs a callback before it"),
        ('{ function = 0, when = { argument = 1, equals = "x" } }', "is no integer"),
    ],
)
def test_mistakes_in_models(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(f'[[function]]\nname = "f"\ncalls = [{text}]\n')
    with pytest.raises(UserError, match=complaint):
        Models.load([path])
