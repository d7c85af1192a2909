"""`raceproof threads` and `raceproof explain`, as a user sees them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = """\
#include <pthread.h>

struct bank {
    pthread_mutex_t lock;
    long total;
    long count;
};

static struct bank bank = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void deposit(long amount)
{
    pthread_mutex_lock(&bank.lock);
    bank.total += amount;
    pthread_mutex_unlock(&bank.lock);
    bank.count++;
}

static void *clerk(void *arg)
{
    deposit(5);
    return 0;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, clerk, 0);
    pthread_create(&two, 0, clerk, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return (int)bank.total;
}
"""

ROWS = """\
#include <pthread.h>
int rows[8];
static void *set(void *index)
{
    rows[*(int *)index] = 1;
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, 0, set, &argc);
    rows[3] = 2;
    return 0;
}
"""
DEPTH = ("--context-depth", "0")

THREADS = """\
0  main
     runs beside 1, 2
1    clerk, created at bank.c:28, joined at bank.c:30
       runs beside 0, 2
2    clerk, created at bank.c:29, joined at bank.c:31
       runs beside 0, 1
"""

DOT = """\
digraph threads {
  node [shape=box];
  t0 [label="0  main"];
  t1 [label="1  clerk\\njoined at bank.c:30"];
  t2 [label="2  clerk\\njoined at bank.c:31"];
  t0 -> t1 [label="bank.c:28"];
  t0 -> t2 [label="bank.c:29"];
  t0 -> t1 [dir=none, style=dashed, constraint=false];
  t0 -> t2 [dir=none, style=dashed, constraint=false];
  t1 -> t2 [dir=none, style=dashed, constraint=false];
}
"""

TOTAL = """\
bank.total: lock `bank.lock`; they never happen at the same time

  1  read of bank.total at bank.c:32:22
       thread  0 main
       holds   no lock
  2  read of bank.total at bank.c:14:16
       thread  1 clerk, created at bank.c:28
       holds   bank.lock
       calls   clerk (bank.c:21) > deposit
  3  write of bank.total at bank.c:14:16
       thread  1 clerk, created at bank.c:28
       holds   bank.lock
       calls   clerk (bank.c:21) > deposit
  4  read of bank.total at bank.c:14:16
       thread  2 clerk, created at bank.c:29
       holds   bank.lock
       calls   clerk (bank.c:21) > deposit
  5  write of bank.total at bank.c:14:16
       thread  2 clerk, created at bank.c:29
       holds   bank.lock
       calls   clerk (bank.c:21) > deposit

pairs of different threads
  1 and 2  both only read
  1 and 3  they never happen at the same time
  1 and 4  both only read
  1 and 5  they never happen at the same time
  2 and 4  both only read
  2 and 5  lock `bank.lock`
  3 and 4  lock `bank.lock`
  3 and 5  lock `bank.lock`

"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bank.c").write_text(TEXT, encoding="utf-8")
    return tmp_path


def raceproof(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "raceproof", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("backend", ["value", "alias", "syntactic"])
def test_threads_prints_the_creation_graph(folder: Path, backend: str) -> None:
    done = raceproof(folder, "threads", "bank.c", "--backend", backend)
    assert (done.stdout, done.returncode) == (THREADS, 0)


def test_threads_for_graphviz_and_for_programs(folder: Path) -> None:
    assert raceproof(folder, "threads", "bank.c", "--format", "dot").stdout == DOT
    listed = json.loads(raceproof(folder, "threads", "bank.c", "--format", "json").stdout)
    assert [thread["entry"] for thread in listed["threads"]] == ["main", "clerk", "clerk"]
    assert listed["threads"][2]["chain"] == [{"function": "main", "file": "bank.c", "line": 29}]
    assert listed["threads"][2]["beside"] == [0, 1]


def test_explain_lists_the_shared_locations(folder: Path) -> None:
    done = raceproof(folder, "explain", "bank.c")
    assert done.stdout == "bank  13 accesses  may race: bank.count (3 of 48 pairs)\n"
    assert done.returncode == 0


@pytest.mark.parametrize("backend", ["value", "alias"])
def test_explain_tells_what_protects_each_pair(folder: Path, backend: str) -> None:
    done = raceproof(folder, "explain", "bank.c", "--location", "bank.total", "--backend", backend)
    assert done.stdout == TOTAL


def test_explain_tells_that_nothing_protects_a_pair(folder: Path) -> None:
    done = raceproof(folder, "explain", "bank.c", "--location", "bank.count", "--format", "json")
    (location,) = json.loads(done.stdout)["locations"]
    assert location["protection"] is None
    racing = [pair["accesses"] for pair in location["pairs"] if pair["reason"] is None]
    kinds = [[location["accesses"][i]["kind"] for i in pair] for pair in racing]
    assert sorted(map(sorted, kinds)) == [["read", "write"], ["read", "write"], ["write", "write"]]
    assert [pair["lacking"] for pair in location["pairs"]] == [[], [], [], None]


def test_explain_tells_what_a_likely_race_would_need(tmp_path: Path) -> None:
    (tmp_path / "rows.c").write_text(ROWS, encoding="utf-8")
    done = raceproof(tmp_path, "explain", "rows.c", "--location", "rows")
    assert done.stdout.splitlines()[-5:] == [
        "pairs of different threads",
        "  1 and 2  nothing protects them: they may race",
        "           missing for a likely race: they share a byte for sure; they stay",
        "           inside of the object",
        "",
    ]


def test_threads_and_explain_take_a_depth(folder: Path) -> None:
    shallow = raceproof(folder, "explain", "bank.c", "--location", "bank.total", *DEPTH)
    assert "calls   clerk (bank.c:21) > deposit" not in shallow.stdout
    assert "lock `bank.lock`" in shallow.stdout
    assert raceproof(folder, "threads", "bank.c", *DEPTH).stdout == THREADS
    assert raceproof(folder, "threads", "bank.c", "--context-depth", "-1").returncode == 2


def test_an_unknown_location_is_the_users_mistake(folder: Path) -> None:
    done = raceproof(folder, "explain", "bank.c", "--location", "vault")
    assert done.returncode == 2
    assert done.stderr == "raceproof: error: no shared location 'vault'; shared are: bank\n"


def test_the_report_has_all_that_a_reader_needs(folder: Path) -> None:
    done = raceproof(folder, "check", "--engine", "modular", "bank.c")
    lines = done.stdout.splitlines()
    assert done.stdout.count("bank.count++;") == 2
    assert done.stdout.count("^^^^^^^^^^") == 2
    assert "  write by clerk, created at bank.c:28, holding no lock" in lines
    assert "  write by clerk, created at bank.c:29, holding no lock" in lines
    assert lines.count("    clerk (bank.c:21) > deposit") == 2
    assert lines[-1].startswith("race · 1 finding (1 likely) · 3 threads · 1 shared location · ")


def test_a_cpp_thread_is_created_where_the_program_says(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(
        "#include <thread>\nint n;\nint main() {\n  std::thread t([] { n++; });\n  t.join();\n}\n",
        encoding="utf-8",
    )
    done = raceproof(tmp_path, "threads", "main.cpp", "--format", "json")
    assert json.loads(done.stdout)["threads"][1]["created"] == {
        "function": "main",
        "file": "main.cpp",
        "line": 4,
    }
