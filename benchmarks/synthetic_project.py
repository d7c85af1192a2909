"""How `raceproof scan` grows with the size of a project.

    python benchmarks/synthetic_project.py                      10k, 30k, 100k and 300k lines
    python benchmarks/synthetic_project.py --lines 300000       one size
    python benchmarks/synthetic_project.py --write DIR --lines 30000   only write the project

Writes a project of so many lines and scans it with an empty cache, again with nothing changed, and
once more after a change of one function; tells how many of the planted races were found, and how
many findings are something else. The project looks like a server: subsystems of some
modules each, two worker threads for each subsystem, created by a wrapper; modules with a lock of
their own inside the lock of the subsystem, both taken by wrappers; lists, tables, counters, and
much code that has nothing to do with threads. Into some modules a race is planted, of six kinds,
one of which hides behind three calls. `manifest.json` lists them.

The same seed writes the same project.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SIZES = (10_000, 30_000, 100_000, 300_000)
MODULE_LINES = 700
MODULES = 6
"""In a subsystem."""
EVERY = 3
"""Of so many modules one has a planted race."""
SHOWN = 5
"""Findings that are not planted, of each size."""
KINDS = ("no lock", "wrong lock", "after the unlock", "read without lock", "deep", "element")

GUARD_H = """\
#ifndef GUARD_H
#define GUARD_H
#include <pthread.h>
struct guard { pthread_mutex_t mutex; int depth; };
struct node { struct node *next; int value; };
void guard_init(struct guard *guard);
void guard_enter(struct guard *guard);
void guard_leave(struct guard *guard);
void list_push(struct node **head, struct node *node);
int list_sum(struct node *head);
int spawn(pthread_t *thread, void *(*entry)(void *), void *argument);
void await(pthread_t thread);
#endif
"""
GUARD_C = """\
#include "guard.h"

void guard_init(struct guard *guard)
{
    pthread_mutex_init(&guard->mutex, 0);
    guard->depth = 0;
}

void guard_enter(struct guard *guard)
{
    pthread_mutex_lock(&guard->mutex);
    guard->depth++;
}

void guard_leave(struct guard *guard)
{
    guard->depth--;
    pthread_mutex_unlock(&guard->mutex);
}

void list_push(struct node **head, struct node *node)
{
    node->next = *head;
    *head = node;
}

int list_sum(struct node *head)
{
    int sum = 0;
    for (struct node *node = head; node; node = node->next)
        sum += node->value;
    return sum;
}

int spawn(pthread_t *thread, void *(*entry)(void *), void *argument)
{
    return pthread_create(thread, 0, entry, argument);
}

void await(pthread_t thread)
{
    pthread_join(thread, 0);
}
"""


@dataclass
class Planted:
    """A race that the scan must find: its location and the two lines."""

    location: str
    kind: str
    file: str
    lines: list[int]


@dataclass
class Text:
    """The lines of one file, written from the top."""

    file: str
    lines: list[str] = field(default_factory=list)

    def add(self, text: str) -> int:
        """Appends lines; returns the number of the last one."""
        self.lines.extend(text.split("\n"))
        return len(self.lines)


class Module:
    """One C file: a struct with a guard, functions that use it, a `run` that calls them."""

    def __init__(self, name: str, system: str, folder: str, rng: random.Random) -> None:
        self.name = name
        self.system = system
        self.rng = rng
        self.text = Text(f"{folder}/{name}.c")
        self.calls: list[str] = []
        self.helpers: list[str] = []

    def write(self, lines: int, kind: str | None) -> Planted | None:
        n = self.name
        self.text.add(
            f'#include "../common/guard.h"\n'
            f"extern struct guard {self.system}_guard;\n\n"
            f"struct {n}_state {{\n    struct guard guard;\n    struct guard other;\n"
            f"    int served, failed, peak;\n    int slots[16];\n    struct node *head;\n"
            f"    int spare;\n}};\n\n"
            f"static struct {n}_state state;\n"
            f"int {n}_limit;\nint {n}_leak;\n"
            f"static int {n}_table[64];\n"
        )
        self._init()
        planted = self._plant(kind) if kind else None
        makers = (self._helper, self._helper, self._update, self._slots, self._list, self._nested)
        while len(self.text.lines) < lines - 25:
            self.rng.choice(makers)()
        calls = "\n".join(f"    result += {call}(round);" for call in self.calls)
        self.text.add(f"int {n}_run(int round)\n{{\n    int result = 0;\n{calls}\n"
                      f"    return result;\n}}")  # fmt: skip
        return planted

    def _init(self) -> None:
        n = self.name
        self.text.add(
            f"void {n}_init(int limit)\n{{\n    guard_init(&state.guard);\n"
            f"    guard_init(&state.other);\n    {n}_limit = limit;\n"
            f"    for (int i = 0; i < 64; i++)\n        {n}_table[i] = i * limit;\n}}\n"
        )

    def _function(self, role: str) -> str:
        return f"{self.name}_{role}_{len(self.text.lines)}"

    def _value(self) -> str:
        """An expression over `round` that calls a helper if there is one."""
        number = self.rng.randrange(1, 100)
        if self.helpers and self.rng.random() < 0.8:
            return f"{self.rng.choice(self.helpers)}(round, {number})"
        return f"(round * {number}) % 17"

    def _helper(self) -> None:
        name = self._function("mix")
        steps = "\n".join(
            f"        {self.rng.choice(('a', 'b'))} "
            f"{self.rng.choice(('+=', '-=', '^='))} "
            f"{self.rng.choice(('a', 'b', 'i'))} * {self.rng.randrange(2, 50)};"
            for _ in range(self.rng.randrange(6, 16))
        )
        inner = ""
        if self.helpers:
            inner = f"        b += {self.rng.choice(self.helpers[-6:])}(a, i);\n"
        self.text.add(
            f"static int {name}(int a, int b)\n{{\n    int best = {self.name}_limit;\n"
            f"    for (int i = 0; i < {self.rng.randrange(3, 30)}; i++) {{\n{steps}\n"
            f"        if (a > best)\n            best = a + {self.name}_table[i & 63];\n"
            f"{inner if self.rng.random() < 0.3 else ''}    }}\n    return best - b;\n}}\n"
        )
        self.helpers.append(name)

    def _update(self) -> None:
        name = self._function("serve")
        field_ = self.rng.choice(("served", "failed", "peak"))
        self.text.add(
            f"static int {name}(int round)\n{{\n    int value = {self._value()};\n"
            f"    guard_enter(&state.guard);\n    state.{field_} += value;\n"
            f"    if (state.{field_} > {self.name}_limit)\n        state.{field_} = 0;\n"
            f"    guard_leave(&state.guard);\n    return value;\n}}\n"
        )
        self.calls.append(name)

    def _slots(self) -> None:
        name = self._function("slot")
        self.text.add(
            f"static int {name}(int round)\n{{\n    int sum = 0;\n    guard_enter(&state.guard);\n"
            f"    for (int i = 0; i < 16; i++) {{\n        state.slots[i] += {self._value()};\n"
            f"        sum += state.slots[i];\n    }}\n    guard_leave(&state.guard);\n"
            f"    return sum;\n}}\n"
        )
        self.calls.append(name)

    def _list(self) -> None:
        name = self._function("keep")
        self.text.add(
            f"static struct node {name}_node;\n"
            f"static int {name}(int round)\n{{\n    int sum;\n    guard_enter(&state.guard);\n"
            f"    {name}_node.value = {self._value()};\n"
            f"    list_push(&state.head, &{name}_node);\n    sum = list_sum(state.head);\n"
            f"    guard_leave(&state.guard);\n    return sum;\n}}\n"
        )
        self.calls.append(name)

    def _nested(self) -> None:
        if not self.calls:
            return
        name = self._function("nest")
        inner = self.rng.choice(self.calls)
        self.text.add(
            f"static int {name}(int round)\n{{\n    int result;\n"
            f"    guard_enter(&{self.system}_guard);\n    result = {inner}(round);\n"
            f"    guard_leave(&{self.system}_guard);\n    return result + {self._value()};\n}}\n"
        )
        self.calls.append(name)

    def _plant(self, kind: str) -> Planted:
        """One function that races with the same function in the other worker, or with a second."""
        n = self.name
        name = self._function("plant")
        start = len(self.text.lines)
        location = f"{n}_leak"
        match kind:
            case "no lock":
                body, at = f"    {n}_leak += round;", [3]
            case "wrong lock":
                location = "state.spare"
                body = (
                    "    if (round & 1) {\n        guard_enter(&state.guard);\n"
                    "        state.spare = round;\n        guard_leave(&state.guard);\n"
                    "    } else {\n"
                    "        guard_enter(&state.other);\n        state.spare = 0;\n"
                    "        guard_leave(&state.other);\n    }"
                )
                at = [5, 9]
            case "after the unlock":
                body = (
                    f"    guard_enter(&state.guard);\n    {n}_leak = round;\n"
                    f"    guard_leave(&state.guard);\n    {n}_leak++;"
                )
                at = [4, 6]
            case "read without lock":
                body = (
                    f"    if ({n}_leak > 3)\n        return 0;\n    guard_enter(&state.guard);\n"
                    f"    {n}_leak = round;\n    guard_leave(&state.guard);"
                )
                at = [3, 6]
            case "element":
                location = "state.slots"
                body, at = "    state.slots[round & 15] = 0;", [3]
            case _:
                self.text.add(
                    f"static void {name}_c(int *at, int by)\n{{\n    *at += by;\n}}\n\n"
                    f"static void {name}_b(int *at, int by)\n{{\n    {name}_c(at, by + 1);\n}}\n\n"
                    f"static void {name}_a(int by)\n{{\n    {name}_b(&{n}_leak, by);\n}}\n"
                )
                line = start + 3
                self.text.add(f"static int {name}(int round)\n{{\n    {name}_a(round);\n"
                              f"    return round;\n}}\n")  # fmt: skip
                self.calls.append(name)
                return Planted(location, kind, self.text.file, [line])
        self.text.add(f"static int {name}(int round)\n{{\n{body}\n    return round;\n}}\n")
        self.calls.append(name)
        return Planted(location, kind, self.text.file, [start + number for number in at])


def generate(folder: Path, lines: int, seed: int = 1) -> list[Planted]:
    """Writes a project of about `lines` lines; returns its races, also in `manifest.json`."""
    rng = random.Random(seed)
    texts = [
        Text("common/guard.h", GUARD_H.split("\n")),
        Text("common/guard.c", GUARD_C.split("\n")),
    ]
    planted: list[Planted] = []
    systems: list[tuple[str, list[str]]] = []
    written = sum(len(text.lines) for text in texts)
    count = 0
    while written < lines:
        system = f"sys{len(systems)}"
        modules: list[str] = []
        while written < lines and len(modules) < MODULES:
            module = Module(f"mod{count}", system, system, rng)
            kind = KINDS[count // EVERY % len(KINDS)] if count % EVERY == 0 else None
            size = min(MODULE_LINES, max(lines - written, 120))
            found = module.write(size, kind)
            planted.extend([found] if found else [])
            modules.append(module.name)
            texts.append(module.text)
            written += len(module.text.lines)
            count += 1
        systems.append((system, modules))
        texts.append(_system(system, modules))
        written += len(texts[-1].lines)
    texts.append(_main([system for system, _ in systems]))
    for text in texts:
        path = folder / text.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(text.lines) + "\n", encoding="utf-8")
    manifest = [vars(one) for one in planted]
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return planted


def _system(system: str, modules: list[str]) -> Text:
    text = Text(f"{system}/{system}.c")
    text.add('#include "../common/guard.h"')
    for name in modules:
        text.add(f"void {name}_init(int limit);\nint {name}_run(int round);")
    text.add(f"\nstruct guard {system}_guard;\nstatic pthread_t {system}_threads[2];\n")
    runs = "\n".join(f"        sum += {name}_run(round);" for name in modules)
    text.add(
        f"static void *{system}_worker(void *argument)\n{{\n    int sum = 0;\n"
        f"    for (int round = 0; round < 100; round++) {{\n{runs}\n    }}\n"
        f"    return sum ? argument : 0;\n}}\n"
    )
    inits = "\n".join(f"    {name}_init({10 + number});" for number, name in enumerate(modules))
    text.add(
        f"void {system}_start(void)\n{{\n    guard_init(&{system}_guard);\n{inits}\n"
        f"    spawn(&{system}_threads[0], {system}_worker, 0);\n"
        f"    spawn(&{system}_threads[1], {system}_worker, 0);\n}}\n"
    )
    text.add(f"void {system}_stop(void)\n{{\n    await({system}_threads[0]);\n"
             f"    await({system}_threads[1]);\n}}")  # fmt: skip
    return text


def _main(systems: list[str]) -> Text:
    text = Text("main.c")
    for system in systems:
        text.add(f"void {system}_start(void), {system}_stop(void);")
    starts = "\n".join(f"    {system}_start();" for system in systems)
    stops = "\n".join(f"    {system}_stop();" for system in systems)
    text.add(f"\nint main(void)\n{{\n{starts}\n{stops}\n    return 0;\n}}")
    return text


# --- measuring ------------------------------------------------------------------------------------


@dataclass
class Run:
    seconds: float
    findings: list[dict[str, Any]]


def scan(folder: Path, jobs: int | None) -> Run:
    output = folder / ".raceproof" / "report.json"
    words = ["scan", str(folder), "--format", "json", "-o", str(output), "-q"]
    output.parent.mkdir(exist_ok=True)
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "raceproof", *words, *(["--jobs", str(jobs)] if jobs else [])],
        check=False,
    )
    seconds = time.monotonic() - started
    if done.returncode not in (0, 1):
        raise SystemExit(f"the scan failed with exit code {done.returncode}")
    return Run(seconds, json.loads(output.read_text("utf-8"))["findings"])


def is_found(planted: Planted, findings: list[dict[str, Any]]) -> bool:
    """Whether a finding names the location and one of its accesses is at a planted line."""
    return any(
        finding["location"]["name"].startswith(planted.location)
        and any(
            access["position"]["file"].endswith(planted.file)
            and access["position"]["line"] in planted.lines
            for access in finding["accesses"]
        )
        for finding in findings
    )


def change_one(folder: Path) -> None:
    """Another constant in one function of a module in the middle."""
    modules = sorted(folder.glob("sys*/mod*.c"))
    path = modules[len(modules) // 2]
    path.write_text(path.read_text("utf-8").replace("int best = ", "int best = 1 + ", 1), "utf-8")


def measure(folder: Path, lines: int, seed: int, jobs: int | None) -> Iterator[str]:
    planted = generate(folder, lines, seed)
    files = list(folder.rglob("*.[ch]"))
    total = sum(len(path.read_text("utf-8").splitlines()) for path in files)
    first = scan(folder, jobs)
    second = scan(folder, jobs)
    change_one(folder)
    third = scan(folder, jobs)
    found = sum(is_found(one, first.findings) for one in planted)
    extra = [f for f in first.findings if not any(is_found(one, [f]) for one in planted)]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 / 1024
    yield f"{total:>8}"
    yield f"{len(files):>6}"
    yield f"{first.seconds:>9.1f}"
    yield f"{first.seconds / total * 1000:>11.2f}"
    yield f"{second.seconds:>9.1f}"
    yield f"{third.seconds:>9.1f}"
    yield f"{found:>4} of {len(planted):<4}"
    yield f"{len(extra):>11}"
    yield f"{peak:>9.2f}"
    for one in planted:
        if not is_found(one, first.findings):
            print(f"missed: {one}", file=sys.stderr)
    for finding in extra[:SHOWN]:
        print(f"not planted: {finding['location']['name']}: {finding['message']}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--lines", type=int, action="append", help="a size (repeatable)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, help="processes (default: one for each core)")
    parser.add_argument("--write", type=Path, metavar="DIR", help="only write the project to DIR")
    arguments = parser.parse_args()
    sizes = arguments.lines or list(SIZES)
    if arguments.write is not None:
        generate(arguments.write, sizes[0], arguments.seed)
        return
    print("   lines |  files |   first s | s/1000 lines | nothing s | changed s | planted found "
          "| not planted | peak GiB")  # fmt: skip
    for lines in sizes:
        folder = Path(tempfile.mkdtemp(prefix="raceproof-synthetic-"))
        try:
            print(" | ".join(measure(folder, lines, arguments.seed, arguments.jobs)), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
