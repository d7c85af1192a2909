"""One program for each library that calls back: racy without its lock, race-free with it.

The few prototypes are declared in the program, so that no library has to be installed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from raceproof.cli import main

TEMPLATE = """\
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
{declared}
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void bump(void) {{ TAKE; count++; GIVE; }}
{handler}
static void *worker(void *x) {{ {run}; return 0; }}
int main(void)
{{
    pthread_t first, second;
    {register}
    pthread_create(&first, 0, worker, 0);
    pthread_create(&second, 0, worker, 0);
    {main}
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}}
"""


@dataclass(frozen=True)
class Case:
    declared: str
    handler: str
    register: str
    run: str = ""
    main: str = ""


ON_VOID = "static void on(void *x) { bump(); }"
ON_INT = "static int on(void *x) { bump(); return 0; }"
SIGEVENT = """\
struct sigevent event = {0};
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = on;"""
ON_VALUE = "static void on(union sigval value) { bump(); }"

CASES = {
    "libevent": Case(
        "struct event { void *x[16]; };\n"
        "void event_set(struct event *, int, short, void (*)(int, short, void *), void *);\n"
        "int event_base_loop(void *, int);",
        "static struct event e; static void on(int fd, short what, void *x) { bump(); }",
        "event_set(&e, 0, 2, on, 0);",
        "event_base_loop(x, 0)",
    ),
    "evbuffer": Case(
        "void *evbuffer_new(void); int evbuffer_add(void *, const void *, unsigned long);\n"
        "void *evbuffer_add_cb(void *, void (*)(void *, void *, void *), void *);",
        "static void *b; static void on(void *b, void *info, void *x) { bump(); }",
        "b = evbuffer_new(); evbuffer_add_cb(b, on, 0);",
        'evbuffer_add(b, "x", 1)',
    ),
    "libev": Case(
        "struct ev_loop; struct ev_async { int active; void *x[8]; };\n"
        "typedef struct { int active, pending, priority; void *data;\n"
        "    void (*cb)(struct ev_loop *, void *, int); } watcher;\n"
        "void ev_once(struct ev_loop *, int, int, double, void (*)(int, void *), void *);\n"
        "int ev_run(struct ev_loop *, int);",
        "static void on(int revents, void *x) { bump(); }",
        "ev_once(0, 0, 1, 0., on, 0);",
        "ev_run(0, 0)",
    ),
    "libuv": Case(
        "typedef struct { void *x[16]; } uv_timer_t; int uv_run(void *, int);\n"
        "int uv_timer_start(uv_timer_t *, void (*)(uv_timer_t *), unsigned long, unsigned long);",
        "static uv_timer_t t; static void on(uv_timer_t *t) { bump(); }",
        "uv_timer_start(&t, on, 1, 1);",
        "uv_run(x, 0)",
    ),
    "libuv work": Case(
        "typedef struct { void *x[16]; } uv_work_t; int uv_run(void *, int);\n"
        "int uv_queue_work(void *, uv_work_t *, void (*)(uv_work_t *),\n"
        "    void (*)(uv_work_t *, int));",
        "static uv_work_t w; static void on(uv_work_t *w) { bump(); }\n"
        "static void after(uv_work_t *w, int status) { bump(); }",
        "uv_queue_work(0, &w, on, after);",
        "uv_run(x, 0)",
    ),
    "GLib source": Case(
        "unsigned g_idle_add(int (*)(void *), void *); void g_main_loop_run(void *);",
        ON_INT,
        "g_idle_add(on, 0);",
        "g_main_loop_run(x)",
    ),
    "GLib signal": Case(
        "unsigned long g_signal_connect_data(void *, const char *, void (*)(void), void *,\n"
        "    void (*)(void *, void *), int);\n"
        "void g_signal_emit_by_name(void *, const char *, ...);",
        "static int object; static void on(void *o, void *x) { bump(); }",
        'g_signal_connect_data(&object, "changed", (void (*)(void))on, 0, 0, 0);',
        'g_signal_emit_by_name(&object, "changed")',
    ),
    "GLib pool": Case(
        "void *g_thread_pool_new(void (*)(void *, void *), void *, int, int, void *);",
        "static void on(void *data, void *x) { bump(); }",
        "g_thread_pool_new(on, 0, 2, 1, 0);",
    ),
    "SDL": Case(
        "unsigned SDL_AddTimer(unsigned, unsigned (*)(unsigned, void *), void *);",
        "static unsigned on(unsigned interval, void *x) { bump(); return interval; }",
        "SDL_AddTimer(10, on, 0); SDL_AddTimer(20, on, 0);",
    ),
    "libcurl": Case(
        "void *curl_easy_init(void); int curl_easy_setopt(void *, int, ...);\n"
        "int curl_easy_perform(void *);",
        "static unsigned long on(char *p, unsigned long a, unsigned long b, void *x)\n"
        "{ bump(); return a; }",
        "void *c = curl_easy_init(); curl_easy_setopt(c, 20011, on);",
        "curl_easy_perform(x)",
    ),
    "OpenSSL": Case(
        "void SSL_CTX_set_info_callback(void *, void (*)(const void *, int, int));\n"
        "int SSL_read(void *, void *, int);",
        "static void on(const void *ssl, int type, int value) { bump(); }",
        "SSL_CTX_set_info_callback(0, on);",
        "char b[8]; SSL_read(x, b, 8)",
    ),
    "zlib": Case(
        "int inflateBack(void *, unsigned (*)(void *, unsigned char **), void *,\n"
        "    int (*)(void *, unsigned char *, unsigned), void *);",
        "static unsigned in(void *x, unsigned char **p) { bump(); return 0; }\n"
        "static int out(void *x, unsigned char *p, unsigned n) { return 0; }",
        "",
        "inflateBack(x, in, 0, out, 0)",
    ),
    "zlib allocator": Case(
        "typedef struct { unsigned char *next_in; unsigned avail_in; unsigned long total_in;\n"
        "    unsigned char *next_out; unsigned avail_out; unsigned long total_out; char *msg;\n"
        "    void *state; void *(*zalloc)(void *, unsigned, unsigned);\n"
        "    void (*zfree)(void *, void *); void *opaque; int type; long a, b; } z_stream;\n"
        "int inflateInit_(z_stream *, const char *, int);",
        "static void *on(void *x, unsigned n, unsigned size) { bump(); return malloc(n * size); }\n"
        "static void off(void *x, void *p) { }",
        "",
        'z_stream s = {0}; s.zalloc = on; s.zfree = off; inflateInit_(&s, "1", sizeof s)',
    ),
    "SQLite": Case(
        "void *sqlite3_update_hook(void *, void (*)(void *, int, const char *, const char *,\n"
        "    long), void *); int sqlite3_step(void *);",
        "static void on(void *x, int op, const char *d, const char *t, long row) { bump(); }",
        "sqlite3_update_hook(0, on, 0);",
        "sqlite3_step(x)",
    ),
    "SQLite exec": Case(
        "void *sqlite3_commit_hook(void *, int (*)(void *), void *);\n"
        "int sqlite3_exec(void *, const char *, int (*)(void *, int, char **, char **), void *,\n"
        "    char **);",
        ON_INT,
        "sqlite3_commit_hook(0, on, 0);",
        'sqlite3_exec(x, "commit", 0, 0, 0)',
    ),
    "libmicrohttpd": Case(
        "typedef int (*handler)(void *, void *, const char *, const char *, const char *,\n"
        "    const char *, unsigned long *, void **);\n"
        "void *MHD_start_daemon(unsigned, unsigned short, void *, void *, handler, void *, ...);",
        "static int on(void *x, void *c, const char *u, const char *m, const char *v,\n"
        "    const char *d, unsigned long *n, void **p) { bump(); return 1; }",
        "MHD_start_daemon(8, 80, 0, 0, on, 0, 0);",
    ),
    "POSIX timer": Case(
        "#include <time.h>",
        ON_VALUE,
        SIGEVENT + " timer_t timer; timer_create(CLOCK_REALTIME, &event, &timer);",
    ),
    "mq_notify": Case(
        "#include <mqueue.h>", ON_VALUE, SIGEVENT + " mq_notify(3, &event);", "bump()"
    ),
    "aio": Case(
        "#include <aio.h>",
        ON_VALUE,
        "static struct aiocb block; block.aio_sigevent.sigev_notify = SIGEV_THREAD;\n"
        "    block.aio_sigevent.sigev_notify_function = on; aio_read(&block);",
        "bump()",
    ),
    "pthread_atfork": Case(
        "#include <unistd.h>",
        "static void before(void) { bump(); }",
        "pthread_atfork(before, 0, 0);",
        "fork()",
    ),
    "nftw": Case(
        "#define _XOPEN_SOURCE 700\n#include <ftw.h>",
        "static int on(const char *p, const struct stat *s, int f, struct FTW *w)\n"
        "{ bump(); return 0; }",
        "",
        'nftw(".", on, 4, 0)',
    ),
    "glob": Case(
        "#include <glob.h>",
        "static int on(const char *path, int error) { bump(); return 0; }",
        "",
        'glob_t g; glob("*", 0, on, &g)',
    ),
}
LOCKED = {"TAKE": "pthread_mutex_lock(&lock)", "GIVE": "pthread_mutex_unlock(&lock)"}


def answer(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], is_locked: bool
) -> tuple[str, set[str]]:
    case = CASES[name]
    text = TEMPLATE.format(
        declared=case.declared, handler=case.handler, register=case.register, run=case.run,
        main=case.main,
    )  # fmt: skip
    first = "#define _GNU_SOURCE\n"
    for word, call in LOCKED.items():
        text = text.replace(word, call if is_locked else "(void)0")
    (folder / "program.c").write_text(first + text)
    main(["check", str(folder / "program.c"), "--engine", "modular", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    return found["verdict"], {one["location"]["name"] for one in found["findings"]}


@pytest.mark.parametrize("name", CASES)
def test_a_handler_without_lock_races(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict, locations = answer(name, tmp_path, capsys, is_locked=False)
    assert verdict != "race-free"
    assert "count" in locations


@pytest.mark.parametrize("name", CASES)
def test_a_handler_with_lock_does_not(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict, locations = answer(name, tmp_path, capsys, is_locked=True)
    assert "count" not in locations
    assert verdict == "race-free"
