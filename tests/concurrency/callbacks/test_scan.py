"""Handlers in a project: one file registers them, another runs the loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from raceproof.options import Options
from raceproof.project import find_project, scan
from raceproof.verdict import Finding

HEADER = """
#include <pthread.h>
#include <stdlib.h>
struct event { void *library[16]; };
void event_set(struct event *, int, short, void (*)(int, short, void *), void *);
int event_base_loop(void *, int);
struct connection { struct event event; pthread_mutex_t lock; int requests; };
void watch(struct connection *);
"""
HANDLERS = """
#include "server.h"
static void on_read(int fd, short what, void *argument)
{
    struct connection *c = argument;
    pthread_mutex_lock(&c->lock);
    c->requests++;
    pthread_mutex_unlock(&c->lock);
}
void watch(struct connection *c) { event_set(&c->event, 3, 2, on_read, c); }
"""
MAIN = """
#include "server.h"
static void *worker(void *base) { event_base_loop(base, 0); return NULL; }
int main(void)
{
    pthread_t first, second;
    struct connection *c = malloc(sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->requests = 0;
    watch(c);
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
"""


def findings(folder: Path, handlers: str) -> tuple[Finding, ...]:
    for name, text in (("server.h", HEADER), ("handlers.c", handlers), ("main.c", MAIN)):
        (folder / name).write_text(text)
    options = Options(jobs=1)
    return scan(find_project([folder], options), options, None).verdict.findings


@pytest.mark.parametrize("is_locked", [True, False])
def test_handlers_race_where_they_do_not_lock(is_locked: bool, tmp_path: Path) -> None:
    text = HANDLERS
    if not is_locked:
        text = text.replace("pthread_mutex_lock(&c->lock);", "").replace(
            "pthread_mutex_unlock(&c->lock);", ""
        )
    racing = [
        finding
        for finding in findings(tmp_path, text)
        if any(access.function == "on_read" for access in finding.accesses)
    ]
    assert bool(racing) is not is_locked
