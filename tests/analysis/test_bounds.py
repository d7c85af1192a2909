"""Accesses outside of their objects end an execution; what is learned through casts of pointers."""

import pytest

from raceproof.analysis.records import OUTSIDE
from tests.analysis.probing import analysed, in_main, probed

ENDS = {
    "behind an array": "char a[4]; char *p = a + 1000; *p = 1;",
    "before an array": "char a[4]; char *p = a + 4; p[-9] = 1;",
    "only the last byte inside": "char *p = malloc(4); *(int *)(p + 3) = 1;",
    "behind one or the other": "char a[4], b[8]; char *p = any() ? a : b; p[8] = 1;",
    "null or behind": "char *p = any() ? malloc(4) : 0; p[100] = 1;",
    "at any of some offsets": "char *p = malloc(4); p[4 + (any() & 3)] = 1;",
    "a read": "char *p = malloc(4); int *q = (int *)(p + 4); if (*q) probe[9] = 1;",
    "not null, by way of a number": (
        "char *p = any() ? malloc(8) : 0; if ((unsigned long)p == 0) return 0; *(p + 9000) = 1;"
    ),
}
GOES_ON = {
    "inside of the larger one": "char a[4], b[8]; char *p = any() ? a : b; p[7] = 1;",
    "one size of two": (
        "for (int i = 1; i < any(); i++) { char *p = malloc(i); if (i > 70) p[70] = 1; }"
    ),
    "an unknown size": "char *p = malloc(any()); p[1000] = 1;",
    "no bytes: a stand-in": "char *p = malloc(0); p[3] = 1;",
    "an object defined elsewhere": "elsewhere[3] = 1;",
    "perhaps inside": "char *p = malloc(4); p[any()] = 1;",
    "perhaps another object": "char *p = malloc(4); if (any()) p = other(); p[8] = 1;",
    "as a number": "unsigned long p = any() ? 5000000 : 0; *(char *)(p + 100) = 1;",
}
DECLARED = "extern char elsewhere[1]; extern char *other(void);"


def notes(body: str) -> list[str]:
    analysis = analysed(in_main(body + " probe[1] = 1;", DECLARED))
    return [text for info in analysis.threads.all for text in info.records.assumptions]


@pytest.mark.parametrize("name", ENDS)
def test_outside_for_sure_ends_the_execution(name: str) -> None:
    assert probed(in_main(ENDS[name] + " probe[1] = 1;", DECLARED)) == set()
    assert [text for text in notes(ENDS[name]) if text.startswith("no execution goes on after")]


@pytest.mark.parametrize("name", GOES_ON)
def test_perhaps_inside_goes_on(name: str) -> None:
    assert 1 in probed(in_main(GOES_ON[name] + " probe[1] = 1;", DECLARED))
    assert not [text for text in notes(GOES_ON[name]) if text.startswith("no execution goes on")]


@pytest.mark.parametrize(
    "body",
    [
        "int **p = malloc(8); **p = 1;",
        "int **p = malloc(8), *q = any() ? *p : 0; q[5] = 1;",
        "int ***p = malloc(8), **q = any() ? *p : 0; *q[5] = 1;",
    ],
)
def test_a_pointer_that_nobody_has_set_leads_nowhere_and_is_named(body: str) -> None:
    found = notes(body)
    assert "pointers that `main` uses and that were never set lead to no shared memory" in found
    assert OUTSIDE not in found


def test_only_a_place_where_all_executions_end_is_named() -> None:
    body = "char a[4]; for (int i = 0; i < 4; i++) if (any()) a[i - 1] = 1;"
    assert not [text for text in notes(body) if text.startswith("no execution goes on")]


def test_an_allocator_of_its_own_returns_what_nobody_else_knows() -> None:
    """The creator fills each block before it hands it over, whatever the others of the site do."""
    text = """
    int *fresh(int kept) { int *p = malloc(4); if (kept) list = p; return p; }
    void *worker(void *p) { x = *(int *)p; free(p); return 0; }
    int main(void) {
        pthread_t t;
        for (int i = 0; i < any(); i++) {
            int *p = fresh(KEPT);
            *p = 1;
            pthread_create(&t, 0, worker, p);
        }
        return 0;
    }
    """

    def writes_of_main(kept: str) -> int:
        analysis = analysed("int *list;" + text.replace("KEPT", kept))
        heap = [a for info in analysis.threads.all for a in info.records.accesses.values()]
        return sum(
            1
            for a in heap
            if a.thread == 0 and a.is_write and analysis.objects[a.base].name.startswith("malloc")
        )

    assert writes_of_main("0") == 0
    assert writes_of_main("1") > 0
    assert writes_of_main("any()") > 0


def test_what_a_second_call_returns_is_not_what_the_first_returned() -> None:
    """A function may return a block of its own, then one that all threads know."""
    text = """
    int *shared;
    int *one(int own) { return own ? malloc(4) : shared; }
    int main(void) { shared = malloc(4); int *p = one(any()); *p = 1; return 0; }
    """
    analysis = analysed(text)
    heap = [
        a
        for a in analysis.threads[0].records.accesses.values()
        if analysis.objects[a.base].name.startswith("malloc")
    ]
    assert len(heap) == 2
