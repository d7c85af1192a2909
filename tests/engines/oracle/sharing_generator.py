"""Random programs that share by indices, tickets, flags and home-made locks: right or nearly so.

A few threads with one body, created one by one or in a loop, and `main` beside them. What the pair
prover believes in is drawn together with what breaks it.
"""

from __future__ import annotations

from hypothesis import strategies as st

_HEAD = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int data[8], next, ready, low = 1, busy, most;
unsigned char small = 254;
_Atomic int count;
int *where = data;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t ms[8] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                         PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void require(int condition) { if (!condition) abort(); }
"""

_LOCK, _UNLOCK = "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"
_BEGIN, _END = "__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"
_PATTERNS: tuple[tuple[str, ...], ...] = (
    (_LOCK, "i = next;", "next = next + 1;", _UNLOCK, "data[i] = 1;", "data[i]++;"),
    (_LOCK, "i = next;", "next += 2;", _UNLOCK, "data[i] = 1;", "data[i + 1] = 1;"),
    (_BEGIN, "i = next;", "next = next + 1;", _END, "data[i]++;"),
    (
        _LOCK,
        "if (next < 3) { i = next; next++; } else { i = 7; }",
        _UNLOCK,
        "if (i < 3)",
        "data[i]++;",
    ),
    (_LOCK, "i = small & 7;", "small++;", _UNLOCK, "data[i]++;"),
    ("i = count++ & 7;", "if (i < 4)", "data[i]++;"),
    ("data[own] = 1;", "x = data[own];", "data[own + 4]++;"),
    ("pthread_mutex_lock(&ms[own]);", "data[own]++;", "pthread_mutex_unlock(&ms[own]);"),
    (
        "i = __VERIFIER_nondet_bool();",
        "pthread_mutex_lock(&ms[i]);",
        "data[i]++;",
        "pthread_mutex_unlock(&ms[i]);",
    ),
    (_LOCK, "if (!ready)", "{ data[0] = 3; ready = 1; }", _UNLOCK, "x = data[0];"),
    (_LOCK, "i = ready;", "ready = 1;", _UNLOCK, "if (!i)", "data[0]++;"),
    (_LOCK, "if (ready)", "data[1]++;", "ready = 0;", _UNLOCK, "if (ready)", "data[1] = 2;"),
    (_LOCK, "if (ready == 0)", "i = 1;", _UNLOCK, "if (!i)", "data[1] = 2;"),
    (_LOCK, "if (most < 2)", "most = 2;", _UNLOCK, "x = most;"),
    (_BEGIN, "require(busy == 0);", "busy = 1;", _END, "data[3]++;", _BEGIN, "busy = 0;", _END),
    (
        _BEGIN,
        "if (busy == 0)",
        "{ busy = 1; i = 1; }",
        _END,
        "if (i)",
        "{ data[3]++; " + _BEGIN + " busy = 0; " + _END + " }",
    ),
    (
        "for (int j = own; j < own + 1; j++)",
        "data[j] = 2;",
        "x = data[own];",
    ),
    ("for (int j = 0; j < 2; j++)", "{ " + _LOCK, "i = next; next++;", _UNLOCK, "data[i]++; }"),
    (
        "pthread_mutex_lock(&again);",
        "i = next;",
        "pthread_mutex_lock(&again);",
        "next = next + 1;",
        "pthread_mutex_unlock(&again);",
        "data[i]++;",
        "pthread_mutex_unlock(&again);",
    ),
    (
        "pthread_mutex_lock(&k);",
        _LOCK,
        "if (next == 0) x = 1;",
        "next = 1;",
        _UNLOCK,
        "if (x) data[0] = 5;",
        "pthread_mutex_unlock(&k);",
    ),
    (
        _BEGIN + " i = next; next++; " + _END,
        _BEGIN,
        "require(i == most);",
        _END,
        "data[5]++;",
        _BEGIN + " most = most + 1; " + _END,
    ),
    (_LOCK, "where = where + 1;", "int *p = where;", _UNLOCK, "*p = 1;"),
    ("if (own < low)", "data[own]++;", "if (own >= low)", "data[low + own] = own;"),
)
"""Each is right with one or the other way of being created."""
_CHANGES = (
    ("&m)", "&k)"),
    ("&m)", "&again)"),
    ("&again)", "&m)"),
    ("i]", "i / 2]"),
    ("i]", "own]"),
    ("own]", "own / 2]"),
    ("own]", "own + 1]"),
    ("next + 1", "next"),
    ("next + 1", "next - 1"),
    ("+= 2", "+= 1"),
    ("= 1", "= 0"),
    ("= 0", "= 1"),
    (" < ", " <= "),
    ("!ready", "ready"),
    ("== 0", "!= 1"),
    ("busy = 1", "busy = busy + 1"),
    ("i = next", "i = 1"),
    ("i == most", "i <= most"),
    ("most + 1", "most + 2"),
    ("most = most + 1", "most = i"),
    ("most = 2", "most = most + 1"),
    ("own + 1;", "own + 2;"),
)


@st.composite
def _body(draw: st.DrawFn) -> str:
    """One or two patterns, with up to two lines left out, doubled, moved or changed."""
    lines = list(draw(st.sampled_from(_PATTERNS)))
    if draw(st.integers(0, 2)) == 0:
        lines += draw(st.sampled_from(_PATTERNS))
    for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2)))):
        at = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.integers(0, 5))
        if kind == 0:
            lines[at] = ";"
        elif kind == 1:
            lines.insert(at, lines[at])
        elif kind == 2 and at:
            lines[at - 1], lines[at] = lines[at], lines[at - 1]
        else:
            old, new = draw(st.sampled_from(_CHANGES))
            for index in range(at, len(lines)):
                if old in lines[index]:
                    lines[index] = lines[index].replace(old, new, 1)
                    break
    return "\n    ".join(lines)


@st.composite
def sharing_programs(draw: st.DrawFn) -> str:
    """A C program; some of them do not compile."""
    body = draw(_body())
    argument = draw(st.sampled_from(("n", "n", "n", "n / 2", "2 * n", "low", "0")))
    before = draw(
        st.sampled_from(("", "", "", "low = 3;", "next = 1;", "ready = 1;", "data[n] = 1;"))
    )
    after = draw(st.sampled_from(("", "", "", "", "data[n] = 2;", "data[0] = 2;", "next = 0;")))
    last = draw(st.sampled_from(("", "", "", "work(0);", "work((void *)7);", "x = data[3];")))
    start = draw(st.sampled_from(("", "", "", "ready = 1;", "next = 2;", "busy = 1;", "low = 2;")))
    rounds = draw(st.sampled_from((2, 2, 3)))
    return f"""{_HEAD}
static void *work(void *argument)
{{
    int own = (int)(long)argument, i = 0, x = 0;
    {body}
    return (void *)(long)x;
}}

int main(void)
{{
    pthread_t t;
    int x = 0;
    {start}
    for (int n = 0; n < {rounds}; n++) {{
        {before}
        pthread_create(&t, 0, work, (void *)(long)({argument}));
        {after}
    }}
    {last}
    return x;
}}
"""
