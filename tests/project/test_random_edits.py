"""Whatever was changed between two runs, the second says what a run from scratch would say.

A small project is drawn, then edited step by step: bodies change, functions move, lines shift, a
file goes, a header changes. Every step is scanned twice, with the cache of all steps before and
without; findings, positions, threads, protections and assumptions must be the same.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from raceproof.options import Options
from raceproof.project import ScanReport, find_project
from raceproof.project import scan as scan_project

HEADER = """\
#include <pthread.h>
#include <stdlib.h>
struct box { pthread_mutex_t lock; int value; struct box *next; void (*act)(struct box *); };
extern pthread_mutex_t m0, m1;
extern int g0, g1, table[4];
extern struct box b0, b1;
void *other(void *argument);
int spawn(pthread_t *t, void *(*run)(void *), void *argument);
%s
"""
STATEMENTS = (
    "g0++;",
    "g1 = g0;",
    "pthread_mutex_lock(&m0); g0 = 1; pthread_mutex_unlock(&m0);",
    "pthread_mutex_lock(&m1); g1 = 2; pthread_mutex_unlock(&m1);",
    "pthread_mutex_lock(&box->lock); box->value++; pthread_mutex_unlock(&box->lock);",
    "box->value = 3;",
    "box->next = malloc(sizeof(struct box));",
    "if (box->next) box->next->value = g0;",
    "box->act = f1;",
    "if (box->act) box->act(box);",
    "f0(box);",
    "f1(&b0);",
    "f2(&b1);",
    "f3(box->next);",
    "pthread_mutex_lock(&m0);",
    "pthread_mutex_unlock(&m0);",
    "{ pthread_t t; pthread_create(&t, 0, entry, box); pthread_join(t, 0); }",
    "{ pthread_t t; pthread_create(&t, 0, entry, box); }",
    "{ pthread_t t; spawn(&t, entry, box); pthread_join(t, 0); }",
    "{ pthread_t t; spawn(&t, other, &b1); }",
    "if (g1) g0 = 4;",
    "while (!g0) ;",
    "table[g1 & 3] = g0;",
    "table[2]++;",
    "if (pthread_mutex_trylock(&m1) == 0) { table[0] = 1; pthread_mutex_unlock(&m1); }",
    '{ static int calls; calls++; (void)"text"; }',
    "/* nothing */",
    "\n",
)
NAMES = ("f0", "f1", "f2", "f3")

Body = list[int]
bodies = st.lists(st.integers(0, len(STATEMENTS) - 1), max_size=4)
FUNCTIONS = (*NAMES, "entry", "other", "main")
projects = st.fixed_dictionaries(dict.fromkeys(FUNCTIONS, bodies))
edits = st.lists(
    st.one_of(
        st.tuples(st.just("body"), st.sampled_from(FUNCTIONS), bodies),
        st.tuples(st.just("shift"), st.sampled_from(("a.c", "b.c", "main.c")), st.just([0])),
        st.tuples(st.just("header"), st.just(""), bodies),
        st.tuples(st.just("move"), st.sampled_from(NAMES), st.just([0])),
        st.tuples(st.just("drop"), st.sampled_from(("a.c", "b.c")), st.just([0])),
    ),
    min_size=1,
    max_size=4,
)


class Drawn:
    """The project as it stands: which function is where, with what body."""

    def __init__(self, functions: dict[str, Body]) -> None:
        self.functions = dict(functions)
        self.files = {"f0": "a.c", "f1": "a.c", "f2": "b.c", "f3": "b.c"}
        self.blank = {"a.c": 0, "b.c": 0, "main.c": 0}
        self.dropped: set[str] = set()
        self.header = ""

    def edit(self, kind: str, name: str, body: Body) -> None:
        if kind == "body":
            self.functions[name] = body
        elif kind == "shift":
            self.blank[name] += 1
        elif kind == "header":
            self.header = "extern int more;\n" * len(body)
        elif kind == "move":
            self.files[name] = "b.c" if self.files[name] == "a.c" else "a.c"
        else:
            self.dropped ^= {name}

    def write(self, folder: Path) -> None:
        declared = "".join(f"void {name}(struct box *box);\n" for name in NAMES)
        declared += "void *entry(void *argument);\n"
        (folder / "all.h").write_text(HEADER % (declared + self.header))
        texts = {file: '#include "all.h"\n' + "\n" * self.blank[file] for file in self.blank}
        texts["main.c"] += (
            "pthread_mutex_t m0, m1;\nint g0, g1, table[4];\nstruct box b0, b1 = { .act = f2 };\n"
            "int spawn(pthread_t *t, void *(*run)(void *), void *argument)\n"
            "{ return pthread_create(t, 0, run, argument); }\n"
        )
        for name in NAMES:
            texts[self.files[name]] += f"void {name}(struct box *box)\n{self._body(name)}\n"
        for name in ("entry", "other"):
            texts["main.c"] += f"void *{name}(void *argument)\n{{ struct box *box = argument;\n"
            texts["main.c"] += self._body(name) + " return 0; }\n"
        texts["main.c"] += "int main(void)\n{ struct box *box = &b0; pthread_t t;\n"
        texts["main.c"] += "pthread_create(&t, 0, entry, &b0);\n" + self._body("main")
        texts["main.c"] += " return 0; }\n"
        for file, text in texts.items():
            if file in self.dropped:
                (folder / file).unlink(missing_ok=True)
            elif not (folder / file).exists() or (folder / file).read_text() != text:
                (folder / file).write_text(text)

    def _body(self, name: str) -> str:
        return "{\n" + "\n".join(f"    {STATEMENTS[n]}" for n in self.functions[name]) + "\n}"


def scanned(folder: Path, cache: Path | None) -> ScanReport:
    options = Options(jobs=1)
    return scan_project(find_project([folder], options), options, cache)


def check_equal(folder: Path) -> None:
    incremental = scanned(folder, folder / ".raceproof")
    afresh = scanned(folder, None)
    for part in ("outcome", "findings", "protections", "assumptions", "threads", "shared"):
        assert getattr(incremental.verdict, part) == getattr(afresh.verdict, part), part
    assert incremental.spans == afresh.spans
    assert incremental.files == afresh.files


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
@given(projects, edits)
def test_incremental_equals_from_scratch(
    functions: dict[str, Body], changes: list[tuple[str, str, Body]]
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="raceproof-edits-"))
    try:
        drawn = Drawn(functions)
        drawn.write(folder)
        check_equal(folder)
        for change in changes:
            drawn.edit(*change)
            drawn.write(folder)
            check_equal(folder)
    finally:
        shutil.rmtree(folder)
