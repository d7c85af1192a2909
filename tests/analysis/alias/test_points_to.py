"""Points-to sets of small programs: what each load or store of a variable may touch."""

from collections.abc import Callable

from raceproof.analysis.alias.cells import Thing
from raceproof.analysis.alias.points_to import PointsTo
from raceproof.analysis.alias.shapes import Shape
from raceproof.analysis.alias.solver import bits
from raceproof.concurrency.accesses import Events
from raceproof.concurrency.catalogue import Models
from raceproof.ir import Call, Program, Store

Compile = Callable[[str], Program]


def points_to(program: Program) -> PointsTo:
    return PointsTo(program, Events(program, Models.load()))


def written(program: Program, function: str) -> list[set[str]]:
    """The names of what each store of a function may write, in order."""
    solution = points_to(program)
    found = []
    for instruction in program.functions[function].instructions:
        if isinstance(instruction, Store):
            targets = solution.targets(function, instruction.pointer)
            found.append({f"{t.descriptor[0]} {t.descriptor[-1]}:{c}" for t, c in targets})
    return found


def test_a_pointer_points_to_all_that_it_was_given(compiled: Compile) -> None:
    program = compiled(
        """
        int a, b, c; int *p;
        int main(int n) { p = &a; if (n) p = &b; return 0; }
        void use(void) { *p = 1; }
        """
    )
    assert written(program, "use") == [{"global a:0", "global b:0"}]


def test_members_are_told_apart(compiled: Compile) -> None:
    program = compiled(
        """
        int a, b; struct { int *x; int *y; } s;
        int main(void) { s.x = &a; s.y = &b; return 0; }
        void use(void) { *s.x = 1; *s.y = 2; }
        """
    )
    assert written(program, "use") == [{"global a:0"}, {"global b:0"}]


def test_elements_of_a_long_array_are_one(compiled: Compile) -> None:
    program = compiled(
        """
        int a, b; int *all[100];
        int main(void) { all[3] = &a; all[7] = &b; return 0; }
        void use(int i) { *all[i] = 1; }
        """
    )
    assert written(program, "use") == [{"global a:0", "global b:0"}]


def test_elements_of_a_short_array_are_one_only_under_an_index(compiled: Compile) -> None:
    text = """
        int a, b; int *all[2];
        int main(void) { all[0] = &a; all[1] = &b; return 0; }
        void use(int i) { *all[%s] = 1; }
        """
    assert written(compiled(text % "1"), "use") == [{"global b:0"}]
    assert written(compiled(text % "i"), "use") == [{"global a:0", "global b:0"}]


def test_a_member_array_does_not_melt_its_struct(compiled: Compile) -> None:
    program = compiled(
        """
        int a, b; struct { int *before; char text[64]; int *after; } s;
        int main(int n) { s.before = &a; s.text[n] = 1; s.after = &b; return 0; }
        void use(void) { *s.before = 1; *s.after = 2; }
        """
    )
    assert written(program, "use") == [{"global a:0"}, {"global b:0"}]


def test_pointers_travel_through_calls_and_results(compiled: Compile) -> None:
    program = compiled(
        """
        int a, b;
        static int *same(int *p) { return p; }
        int *(*through)(int *) = same;
        int main(void) { *same(&a) = 1; *same(&b) = 2; return 0; }
        """
    )
    assert written(program, "main") == [{"global a:0"}, {"global b:0"}]


def test_calls_through_pointers_are_resolved(compiled: Compile) -> None:
    program = compiled(
        """
        int a;
        static void set(int *p) { *p = 1; }
        void other(int *p) { *p = 2; }
        void (*hook)(int *) = set;
        int main(void) { hook(&a); return 0; }
        """
    )
    solution = points_to(program)
    call = next(i for i in program.functions["main"].instructions if isinstance(i, Call))
    assert list(solution.callees(call.number)) == ["set"]
    assert written(program, "set") == [{"global a:0"}]
    assert written(program, "other") == [set()]


def test_threads_get_their_argument(compiled: Compile) -> None:
    program = compiled(
        """
        #include <pthread.h>
        static void *worker(void *p) { *(int *)p = 1; return 0; }
        int main(void) {
            int local; pthread_t t;
            pthread_create(&t, 0, worker, &local);
            pthread_join(t, 0);
            return local;
        }
        """
    )
    (targets,) = written(program, "worker")
    (target,) = targets
    assert target.startswith("slot ")
    solution = points_to(program)
    shared = solution.shared()
    slots = [t for t in solution.cells.things if t.descriptor[0] == "slot"]
    assert {t.number in shared for t in slots} == {True, False}


def test_structs_are_copied_with_their_pointers(compiled: Compile) -> None:
    program = compiled(
        """
        #include <string.h>
        int a, b; struct pair { int *x, *y; } from, to, again;
        int main(void) {
            from.x = &a; from.y = &b; to = from; memcpy(&again, &to, sizeof to); return 0;
        }
        void use(void) { *to.y = 1; *again.x = 2; }
        """
    )
    assert written(program, "use") == [{"global b:0"}, {"global a:0"}]


def test_container_of_finds_its_way_back(compiled: Compile) -> None:
    program = compiled(
        """
        #include <stddef.h>
        struct link { struct link *next; };
        struct item { int key; struct link link; int *data; } item;
        int a; struct link *head;
        int main(void) { item.data = &a; head = &item.link; return 0; }
        void use(void) {
            struct item *i = (struct item *)((char *)head - offsetof(struct item, link));
            *i->data = 1;
        }
        """
    )
    assert written(program, "use") == [{"global a:0"}]


def test_allocation_wrappers_make_objects_of_their_own(compiled: Compile) -> None:
    program = compiled(
        """
        #include <stdlib.h>
        static void *get(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }
        int main(void) { int *a = get(4), *b = get(4); *a = 1; *b = 2; return 0; }
        """
    )
    first, second = written(program, "main")
    assert len(first) == len(second) == 1
    assert first != second


def test_integers_keep_their_object(compiled: Compile) -> None:
    program = compiled(
        """
        int a; long bits;
        int main(void) { bits = (long)&a; return 0; }
        void use(void) { *(int *)bits = 1; }
        void tagged(void) { *(int *)(bits & ~7L) = 1; }
        """
    )
    assert written(program, "use") == [{"global a:0"}]
    assert written(program, "tagged") == [{"global a:None"}]


def test_pointers_walk_backwards_in_arrays() -> None:
    shape = Shape(size=None, arrays=((0, None, 24),))
    assert shape.moved(8, -24) == {8}
    assert shape.moved(0, -8) == {16}


def test_the_container_of_any_element_is_found() -> None:
    shape = Shape(size=40 + 4 * 24, arrays=((40, 40 + 4 * 24, 24),))
    shape.wake(40, 24)
    assert 0 in shape.moved(40, -64)


def test_folding_only_goes_on() -> None:
    shape = Shape(size=None)
    assert shape.fold(12)
    assert shape.fold(8)
    assert shape.stride == 4
    assert not shape.fold(16)


def test_a_struct_that_starts_with_an_array_keeps_its_members_apart() -> None:
    shape = Shape(size=40, arrays=((0, 32, 1),))
    assert shape.moved(0, 32) == {32}
    assert shape.moved(0, 4) == {0}
    assert shape.moved(0, -4) == {0}


def test_string_literals_are_one_object_without_addresses(compiled: Compile) -> None:
    program = compiled(
        """
        int a; const char *text; int *p;
        static void say(const char *t) { text = t; }
        int main(void) { say("one"); say("two"); p = &a; return 0; }
        void use(void) { *(char *)text = 1; *p = 1; }
        """
    )
    assert written(program, "use") == [{"strings strings:0"}, {"global a:0"}]


def test_memory_from_unknown_code_is_apart_from_the_arguments_of_main(compiled: Compile) -> None:
    program = compiled(
        """
        struct node { int *to; }; int a;
        struct node *unknown(void);
        int main(int n, char **argv) { unknown()->to = &a; return 0; }
        void use(char **argv) { *unknown()->to = 1; }
        """
    )
    (through,) = written(program, "use")
    assert "global a:0" in through
    solution = points_to(program)
    argv = program.functions["main"].parameters[1]
    (outside,) = {thing for thing, _ in solution.targets("main", argv)}
    assert outside.descriptor == ("external", "arguments")
    assert all("global" not in str(held) for held in _held(solution, outside))


def _held(solution: PointsTo, thing: Thing) -> list[object]:
    cells = solution.cells
    return [
        cells.addresses[a][0].descriptor for _, held in cells.contents_of(thing) for a in bits(held)
    ]


def test_heap_objects_have_the_type_of_what_receives_them(compiled: Compile) -> None:
    program = compiled(
        """
        #include <errno.h>
        #include <stdlib.h>
        struct table { int *rows[4]; int *last; }; struct owner { int n; struct table *mine; };
        struct table *all; int a, b;
        int main(int n, char **argv) {
            struct owner *o = malloc(sizeof *o);
            if (!o) return errno;
            all = calloc(n, sizeof *all);
            if (!all) return errno;
            o->mine = calloc(n, sizeof *all);
            for (int i = 0; i < n; i++) { all[i].rows[i % 4] = &a; o->mine[i].rows[i % 4] = &a; }
            all[1].last = o->mine[1].last = &b;
            return 0;
        }
        void use(int i) { *all[i].rows[i] = 1; *all[i].last = 2; }
        """
    )
    assert written(program, "use") == [{"global a:0"}, {"global b:0"}]
    names = {program.debug.type(key).target for key in program.heap_types.values()}
    assert {program.debug.type(name).name for name in names} == {"owner", "table"}
