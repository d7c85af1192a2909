"""An unknown number of threads, each with an element or an object of its own.

Every program is the same but for a few lines: what a worker does with its argument, and how `main`
creates the workers and looks at what they did.
"""

from pathlib import Path

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options, Strategy
from raceproof.verdict import Outcome

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
extern int outside(void);
struct job {{ pthread_t id; int in, out; char name[4]; }};
static int *table, fixed[64], sum;
static long wide[64];
static pthread_t *ids;
static struct job *jobs, **list;
static void touch(int *place) {{ *place += 1; }}
static void *work(void *argument)
{{
    {work}
    return NULL;
}}
int main(void)
{{
    int n = outside(), i, j;
    ids = malloc(n * sizeof *ids);
    table = malloc(n * sizeof *table);
    jobs = malloc(n * sizeof *jobs);
    list = malloc(n * sizeof *list);
    {body}
    return 0;
}}
"""

JOIN = " for (i = 0; i < n; i++) pthread_join(ids[i], NULL); "


def loop(before: str, argument: str, after: str = "") -> str:
    return f"""for (i = 0; i < n; i++) {{
        {before}
        pthread_create(&ids[i], NULL, work, {argument});
        {after}
    }}"""


ELEMENT = loop("table[i] = i;", "&table[i]")
TOUCH = "int *mine = argument; *mine += 1;"
FIELDS = "struct job *mine = argument; mine->out = mine->in;"
NUMBER = "long mine = (long)argument; table[mine] += 1;"
NEW = "struct job *job = malloc(sizeof *job); job->in = i;"

RIGHT = {
    "element": (TOUCH, ELEMENT + JOIN),
    "element, in a function": ("touch(argument);", ELEMENT + JOIN),
    "element, looked at later": (
        TOUCH,
        ELEMENT + JOIN + "for (i = 0; i < n; i++) sum += table[i];",
    ),
    "element, looked at when its thread has ended": (
        TOUCH,
        ELEMENT + "for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); sum += table[i]; }",
    ),
    "element, changed when its thread has ended": (
        TOUCH,
        ELEMENT + "for (i = n; i-- > 0;) { pthread_join(ids[i], NULL); table[i] = 0; }",
    ),
    "element, no thread waits": (
        TOUCH,
        """pthread_t id; for (i = 0; i < n; i++) {
            table[i] = 0; pthread_create(&id, NULL, work, &table[i]); pthread_detach(id); }""",
    ),
    "element of a global array": (TOUCH, loop("", "&fixed[i]") + JOIN),
    "element, counted down": (
        TOUCH,
        "for (i = n - 1; i >= 0; i--) pthread_create(&ids[i], NULL, work, &table[i]);" + JOIN,
    ),
    "struct in an array": (FIELDS, loop("jobs[i].in = i;", "&jobs[i]") + JOIN),
    "struct in an array, with its id": (
        FIELDS,
        """for (i = 0; i < n; i++) {
            jobs[i].in = i; pthread_create(&jobs[i].id, NULL, work, &jobs[i]); }
        for (i = 0; i < n; i++) { pthread_join(jobs[i].id, NULL); sum += jobs[i].out; }""",
    ),
    "number": (NUMBER, loop("table[i] = 0;", "(void *)(long)i") + JOIN),
    "number, narrow": (
        "int mine = (int)(long)argument; table[mine] += 1;",
        loop("", "(void *)(long)i") + JOIN,
    ),
    "number, from one": (
        "long mine = (long)argument; table[mine - 1] += 1;",
        loop("", "(void *)(long)(i + 1)") + JOIN,
    ),
    "number, looked at when its thread has ended": (
        NUMBER,
        loop("table[i] = 0;", "(void *)(long)i")
        + "for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); sum += table[i]; }",
    ),
    "new object": (FIELDS, loop(NEW, "job") + JOIN),
    "new object, freed by its thread": (FIELDS + "free(mine);", loop(NEW, "job") + JOIN),
    "new object, any part": (
        "struct job *mine = argument; for (int k = 0; k < 4; k++) mine->name[k] = 0;",
        loop(NEW, "job") + JOIN,
    ),
    "new object, kept in a list with its id": (
        FIELDS,
        f"""for (i = 0; i < n; i++) {{
            {NEW} list[i] = job; pthread_create(&job->id, NULL, work, job); }}
        for (i = 0; i < n; i++) {{
            pthread_join(list[i]->id, NULL); sum += list[i]->out; free(list[i]); }}""",
    ),
    "new object, kept in a list": (
        FIELDS,
        loop(NEW + "list[i] = job; job->out = 0;", "job")
        + """for (i = 0; i < n; i++) {
            pthread_join(ids[i], NULL); sum += list[i]->out; free(list[i]); }""",
    ),
    "new object, from the list": (
        FIELDS,
        """for (i = 0; i < n; i++) {
            list[i] = malloc(sizeof **list); list[i]->in = i;
            pthread_create(&list[i]->id, NULL, work, list[i]); }
        for (i = 0; i < n; i++) { pthread_join(list[i]->id, NULL); free(list[i]); }""",
    ),
    "twice": (TOUCH, ELEMENT + JOIN + ELEMENT + JOIN),
}

WRONG = {
    "the same for all": (TOUCH, loop("", "&table[0]") + JOIN),
    "half of the index": (TOUCH, loop("", "&table[i / 2]") + JOIN),
    "a remainder": (TOUCH, loop("", "&fixed[i % 4]") + JOIN),
    "a masked index": (TOUCH, loop("", "&fixed[i & 7]") + JOIN),
    "the counter itself": (TOUCH, loop("", "&i") + JOIN),
    "the next one too": ("int *mine = argument; mine[1] = mine[0];", ELEMENT + JOIN),
    "the one before": ("int *mine = argument; mine[-1] = mine[0];", ELEMENT + JOIN),
    "wider than the elements": ("long long *mine = argument; *mine = 1;", ELEMENT + JOIN),
    "bytes apart": (TOUCH, loop("", "(char *)table + i") + JOIN),
    "changed after the creation": (TOUCH, loop("", "&table[i]", "table[i] = 1;") + JOIN),
    "looked at after the creation": (TOUCH, loop("", "&table[i]", "sum += table[i];") + JOIN),
    "the last one looked at": (TOUCH, ELEMENT + "sum = table[n - 1];" + JOIN),
    "the next one looked at when one has ended": (
        TOUCH,
        ELEMENT + "for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); sum += table[i + 1]; }",
    ),
    "looked at before its thread has ended": (
        TOUCH,
        ELEMENT + "for (i = 0; i < n; i++) { sum += table[i]; pthread_join(ids[i], NULL); }",
    ),
    "looked at in the other order": (
        TOUCH,
        ELEMENT
        + "for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); sum += table[n - 1 - i]; }",
    ),
    "initialised one ahead": (TOUCH, loop("if (i > 0) table[i - 1] = 0;", "&table[i]") + JOIN),
    "two loops over the same": (
        TOUCH,
        "ELEMENT for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, &table[i]);".replace(
            "ELEMENT", ELEMENT
        ),
    ),
    "loop entered again": (TOUCH, f"for (j = 0; j < 2; j++) {{ {ELEMENT} }}"),
    "two in a round": (
        TOUCH,
        loop("for (j = 0; j < 2; j++)", "&table[i]"),
    ),
    "counter set back": (
        TOUCH,
        "for (i = 0; i < n; i++) { pthread_create(&ids[i], NULL, work, &table[i]);"
        " if (outside()) i = 0; }",
    ),
    "array moved on": (TOUCH, loop("", "&table[i]", "table--;") + JOIN),
    "number, half": (NUMBER, loop("", "(void *)(long)(i / 2)") + JOIN),
    "number, remainder": (NUMBER, loop("", "(void *)(long)(i % 3)") + JOIN),
    "number, few bits": (
        "unsigned char mine = (unsigned char)(long)argument; table[mine] += 1;",
        loop("", "(void *)(long)i") + JOIN,
    ),
    "number, neighbour": (
        "long mine = (long)argument; table[mine + 1] = table[mine];",
        loop("", "(void *)(long)i") + JOIN,
    ),
    "number, halved by the thread": (
        "long mine = (long)argument; table[mine / 2] += 1;",
        loop("", "(void *)(long)i") + JOIN,
    ),
    "number, two strides": (
        "long mine = (long)argument; ((int *)wide)[mine] = 1; wide[mine] = 2;",
        loop("", "(void *)(long)i") + JOIN,
    ),
    "number, changed after the creation": (
        NUMBER,
        loop("", "(void *)(long)i", "table[i] = 7;") + JOIN,
    ),
    "one object for all": (
        FIELDS,
        "struct job *job = malloc(sizeof *job);" + loop("", "job") + JOIN,
    ),
    "new object, used after the creation": (FIELDS, loop(NEW, "job", "job->in = 3;") + JOIN),
    "new object for two": (
        FIELDS,
        loop(NEW + "pthread_create(&ids[i], NULL, work, job);", "job") + JOIN,
    ),
    "new object, sometimes": (
        FIELDS,
        "struct job *job = NULL;"
        + loop("if (job == NULL || outside()) job = malloc(sizeof *job);", "job")
        + JOIN,
    ),
    "freed before its thread has ended": (
        FIELDS,
        loop(NEW + "list[i] = job;", "job")
        + "for (i = 0; i < n; i++) { free(list[i]); pthread_join(ids[i], NULL); }",
    ),
    "the next one freed": (
        FIELDS,
        loop(NEW + "list[i] = job;", "job")
        + "for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); free(list[i + 1]); }",
    ),
    "list changed": (
        FIELDS,
        loop(NEW + "list[i] = job;", "job")
        + "list[0] = list[1];"
        + "for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); sum += list[i]->out; }",
    ),
    "part of the object is a common one": (
        "struct job *mine = argument; mine->out = 1; list[0]->out = 2;",
        loop(NEW + "list[i] = job;", "job") + JOIN,
    ),
    "element of a kept object": (
        TOUCH,
        """for (i = 0; i < n; i++) {
            struct job *job = malloc(n * sizeof *job); list[i] = job;
            pthread_create(&ids[i], NULL, work, &job[i].in); job[i].in = 2; }""",
    ),
}

SLOW = {"loop entered again", "two in a round"}


def outcome(tmp_path: Path, work: str, body: str) -> Outcome:
    path = tmp_path / "program.c"
    path.write_text(PROGRAM.format(work=work, body=body), encoding="utf-8")
    program = load_program([path], Options())
    return ENGINE.run(program, Question(Options(strategy=Strategy.OVER))).outcome


@pytest.mark.parametrize("name", RIGHT)
def test_sees_that_each_has_its_own(name: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, *RIGHT[name]) is Outcome.RACE_FREE


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in WRONG]
)
def test_does_not_believe_that_each_has_its_own(name: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, *WRONG[name]) is Outcome.UNKNOWN
