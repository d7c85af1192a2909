"""What the summary of one function says, clause by clause."""

from __future__ import annotations

from raceproof.engines.summary.summary import Summary
from raceproof.engines.summary.terms import describe
from tests.engines.summary.analysing import summaries


def held(summary: Summary) -> list[list[str]]:
    """The locks left locked, for each way to return; `?` after those that are not sure."""
    return [
        [describe(lock) + ("" if sure else "?") for lock, _, sure, _ in core[0]]
        for core, _ in summary.exits
    ]


def released(summary: Summary) -> list[list[str]]:
    return [[describe(lock) for lock, _ in core[1]] for core, _ in summary.exits]


def accesses(summary: Summary) -> list[tuple[str, str]]:
    found = [(describe(key[0]), "write" if key[2] else "read") for key in summary.open]
    found += [(describe(key[0]), "write" if key[2] else "read") for key in summary.closed]
    return sorted(found)


LOCKS = """
pthread_mutex_t m;
void take(void) { pthread_mutex_lock(&m); }
void give(void) { pthread_mutex_unlock(&m); }
void both(void) { take(); give(); }
void take_this(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }
void take_that(void) { take_this(&m); }
void give_and_take(void) { give(); take(); }
"""


def test_locks_left_locked_and_unlocked() -> None:
    found = summaries(LOCKS)
    assert held(found["take"]) == [["&m"]]
    assert released(found["take"]) == [[]]
    assert held(found["give"]) == [[]]
    assert released(found["give"]) == [["&m"]]
    assert held(found["both"]) == released(found["both"]) == [[]]
    assert held(found["give_and_take"]) == released(found["give_and_take"]) == [["&m"]]


def test_a_lock_that_is_a_parameter_is_put_in_at_the_call() -> None:
    found = summaries(LOCKS)
    assert held(found["take_this"]) == [["p0"]]
    assert held(found["take_that"]) == [["&m"]]


def test_accesses_through_parameters_become_those_of_the_actual() -> None:
    found = summaries(
        """
        struct pair { int first, second; } pair;
        void set(struct pair *p) { p->second = p->first; }
        void reset(void) { set(&pair); }
        """
    )
    assert accesses(found["set"]) == [("p0", "read"), ("p0 + 4", "write")]
    assert accesses(found["reset"]) == [("&pair", "read"), ("&pair + 4", "write")]


def test_what_is_closed_stays_in_its_function() -> None:
    found = summaries("int x; void set(void) { x = 1; } void call(void) { set(); }")
    assert accesses(found["set"]) == [("&x", "write")]
    assert accesses(found["call"]) == []
    assert found["call"].matters


def test_own_variables_are_no_accesses() -> None:
    found = summaries(
        """
        void fill(int *p) { *p = 1; }
        int local(void) { int x; fill(&x); return x; }
        """
    )
    assert accesses(found["local"]) == []


THREADS = """
int x;
pthread_t id;
void *work(void *unused) { x = 1; return 0; }
void begin(void) { pthread_create(&id, 0, work, 0); }
void finish(void) { pthread_join(id, 0); }
void both(void) { begin(); finish(); }
"""


def test_threads_created_and_joined() -> None:
    found = summaries(THREADS)
    ((core, _),) = found["begin"].exits
    (created,) = found["begin"].threads
    assert core[2] == ((created, True),)
    ((core, _),) = found["finish"].exits
    assert [describe(handle) for handle in core[3]] == ["*(&id)"]
    ((core, _),) = found["both"].exits
    assert core[2] == ()


def test_points_to_effects_and_return_values() -> None:
    found = summaries(
        """
        struct node { struct node *next; } *head;
        void link(struct node *a, struct node *b) { a->next = b; }
        struct node *tail(struct node *a) { return a->next; }
        struct node *make(void) { return malloc(sizeof(struct node)); }
        void push(void) { head = make(); }
        """
    )
    ((address, value),) = found["link"].open_stores
    assert (describe(address), describe(value)) == ("p0", "p1")
    assert [describe(term) for term in found["tail"].returns] == ["*(p0)"]
    assert [term[0][0] for term in found["make"].returns] == ["h"]
    ((address, value),) = found["push"].closed_stores
    assert describe(address) == "&head"
    assert value[0][:2] == ("h", "make")


def test_recursion_reaches_a_fixpoint() -> None:
    found = summaries(
        """
        struct node { struct node *next; int value; };
        pthread_mutex_t m;
        void walk(struct node *n) { n->value = 1; if (n->next) walk(n->next); }
        int even(int n); int odd(int n);
        int even(int n) { if (n == 0) { pthread_mutex_lock(&m); return 1; } return odd(n - 1); }
        int odd(int n) { return even(n - 1); }
        """
    )
    assert ("p0 + 8", "write") in accesses(found["walk"])
    assert ("*(p0) + 8", "write") in accesses(found["walk"])
    assert held(found["even"]) == held(found["odd"]) == [["&m"]]


def test_trylock_is_told_by_its_result() -> None:
    found = summaries(
        """
        pthread_mutex_t m;
        int try(void) { return pthread_mutex_trylock(&m); }
        int take(void) { if (pthread_mutex_trylock(&m) == 0) return 1; return 0; }
        int use(void) { if (take()) { pthread_mutex_unlock(&m); } return 0; }
        """
    )
    exits = {value: [describe(lock[0]) for lock in core[0]] for core, value in found["take"].exits}
    assert exits == {1: ["&m"], 0: []}
    assert held(found["use"]) == released(found["use"]) == [[]]


def test_correlated_conditions_are_followed() -> None:
    found = summaries(
        """
        pthread_mutex_t m;
        int x;
        void set(int safe) {
            if (safe) pthread_mutex_lock(&m);
            x = 1;
            if (safe) pthread_mutex_unlock(&m);
        }
        """
    )
    assert held(found["set"]) == released(found["set"]) == [[]]
    cores = sorted(len(key[5][0]) for key in found["set"].closed if key[0][0] == ("g", "x"))
    assert cores == [0, 1]


def test_recursive_locks_count() -> None:
    found = summaries(
        """
        pthread_mutex_t m;
        void twice(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); }
        void once(void) { pthread_mutex_lock(&m); }
        void kept(void) { once(); once(); pthread_mutex_unlock(&m); }
        """
    )
    assert [count for core, _ in found["twice"].exits for *_, count in core[0]] == [2]
    assert [count for core, _ in found["kept"].exits for *_, count in core[0]] == [1]


def test_elements_are_apart_where_indices_are_known() -> None:
    found = summaries(
        """
        int a[4];
        void set(int *p, int i) { p[i] = 1; }
        void second(void) { set(a, 2); }
        """
    )
    assert accesses(found["set"]) == [("p0 + 4·i", "write")]
    assert accesses(found["second"]) == [("&a + 8", "write")]


def test_a_guard_object_locks_in_its_constructor_and_unlocks_in_its_destructor() -> None:
    found = summaries(
        """
        #include <mutex>
        std::mutex m;
        int x;
        void guarded() { std::lock_guard<std::mutex> guard(m); x = 1; }
        """,
        ".cpp",
    )
    guarded = next(summary for name, summary in found.items() if "guarded" in name)
    assert held(guarded) == released(guarded) == [[]]
    (access,) = [key for key in guarded.closed if key[2]]
    assert [describe(lock) for lock, *_ in access[5][0]] == ["&m"]
