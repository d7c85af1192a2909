"""Loops that create an unknown number of threads, and loops that wait for all of them.

Every program is the same but for a few lines: workers add to `data` under a lock, and at the end
`main` writes it without one. That is right only if nobody is left running then.
"""

from pathlib import Path

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options, Strategy
from raceproof.verdict import Answer, Outcome

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
extern int outside(void);
struct member {{ long before; pthread_t id; char after; }};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int data, amount, counter;
static pthread_t *table, fixed[64];
{globals}
static void *work(void *argument)
{{
    pthread_mutex_lock(&lock);
    data++;
    pthread_mutex_unlock(&lock);
    {work}
    return NULL;
}}
{functions}
int main(void)
{{
    int n = outside(), i, j;
    pthread_t *ids = malloc(n * sizeof *ids);
    {body}
    data = 0;
    return 0;
}}
"""

CREATE = "for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, NULL);"
JOIN = "for (i = 0; i < n; i++) pthread_join(ids[i], NULL);"


def answer(
    tmp_path: Path, body: str, *, globals: str = "", functions: str = "", work: str = ""
) -> Answer:
    path = tmp_path / "program.c"
    path.write_text(
        PROGRAM.format(body=body, globals=globals, functions=functions, work=work),
        encoding="utf-8",
    )
    program = load_program([path], Options())
    return ENGINE.run(program, Question(Options(strategy=Strategy.OVER)))


def outcome(tmp_path: Path, body: str, *, functions: str = "") -> Outcome:
    return answer(tmp_path, body, functions=functions).outcome


RIGHT = {
    "plain": f"{CREATE} {JOIN}",
    "stack array": """pthread_t own[8];
        for (i = 0; i < n; i++) pthread_create(&own[i], NULL, work, NULL);
        for (i = 0; i < n; i++) pthread_join(own[i], NULL);""",
    "global array": """for (i = 0; i < n; i++) pthread_create(&fixed[i], NULL, work, NULL);
        for (i = 0; i < n; i++) pthread_join(fixed[i], NULL);""",
    "pointer in a global": """table = ids;
        for (i = 0; i < n; i++) pthread_create(&table[i], NULL, work, NULL);
        for (i = 0; i < n; i++) pthread_join(table[i], NULL);""",
    "bound in a global": """amount = n;
        for (i = 0; i < amount; i++) pthread_create(&ids[i], NULL, work, NULL);
        for (i = 0; i < amount; i++) pthread_join(ids[i], NULL);""",
    "bound has two names": f"amount = n; {CREATE} "
    "for (i = 0; i < amount; i++) pthread_join(ids[i], NULL);",
    "counter in a global": """
        for (counter = 0; counter < n; counter++)
            pthread_create(&ids[counter], NULL, work, NULL);
        for (counter = 0; counter < n; counter++) pthread_join(ids[counter], NULL);""",
    "two counters": f"{CREATE} for (j = 0; j < n; ++j) pthread_join(ids[j], NULL);",
    "while": """i = 0; while (i < n) { pthread_create(ids + i, NULL, work, NULL); i++; }
        j = 0; while (n > j) { pthread_join(*(ids + j), NULL); j += 1; }""",
    "up to and with": """
        for (i = 1; i <= n; i++) pthread_create(&ids[i - 1], NULL, work, NULL);
        for (i = 1; i <= n; i++) pthread_join(ids[i - 1], NULL);""",
    "one index, two countings": f"""{CREATE}
        for (i = 1; i <= n; i++) pthread_join(ids[i - 1], NULL);""",
    "back down": f"{CREATE} for (i = n - 1; i >= 0; i--) pthread_join(ids[i], NULL);",
    "down before up": """
        for (i = n - 1; i >= 0; i--) pthread_create(&ids[i], NULL, work, NULL);
        for (i = 0; i < n; i++) pthread_join(ids[i], NULL);""",
    "down, test before step": f"{CREATE} for (i = n; i-- > 0;) pthread_join(ids[i], NULL);",
    "down, step before test": f"{CREATE} i = n; while (--i >= 0) pthread_join(ids[i], NULL);",
    "down, step inside": f"{CREATE} i = n; while (i > 0) {{ i--; pthread_join(ids[i], NULL); }}",
    "the bound itself counts down": f"{CREATE} while (n--) pthread_join(ids[n], NULL);",
    "not equal": """for (i = 0; i != n; i++) pthread_create(&ids[i], NULL, work, NULL);
        for (i = 0; i != n; i++) pthread_join(ids[i], NULL);""",
    "unsigned": """unsigned k, m = n;
        for (k = 0; k < m; k++) pthread_create(&ids[k], NULL, work, NULL);
        for (k = m; k-- > 0;) pthread_join(ids[k], NULL);""",
    "long": """long k, m = n;
        for (k = 0; k < m; k++) pthread_create(&ids[k], NULL, work, NULL);
        for (k = 0; k < m; k++) pthread_join(ids[k], NULL);""",
    "results are looked at": """
        for (i = 0; i < n; i++)
            if (pthread_create(&ids[i], NULL, work, NULL) != 0) abort();
        for (i = 0; i < n; i++)
            if (pthread_join(ids[i], NULL)) exit(1);""",
    "leaves at once if one fails": """
        for (i = 0; i < n; i++)
            if (pthread_create(&ids[i], NULL, work, NULL) != 0) break;
        for (i = 0; i < n; i++) pthread_join(ids[i], NULL);""",
    "ids in structs": """struct member *all = malloc(n * sizeof *all);
        for (i = 0; i < n; i++) {
            all[i].before = i;
            pthread_create(&all[i].id, NULL, work, NULL);
            all[i].after = 1;
        }
        for (i = 0; i < n; i++) { all[i].after = 0; pthread_join(all[i].id, NULL); }""",
    "results are kept": f"""void *result; long sum = 0; {CREATE}
        for (i = 0; i < n; i++) {{ pthread_join(ids[i], &result); sum += (long)result; }}""",
    "twice": f"{CREATE} {JOIN} data = 1; {CREATE} {JOIN}",
    "again and again": f"while (outside()) {{ {CREATE} {JOIN} data = 1; }}",
    "other things in between": f"""{CREATE}
        for (j = 0; j < n; j++) counter += j;
        pthread_mutex_lock(&lock); data = 7; pthread_mutex_unlock(&lock);
        {JOIN} free(ids);""",
}

WRONG = {
    "no thread waits": CREATE,
    "bound changed": f"{CREATE} n = outside(); {JOIN}",
    "bound made smaller": f"{CREATE} n--; {JOIN}",
    "bound changed while creating": """
        for (i = 0; i < n; i++) { pthread_create(&ids[i], NULL, work, NULL); if (i == 3) n++; }
        n = 4;"""
    + JOIN,
    "global bound changed": """amount = n;
        for (i = 0; i < amount; i++) pthread_create(&ids[i], NULL, work, NULL);
        amount--;
        for (i = 0; i < amount; i++) pthread_join(ids[i], NULL);""",
    "first one left out": f"{CREATE} for (i = 1; i < n; i++) pthread_join(ids[i], NULL);",
    "last one left out": f"{CREATE} for (i = 0; i < n - 1; i++) pthread_join(ids[i], NULL);",
    "one more created": f"pthread_t more; pthread_create(&more, NULL, work, NULL); {CREATE} {JOIN}",
    "created up to and with": """
        for (i = 0; i <= n; i++) pthread_create(&fixed[i], NULL, work, NULL);
        for (i = 0; i < n; i++) pthread_join(fixed[i], NULL);""",
    "down to 1": f"{CREATE} for (i = n - 1; i > 0; i--) pthread_join(ids[i], NULL);",
    "every other one": f"{CREATE} for (i = 0; i < n; i += 2) pthread_join(ids[i], NULL);",
    "step inside too": f"{CREATE} for (i = 0; i < n; i++) {{ pthread_join(ids[i], NULL); i++; }}",
    "left early": f"""{CREATE}
        for (i = 0; i < n; i++) {{ if (outside()) break; pthread_join(ids[i], NULL); }}""",
    "left early, after": f"""{CREATE}
        for (i = 0; i < n; i++) {{ pthread_join(ids[i], NULL); if (outside()) break; }}""",
    "some passed over": f"""{CREATE}
        for (i = 0; i < n; i++) {{ if (i == 5) continue; pthread_join(ids[i], NULL); }}""",
    "only some": f"""{CREATE}
        for (i = 0; i < n; i++) if (outside()) pthread_join(ids[i], NULL);""",
    "always the first": f"{CREATE} for (i = 0; i < n; i++) pthread_join(ids[0], NULL);",
    "only the first": f"{CREATE} pthread_join(ids[0], NULL);",
    "the next one": f"{CREATE} for (i = 0; i < n; i++) pthread_join(ids[i + 1], NULL);",
    "half of the index": f"{CREATE} for (i = 0; i < n; i++) pthread_join(ids[i / 2], NULL);",
    "stored in the first": """
        for (i = 0; i < n; i++) pthread_create(&ids[0], NULL, work, NULL);"""
    + JOIN,
    "stored at half of the index": """
        for (i = 0; i < n; i++) pthread_create(&ids[i / 2], NULL, work, NULL);"""
    + JOIN,
    "stored at a remainder": """
        for (i = 0; i < n; i++) pthread_create(&fixed[i % 8], NULL, work, NULL);
        for (i = 0; i < n; i++) pthread_join(fixed[i], NULL);""",
    "two in a round": """
        for (i = 0; i < n; i++) {
            pthread_create(&ids[i], NULL, work, NULL);
            pthread_create(&ids[i], NULL, work, NULL);
        }"""
    + JOIN,
    "many in a round": """
        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++) pthread_create(&ids[i], NULL, work, NULL);"""
    + JOIN,
    "one overwritten": f"{CREATE} ids[0] = pthread_self(); {JOIN}",
    "one overwritten by another": f"{CREATE} if (n > 2) ids[1] = ids[2]; {JOIN}",
    "shifted": f"{CREATE} memmove(ids, ids + 1, (n - 1) * sizeof *ids); {JOIN}",
    "array exchanged": f"{CREATE} ids = malloc(n * sizeof *ids); {JOIN}",
    "waits with another array": f"""{CREATE}
        for (i = 0; i < n; i++) pthread_join(fixed[i], NULL);""",
    "global pointer moved on": """table = ids;
        for (i = 0; i < n; i++) pthread_create(&table[i], NULL, work, NULL);
        table++;
        for (i = 0; i < n; i++) pthread_join(table[i], NULL);""",
    "global pointer moves with the loop": """table = ids;
        for (i = 0; i < n; i++) { pthread_create(&table[i], NULL, work, NULL); table--; }
        for (i = 0; i < n; i++) pthread_join(table[i], NULL);""",
    "two rounds, one wait": f"{CREATE} {CREATE} {JOIN}",
    "waits first": f"{JOIN} {CREATE}",
    "waits in another order of rounds": f"while (outside()) {{ {JOIN} {CREATE} }}",
    "only if": f"{CREATE} if (outside()) {{ {JOIN} }}",
    "created only if": """for (i = 0; i < n; i++)
            if (outside()) pthread_create(&ids[i], NULL, work, NULL);"""
    + JOIN,
    "detached": """for (i = 0; i < n; i++) {
            pthread_create(&ids[i], NULL, work, NULL); pthread_detach(ids[i]); }"""
    + JOIN,
    "signed and unsigned": f"""{CREATE} unsigned char k;
        for (k = 0; k < (unsigned char)n; k++) pthread_join(ids[k], NULL);""",
    "narrow counter": f"""{CREATE}
        for (i = 0; i < n; i++) pthread_join(ids[(char)i], NULL);""",
    "counter in a global, changed": """
        for (counter = 0; counter < n; counter++) {
            pthread_create(&ids[counter], NULL, work, NULL);
            if (outside()) counter = 0;
        }"""
    + JOIN,
    "leaves creation early": """for (i = 0; i < n; i++) {
            pthread_create(&ids[i], NULL, work, NULL); if (outside()) break; }
        for (i = 0; i < n - 1; i++) pthread_join(ids[i], NULL);""",
    "id loaded too early": """
        for (i = 0; i < n; i++) {
            pthread_t early = ids[i];
            for (j = 0; j < n; j++) pthread_create(&ids[j], NULL, work, NULL);
            pthread_join(early, NULL);
        }""",
    "bound changed inside of the wait": """amount = n;
        for (i = 0; i < amount; i++) pthread_create(&ids[i], NULL, work, NULL);
        for (i = 0; i < amount; i++) { pthread_join(ids[i], NULL); amount--; }""",
    "elements overlap": """char *bytes = (char *)ids;
        for (i = 0; i < n; i++) pthread_create((pthread_t *)(bytes + i), NULL, work, NULL);
        for (i = 0; i < n; i++) pthread_join(*(pthread_t *)(bytes + i), NULL);""",
}


SLOW = {
    "again and again",
    "id loaded too early",
    "many in a round",
    "waits in another order of rounds",
}
"""Loops in loops, each with many rounds."""


def names(programs: dict[str, str]) -> list[object]:
    return [
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in programs
    ]


@pytest.mark.parametrize("name", names(RIGHT))
def test_sees_that_all_are_waited_for(name: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, RIGHT[name]) is Outcome.RACE_FREE


@pytest.mark.parametrize("name", names(WRONG))
def test_does_not_believe_that_all_are_waited_for(name: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, WRONG[name]) is Outcome.UNKNOWN


SPAWN = """static void spawn(pthread_t *id) { pthread_create(id, NULL, work, NULL); }
static void await(pthread_t id) { pthread_join(id, NULL); }
static void start(int many)
{
    for (int k = 0; k < many; k++) pthread_create(&table[k], NULL, work, NULL);
}
static void stop(int many)
{
    for (int k = 0; k < many; k++) pthread_join(table[k], NULL);
}
static void start_all(void)
{
    for (int k = 0; k < amount; k++) pthread_create(&table[k], NULL, work, NULL);
}
static void stop_all(void)
{
    for (int k = 0; k < amount; k++) pthread_join(table[k], NULL);
}
"""

RIGHT_WITH_FUNCTIONS = {
    "creates in a function": "for (i = 0; i < n; i++) spawn(&ids[i]);" + JOIN,
    "waits in a function": CREATE + "for (i = 0; i < n; i++) await(ids[i]);",
    "loops in functions": "table = ids; start(n); stop(n);",
    "loops in functions, globals": "table = ids; amount = n; start_all(); stop_all();",
    "loops in functions, both": "table = ids; amount = n; start(n); stop_all();",
}

WRONG_WITH_FUNCTIONS = {
    "other bound": "table = ids; start(n); stop(n - 1);",
    "bound set in between": "table = ids; amount = n; start_all(); amount = i; stop_all();",
    "array set in between": "table = ids; start(n); table = fixed; stop(n);",
    "started twice": "table = ids; start(n); start(n); stop(n);",
    "always the same id": "for (i = 0; i < n; i++) spawn(&ids[0]);" + JOIN,
    "waits for the same": CREATE + "for (i = 0; i < n; i++) await(ids[0]);",
}

WRONG_BECAUSE_OF_WORKERS = {
    "changes the bound": "amount--;",
    "changes the array": "table++;",
    "changes an id": "if (table) table[0] = pthread_self();",
    "changes the counter": "counter = 0;",
    "detaches itself": "pthread_detach(pthread_self());",
    "starts another": "pthread_t more; pthread_create(&more, NULL, work, NULL);",
    "starts another like itself": "if (argument == NULL) spawn(&fixed[3]);",
}


@pytest.mark.parametrize("name", RIGHT_WITH_FUNCTIONS)
def test_follows_loops_into_functions(name: str, tmp_path: Path) -> None:
    body = RIGHT_WITH_FUNCTIONS[name]
    assert outcome(tmp_path, body, functions=SPAWN) is Outcome.RACE_FREE


@pytest.mark.parametrize("name", WRONG_WITH_FUNCTIONS)
def test_is_not_misled_by_functions(name: str, tmp_path: Path) -> None:
    body = WRONG_WITH_FUNCTIONS[name]
    assert outcome(tmp_path, body, functions=SPAWN) is Outcome.UNKNOWN


@pytest.mark.parametrize("name", WRONG_BECAUSE_OF_WORKERS)
def test_sees_what_workers_do_to_the_ids(name: str, tmp_path: Path) -> None:
    body = """table = ids; amount = n;
        for (counter = 0; counter < amount; counter++) spawn(&table[counter]);
        for (counter = 0; counter < amount; counter++) pthread_join(table[counter], NULL);"""
    declared = "static void *work(void *argument); static void spawn(pthread_t *id);"
    work = WRONG_BECAUSE_OF_WORKERS[name]
    found = answer(tmp_path, body, globals=declared, functions=SPAWN, work=work)
    assert found.outcome is Outcome.UNKNOWN
    assert "data" in {finding.location.name for finding in found.findings}


def test_the_programs_above_are_right_without_that(tmp_path: Path) -> None:
    body = """table = ids; amount = n;
        for (counter = 0; counter < amount; counter++) spawn(&table[counter]);
        for (counter = 0; counter < amount; counter++) pthread_join(table[counter], NULL);"""
    assert outcome(tmp_path, body, functions=SPAWN) is Outcome.RACE_FREE
