"""What bounds the work of the value backend."""

from pathlib import Path

from raceproof.analysis.thread_modular import Analysis
from raceproof.analysis.weights import HEAVIEST
from raceproof.concurrency.catalogue import Models
from raceproof.frontend import load_program
from raceproof.options import Options


def analysed(source: str, folder: Path, is_coarse: bool = False) -> Analysis:
    path = folder / "program.c"
    path.write_text(source)
    analysis = Analysis(
        load_program([path], Options()),
        Models.load(()),
        context_depth=0 if is_coarse else None,
        is_coarse=is_coarse,
    )
    analysis.run()
    return analysis


def test_heavy_rounds_are_kept_together(tmp_path: Path) -> None:
    branches = "".join(f"if (v == {i}) x = {i};\n" for i in range(400))
    source = f"""
    int x;
    static void heavy(int v) {{ {branches} }}
    int main(int argc, char **argv) {{
        for (int i = 0; i < argc; i++) for (int j = 0; j < argc; j++) heavy(j);
        for (int i = 0; i < argc; i++) x = i;
        return 0;
    }}
    """
    analysis = analysed(source, tmp_path)
    main = analysis.flows.of(analysis.program.functions["main"])
    outer, inner, light = sorted(main.loops)
    rounds = [analysis.rounds.of(main, head) for head in (outer, inner, light)]
    heavy = analysis.rounds.weights.of(analysis.program.functions["heavy"])
    assert heavy * (rounds[0] + 1) * (rounds[1] + 1) <= max(HEAVIEST, heavy)
    assert rounds[2] == 2


def test_coarse_work_is_bounded(tmp_path: Path) -> None:
    """Each level calls the next in four ways: all apart, that would be 4 ** 8 calls."""
    levels = "".join(
        f"static void f{i}(int *p, int v) {{ *p = v; "
        f"for (int k = 0; k < 4; k++) f{i + 1}(p, v * 4 + k); if (*p > {i}) f{i + 1}(p, v); }}\n"
        for i in reversed(range(8))
    )
    source = f"int x;\nstatic void f8(int *p, int v) {{ *p += v; }}\n{levels}"
    source += "int main(void) { f0(&x, 1); return 0; }\n"
    assert analysed(source, tmp_path, is_coarse=True).ticks < 5_000


def test_variable_arguments_count(tmp_path: Path) -> None:
    """A call that differs in its variable arguments alone is another call."""
    source = """
    #include <stdarg.h>
    int x, y;
    static void set(int count, ...) {
        va_list list;
        va_start(list, count);
        *va_arg(list, int *) = count;
        va_end(list);
    }
    int main(void) {
        for (int i = 0; i < 2; i++) set(1, i ? &x : &y);
        return 0;
    }
    """
    analysis = analysed(source, tmp_path)
    written = {
        analysis.objects[access.base].name
        for access in analysis.threads.main.records.accesses.values()
        if access.is_write
    }
    assert {"x", "y"} <= written


def test_a_thread_starts_with_the_memory_of_every_creation(tmp_path: Path) -> None:
    """`start` does not look at `where`, but the thread that it creates does."""
    source = """
    #include <pthread.h>
    int a, b, *where = &a;
    static void *worker(void *arg) { *where = 1; return 0; }
    static void start(void) { pthread_t t; pthread_create(&t, 0, worker, 0); }
    int main(void) {
        for (int i = 0; i < 9; i++) { start(); where = &b; }
        return 0;
    }
    """
    analysis = analysed(source, tmp_path)
    written = {
        analysis.objects[access.base].name
        for thread in analysis.threads.all[1:]
        for access in thread.records.accesses.values()
        if access.is_write
    }
    assert {"a", "b"} <= written
