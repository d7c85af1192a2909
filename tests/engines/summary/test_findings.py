"""What the engine reports on whole programs and libraries, clause by clause."""

from __future__ import annotations

from pathlib import Path

from raceproof.engines.question import Question
from raceproof.engines.summary import SummaryEngine
from raceproof.options import Options
from raceproof.verdict import Confidence, Outcome
from tests.engines.summary.analysing import answer, confidences, findings, load


def test_the_race_of_two_threads_is_likely_and_comes_with_both_accesses() -> None:
    found = answer(
        """
        int i; pthread_mutex_t lock; pthread_t id;
        void *foo(void *unused) {
            pthread_mutex_lock(&lock); i = 0; pthread_mutex_unlock(&lock); return 0; }
        int main(void) { pthread_create(&id, 0, foo, 0); i = 42; return 0; }
        """
    )
    assert found.outcome is Outcome.RACE
    (finding,) = found.findings
    assert finding.confidence is Confidence.LIKELY
    assert {access.function for access in finding.accesses} == {"foo", "main"}
    assert [lock.name for access in finding.accesses for lock in access.locks] == ["lock"]


def test_it_never_claims_a_proof() -> None:
    assert answer("int main(void) { return 0; }").outcome is Outcome.UNKNOWN


def test_a_lock_released_by_the_creator_does_not_protect() -> None:
    code = """
        int x; pthread_t t1, t2; pthread_mutex_t m;
        void *bar(void *unused) { pthread_mutex_lock(&m); x = 10; return 0; }
        void *foo(void *unused) {
            pthread_create(&t2, 0, bar, 0); pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_create(&t1, 0, foo, 0); x = 0; return 0; }
        """
    assert confidences(code) == {"x": "likely"}


WRAPPED = """
int x, y; pthread_mutex_t m; pthread_t ids[2];
void enter(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }
void leave(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }
static pthread_t begin(void *(*body)(void *), void *argument) {
    pthread_t id; pthread_create(&id, 0, body, argument); return id; }
void end(pthread_t id) { pthread_join(id, 0); }
void *count(void *where) { enter(&m); ++*(int *)where; leave(&m); return 0; }
void *sloppy(void *unused) { ++x; return 0; }
"""


def test_wrappers_of_creation_join_and_locks_are_seen_through() -> None:
    code = (
        WRAPPED
        + """
    int main(void) {
        ids[0] = begin(count, &x); ids[1] = begin(count, &x); end(ids[0]); end(ids[1]);
        return x; }
    """
    )
    assert confidences(code) == {}


def test_a_race_behind_a_creation_wrapper_is_found() -> None:
    code = (
        WRAPPED
        + """
    int main(void) { begin(count, &x); begin(sloppy, 0); return 0; }
    """
    )
    assert confidences(code) == {"x": "likely"}


def test_ids_in_structures_and_behind_pointers_are_joined() -> None:
    code = """
    struct worker { int n; pthread_t id; int result; };
    void *run(void *p) { ((struct worker *)p)->result = 1; return 0; }
    void start(struct worker *w) { pthread_create(&w->id, 0, run, w); }
    int stop(struct worker *w) { pthread_join(w->id, 0); return w->result; }
    struct worker a;
    int main(void) {
        struct worker *b = malloc(sizeof *b);
        start(&a); start(b);
        return stop(&a) + stop(b);
    }
    """
    assert confidences(code) == {}


def test_no_join_no_order() -> None:
    code = """
    struct worker { int n; pthread_t id; int result; } a;
    void *run(void *p) { ((struct worker *)p)->result = 1; return 0; }
    int main(void) { pthread_create(&a.id, 0, run, &a); return a.result; }
    """
    assert confidences(code) == {"a.result": "likely"}


def test_join_under_the_condition_of_the_creation() -> None:
    code = """
    int x; pthread_t id;
    void *run(void *p) { x = 1; return 0; }
    int main(int argc, char **argv) {
        int parallel = argc > 1;
        if (parallel) pthread_create(&id, 0, run, 0); else x = 2;
        if (parallel) pthread_join(id, 0);
        return x;
    }
    """
    assert confidences(code) == {}


def test_a_loop_that_joins_what_a_loop_created() -> None:
    code = """
    int x; pthread_t ids[10]; pthread_mutex_t m;
    void *run(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
    int main(void) {
        for (int i = 0; i < 10; i++) pthread_create(&ids[i], 0, run, 0);
        for (int i = 0; i < 10; i++) pthread_join(ids[i], 0);
        return x;
    }
    """
    assert confidences(code) == {}
    assert "x" in confidences(code.replace("i < 10; i++) pthread_join", "i < 9; i++) pthread_join"))


def test_elements_apart() -> None:
    code = """
    int a[2]; pthread_t id;
    void *run(void *p) { *(int *)p = 1; return 0; }
    int main(void) { pthread_create(&id, 0, run, &a[1]); a[0] = 1; return 0; }
    """
    assert confidences(code) == {}
    assert confidences(code.replace("a[0]", "a[1]")) == {"a[1]": "likely"}


def test_each_thread_its_own_element() -> None:
    code = """
    int a[4]; pthread_t ids[4];
    void *run(void *p) { *(int *)p = 1; return 0; }
    int main(void) {
        for (int i = 0; i < 4; i++) pthread_create(&ids[i], 0, run, &a[i]);
        return 0; }
    """
    assert "likely" not in confidences(code).values()


def test_the_lock_beside_the_datum() -> None:
    code = """
    struct account { pthread_mutex_t lock; int balance; } *accounts[8];
    void deposit(struct account *a) {
        pthread_mutex_lock(&a->lock); a->balance++; pthread_mutex_unlock(&a->lock); }
    void *run(void *p) { for (int i = 0; i < 8; i++) deposit(accounts[i]); return 0; }
    int main(void) {
        pthread_t one, two;
        for (int i = 0; i < 8; i++) accounts[i] = malloc(sizeof(struct account));
        pthread_create(&one, 0, run, 0); pthread_create(&two, 0, run, 0);
        return 0; }
    """
    assert confidences(code) == {}
    without = code.replace("pthread_mutex_lock(&a->lock);", "")
    assert list(confidences(without).values()) == ["likely"]


def test_a_recursive_lock_is_still_held_after_the_inner_unlock() -> None:
    code = """
    pthread_mutex_t m; int x; pthread_t id;
    void inner(void) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }
    void *run(void *p) { pthread_mutex_lock(&m); inner(); x++; pthread_mutex_unlock(&m); return 0; }
    int main(void) {
        pthread_mutexattr_t kind;
        pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&m, &kind);
        pthread_create(&id, 0, run, 0); run(0); return 0; }
    """
    assert confidences(code) == {}


def test_lock_functions_of_the_user_come_from_models(tmp_path: Path) -> None:
    model = tmp_path / "model.toml"
    model.write_text(
        '[[function]]\nname = "my_enter"\nrole = "lock"\nlock = 0\n'
        '[[function]]\nname = "my_leave"\nrole = "unlock"\nlock = 0\n'
    )
    code = """
    struct my_lock; extern void my_enter(struct my_lock *); extern void my_leave(struct my_lock *);
    extern struct my_lock *const m; int x; pthread_t id;
    void *run(void *p) { my_enter(m); x++; my_leave(m); return 0; }
    int main(void) { pthread_create(&id, 0, run, 0); run(0); return 0; }
    """
    program = load(code)
    plain = SummaryEngine().run(program, Question(Options()))
    modelled = SummaryEngine().run(program, Question(Options(models=(model,))))
    assert [finding.location.name for finding in plain.findings] == ["x"]
    assert modelled.findings == ()


LIBRARY = """
static int count; static pthread_mutex_t m; int level;
void increment(void) { pthread_mutex_lock(&m); count++; pthread_mutex_unlock(&m); }
int get(void) { return count; }
static void unused_inside(void) { level = 1; }
void set_level(int n) { pthread_mutex_lock(&m); level = n; pthread_mutex_unlock(&m); }
"""


def test_a_library_is_called_by_threads_of_others() -> None:
    assert set(confidences(LIBRARY)) == {"count"}


def test_an_entry_can_be_named() -> None:
    code = """
    int x; pthread_t id;
    void *run(void *p) { x = 1; return 0; }
    int start(void) { pthread_create(&id, 0, run, 0); return x; }
    int other(void) { return x = 2; }
    """
    (finding,) = answer(code, entry="start").findings
    assert {access.function for access in finding.accesses} == {"run", "start"}


def test_one_finding_for_each_location_says_who_else_is_guarded() -> None:
    code = """
    int x; pthread_mutex_t m; pthread_t id;
    void add(int n) { pthread_mutex_lock(&m); x += n; x += 2; pthread_mutex_unlock(&m); }
    void *run(void *p) { add(1); x = 7; return 0; }
    int main(void) { pthread_create(&id, 0, run, 0); add(3); return 0; }
    """
    (finding,) = findings(code).values()
    assert "guarded by m in 4 of 5 accesses" in finding.message


def test_statements_after_exit_do_not_count() -> None:
    code = """
    int x; pthread_t id;
    void die(void) { exit(1); }
    void *run(void *p) { die(); x = 1; return 0; }
    int main(void) { pthread_create(&id, 0, run, 0); x = 2; return 0; }
    """
    assert confidences(code) == {}


def test_a_function_that_arrives_as_an_argument_is_called() -> None:
    code = """
    struct button { void (*pressed)(void); } button; int x; pthread_t id;
    void on_press(struct button *b, void (*handler)(void)) { b->pressed = handler; }
    void set(void) { x = 1; }
    void *run(void *p) { ((struct button *)p)->pressed(); return 0; }
    int main(void) {
        on_press(&button, set); pthread_create(&id, 0, run, &button); return x; }
    """
    assert confidences(code) == {"x": "likely"}


def test_a_callback_runs_under_the_locks_of_the_thread_that_calls_it() -> None:
    code = """
    struct job { void (*act)(void); pthread_mutex_t *lock; }; int x; pthread_mutex_t m;
    void add(void) { x++; }
    void *run(void *p) {
        struct job *job = p;
        pthread_mutex_lock(job->lock); job->act(); pthread_mutex_unlock(job->lock); return 0; }
    int main(void) {
        pthread_t one, two; struct job job = {add, &m};
        pthread_create(&one, 0, run, &job); pthread_create(&two, 0, run, &job);
        pthread_join(one, 0); pthread_join(two, 0); return x; }
    """
    assert confidences(code) == {}
    unlocked = code.replace("pthread_mutex_lock(job->lock);", "")
    assert list(confidences(unlocked)) == ["x"]


def test_a_thread_that_creates_its_own_kind() -> None:
    code = """
    int x;
    void *run(void *p) {
        pthread_t id; x++;
        if (p) { pthread_create(&id, 0, run, 0); pthread_join(id, 0); }
        return 0; }
    int main(void) {
        pthread_t id; pthread_create(&id, 0, run, &id); pthread_join(id, 0); return x; }
    """
    assert "likely" not in confidences(code).values()


def test_a_cpp_thread_is_named_by_what_the_user_wrote() -> None:
    code = """
    #include <thread>
    int x;
    void worker() { x = 1; }
    int main() { std::thread one(worker); x = 2; one.join(); }
    """
    (finding,) = [f for f in answer(code, ".cpp").findings if f.location.name == "x"]
    (thread,) = {access.thread for access in finding.accesses if access.thread.chain}
    assert thread.name.startswith("worker (created at")
    assert thread.chain[-1].position is not None
    assert thread.chain[-1].position.file.endswith("program.cpp")


LOOPS = """
int a[16]; pthread_t id;
void *low(void *p) { for (int i = 0; i < 8; i++) a[i] = 1; return 0; }
void *high(void *p) { for (int i = 8; i < 16; i++) a[i] = 1; return 0; }
void *even(void *p) { for (int i = 0; i < 16; i += 2) a[i] = 1; return 0; }
void *odd(void *p) { for (int i = 1; i < 16; i += 2) a[i] = 1; return 0; }
void *shifted(void *p) { for (int i = 0; i < 8; i++) a[i + 4] = 1; return 0; }
void *one(void *p) { a[*(int *)p] = 1; return 0; }
int main(void) { pthread_create(&id, 0, FIRST, &a[3]); SECOND(&a[4]); return 0; }
"""


def loops(first: str, second: str) -> dict[str, str]:
    return confidences(LOOPS.replace("FIRST", first).replace("SECOND", second))


def test_loops_over_parts_of_an_array() -> None:
    assert loops("low", "high") == loops("even", "odd") == {}
    assert loops("low", "even") == {"a[*]": "likely"}
    assert loops("shifted", "high") == loops("shifted", "low") == {"a[*]": "likely"}


def test_an_index_that_nobody_knows_is_a_doubt() -> None:
    assert loops("one", "one")["a[*]"] == "possible"


def test_a_flag_that_is_waited_for_is_a_doubt() -> None:
    code = """
    #include <stdatomic.h>
    atomic_int ready; int x; pthread_t id;
    static void await(atomic_int *flag) { while (!atomic_load(flag)) ; }
    void *run(void *p) { x = 1; atomic_store(&ready, 1); return 0; }
    int main(void) { pthread_create(&id, 0, run, 0); await(&ready); return x; }
    """
    assert confidences(code) == {"x": "possible"}
    assert confidences(code.replace("await(&ready);", "")) == {"x": "likely"}


def test_a_test_of_the_racing_bytes_is_no_order() -> None:
    code = """
    int x; pthread_t id;
    void *run(void *p) { if (x == 0) x = 1; return 0; }
    int main(void) { pthread_create(&id, 0, run, 0); run(0); return 0; }
    """
    assert confidences(code) == {"x": "likely"}


def test_the_result_of_a_trylock_may_be_compared_by_a_wrapper() -> None:
    code = """
    pthread_mutex_t m; int x; pthread_t id;
    static int enter(void) { return pthread_mutex_trylock(&m) == 0; }
    void *run(void *p) { if (enter()) { x++; pthread_mutex_unlock(&m); } return 0; }
    int main(void) { pthread_create(&id, 0, run, 0); run(0); return 0; }
    """
    assert confidences(code) == {}


def test_an_unlock_of_some_element_may_be_that_of_the_lock_held() -> None:
    code = """
    int x; pthread_mutex_t m[8]; pthread_t id; int i, j;
    void *run(void *p) {
        pthread_mutex_lock(&m[3]); pthread_mutex_unlock(&m[j]); x = 1; return 0; }
    int main(void) {
        pthread_create(&id, 0, run, 0);
        pthread_mutex_lock(&m[3]); x = 2; pthread_mutex_unlock(&m[3]); return 0; }
    """
    assert confidences(code)["x"] == "possible"
    assert "x" not in confidences(code.replace("m[j]", "m[5]"))


SERVER = """
static int spawn(pthread_t *id, void *(*entry)(void *)) { return pthread_create(id, 0, entry, 0); }
static void await(pthread_t id) { pthread_join(id, 0); }
"""
PART = """
static int limit{n}, hits{n}; static pthread_mutex_t m{n}; static pthread_t ids{n}[2];
static void *work{n}(void *unused) {{
    int n = limit{n};
    pthread_mutex_lock(&m{n}); hits{n} += n; pthread_mutex_unlock(&m{n});
    {extra}
    return 0; }}
static void start{n}(void) {{
    limit{n} = {n}; spawn(&ids{n}[0], work{n}); spawn(&ids{n}[1], work{n}); }}
static void stop{n}(void) {{ await(ids{n}[0]); await(ids{n}[1]); limit{n} = 0; }}
"""


def server(parts: int, extra: str = "") -> str:
    numbers = range(parts)
    texts = [PART.format(n=n, extra=extra if n == parts - 1 else "") for n in numbers]
    starts = " ".join(f"start{n}();" for n in numbers)
    stops = " ".join(f"stop{n}();" for n in numbers)
    return SERVER + "".join(texts) + f"int main(void) {{ {starts} {stops} return 0; }}"


def test_a_wrapper_may_create_threads_for_any_number_of_callers() -> None:
    assert confidences(server(14)) == {}
    assert confidences("int lost;" + server(14, "lost++;")) == {"lost": "likely"}


MEMBERS = """
struct pool { int low; int slots[16]; int high; };
static struct pool pool; pthread_mutex_t m;
void *work(void *unused) {
    pthread_mutex_lock(&m); pool.low++; pool.high++; pthread_mutex_unlock(&m); return 0; }
int main(int count, char **words) {
    pthread_t id; pthread_create(&id, 0, work, 0); %s return 0; }
"""


def test_an_index_stays_in_its_array() -> None:
    assert confidences(MEMBERS % "pool.slots[count & 15] = 1;") == {}
    assert confidences(MEMBERS % "((int *)&pool)[1 + (count & 31)] = 1;") == {}
    assert confidences(MEMBERS % "((char *)&pool)[count & 63] = 1;") != {}


def test_a_test_on_one_of_two_ways_to_an_access_is_no_doubt() -> None:
    code = """
        int x, flag; pthread_t id;
        static void touch(void) { x++; }
        void *work(void *unused) { flag = 1; touch(); return 0; }
        int main(void) { pthread_create(&id, 0, work, 0); %s return 0; }
        """
    assert confidences(code % "if (flag) touch();")["x"] == "possible"
    assert confidences(code % "if (flag) touch(); touch();")["x"] == "likely"
