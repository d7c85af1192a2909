"""A loop that creates threads and one that waits for them all, told from the code alone."""

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.verdict import Answer, Outcome
from tests.lowering import lower

FRAME = """
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
int total, n, again;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct worker { int id; pthread_t thread; } *workers;
pthread_t *ids;
jmp_buf back;
void change(void) { n--; }
void *work(void *a) {
    pthread_mutex_lock(&m);
    total++;
    pthread_mutex_unlock(&m);
    return 0;
}
void *meddle(void *a) { n = 1; return 0; }
%s
int main(int argc, char **argv) {
    n = argc;
    ids = malloc(n * sizeof *ids);
    workers = malloc(n * sizeof *workers);
    all(argc);
    total++;
    return 0;
}
"""
CREATE = "for (int i = 0; i < n; i++) if (pthread_create(&ids[i], 0, work, 0)) exit(1);"
JOIN = "for (int i = 0; i < n; i++) pthread_join(ids[i], 0);"


def answer(body: str) -> Answer:
    return ENGINE.run(lower(FRAME % body), Question(Options(backend=BackendChoice.ALIAS)))


SAFE = {
    "array and bound in globals": f"void all(int k) {{ {CREATE} {JOIN} }}",
    "array and bound in registers": """void all(int k) {
        pthread_t mine[k];
        for (int i = 0; i < k; i++) pthread_create(&mine[i], 0, work, 0);
        for (int i = 0; i < k; i++) pthread_join(mine[i], 0);
    }""",
    "ids in members": """void all(int k) {
        for (int i = 0; i < n; i++) pthread_create(&workers[i].thread, 0, work, 0);
        for (int i = 0; i < n; i++) pthread_join(workers[i].thread, 0);
    }""",
    "several rounds": f"void all(int k) {{ while (again) {{ {CREATE} {JOIN} total++; }} }}",
    "downwards": """void all(int k) {
        pthread_t mine[k];
        for (int i = k - 1; i >= 0; i--) pthread_create(&mine[i], 0, work, 0);
        for (int i = k - 1; i >= 0; i--) pthread_join(mine[i], 0);
    }""",
    "the variables are set before": f"void all(int k) {{ n = k + 1; {CREATE} {JOIN} n = 0; }}",
}
RACY = {
    "one less is joined": f"""void all(int k) {{ {CREATE}
        for (int i = 1; i < n; i++) pthread_join(ids[i], 0); }}""",
    "another bound": f"""void all(int k) {{ {CREATE}
        for (int i = 0; i < n - 1; i++) pthread_join(ids[i], 0); }}""",
    "the bound changes between": f"void all(int k) {{ {CREATE} n--; {JOIN} }}",
    "a callee changes the bound": f"void all(int k) {{ {CREATE} change(); {JOIN} }}",
    "the bound changes in the loop": """void all(int k) {
        for (int i = 0; i < n; i++) { pthread_create(&ids[i], 0, work, 0); if (i) n--; }
        for (int i = 0; i < n; i++) pthread_join(ids[i], 0);
    }""",
    "another thread changes the bound": f"""void all(int k) {{
        pthread_t other; pthread_create(&other, 0, meddle, 0); {CREATE} {JOIN} }}""",
    "an id is overwritten": f"void all(int k) {{ {CREATE} ids[1] = ids[0]; {JOIN} }}",
    "the array is another": f"""void all(int k) {{ {CREATE}
        ids = malloc(n * sizeof *ids); {JOIN} }}""",
    "elements are used twice": f"""void all(int k) {{
        for (int i = 0; i < n; i++) pthread_create(&ids[i / 2], 0, work, 0); {JOIN} }}""",
    "another member": """void all(int k) {
        for (int i = 0; i < n; i++) pthread_create(&workers[i].thread, 0, work, 0);
        for (int i = 0; i < n; i++) pthread_join((pthread_t)workers[i].id, 0);
    }""",
    "one join is left out": f"""void all(int k) {{ {CREATE}
        for (int i = 0; i < n; i++) if (i != 1) pthread_join(ids[i], 0); }}""",
    "two for each element": f"""void all(int k) {{
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 2; j++) pthread_create(&ids[i], 0, work, 0);
        {JOIN} }}""",
    "the join loop ends early": f"""void all(int k) {{ {CREATE}
        for (int i = 0; i < n; i++) {{ pthread_join(ids[i], 0); if (again) break; }} }}""",
    "the create loop ends early, with one more": f"""void all(int k) {{
        for (int i = 0; i < n; i++) {{
            pthread_create(&ids[i], 0, work, 0);
            if (again) {{ pthread_create(&ids[0], 0, work, 0); break; }}
        }}
        {JOIN} }}""",
    "older threads run": f"void all(int k) {{ while (again) {{ {CREATE} }} {JOIN} }}",
    "threads of an earlier call run": f"""
        static void some(int k) {{ {CREATE} if (again) return; {JOIN} }}
        void all(int k) {{ some(k); some(k); }}""",
    "a recursive call creates more": f"""
        void all(int k) {{ {CREATE} if (k) all(k - 1); {JOIN} }}""",
    "the loops are by the way": f"void all(int k) {{ if (again) {{ {CREATE} }} {JOIN} }}",
    "back at setjmp": f"""void all(int k) {{ {CREATE}
        for (int i = 0; i < n; i++) {{
            if (setjmp(back)) break;
            pthread_join(ids[i], 0);
            if (again) longjmp(back, 1);
        }} }}""",
    "two threads do it": f"""
        void *one(void *a) {{ {CREATE} {JOIN} total++; return 0; }}
        void all(int k) {{ pthread_t t, u;
            pthread_create(&t, 0, one, 0); pthread_create(&u, 0, one, 0); }}""",
}


@pytest.mark.parametrize("name", SAFE)
def test_all_are_joined(name: str) -> None:
    assert answer(SAFE[name]).outcome is Outcome.RACE_FREE


@pytest.mark.parametrize("name", RACY)
def test_some_may_still_run(name: str) -> None:
    found = answer(RACY[name])
    assert found.outcome is not Outcome.RACE_FREE
    assert "total" in {f.location.name for f in found.findings}
