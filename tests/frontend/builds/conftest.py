"""A small project: a program, a static library with a race in it, and a tool without threads."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

QUEUE_H = """\
#ifndef QUEUE_H
#define QUEUE_H
void push(int value);
int pending(void);
#endif
"""
QUEUE_C = """\
#include "queue.h"
static int items[8], count;
void push(int value) { items[count++ % 8] = value; }
int pending(void) { return count; }
"""
SERVER_C = """\
#include <pthread.h>
#include "queue.h"
static void *worker(void *argument) { push(1); return argument; }
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, worker, 0);
    pthread_create(&second, 0, worker, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return pending();
}
"""
TOOL_C = """\
#include "queue.h"
int main(void) { push(2); return pending(); }
"""
FILES = {
    "lib/queue.h": QUEUE_H,
    "lib/queue.c": QUEUE_C,
    "server.c": SERVER_C,
    "tool.c": TOOL_C,
}

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files, without a build; the tools of this Python's wheels first in `PATH`."""
    for name, text in FILES.items():
        path = tmp_path / "my project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tools = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([tools, os.environ["PATH"]]))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "my project")
    return tmp_path / "my project"
