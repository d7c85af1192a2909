"""Measuring: the cage, the points, what is kept between runs."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from raceproof.bench.cage import Ended, Limits, run_caged
from raceproof.bench.plot import cactus
from raceproof.bench.results import Result, ResultsFile, read_results
from raceproof.bench.run import read_result
from raceproof.bench.runexec import Cage, cage_here
from raceproof.bench.table import line, per_directory, print_difference, print_tables, quantile
from raceproof.bench.tasks import Task, read_tasks, select
from raceproof.errors import UserError

ROOMY = Limits(cpu=20, wall=20, memory=1000)


Python = Callable[[str, Limits], Ended]
CAGES: dict[Cage, None] = dict.fromkeys([run_caged, cage_here()])


@pytest.fixture(params=list(CAGES))
def python(request: pytest.FixtureRequest) -> Python:
    """Runs Python code in each cage that this machine has."""
    return lambda code, limits: request.param([sys.executable, "-c", code], limits)


def result(task: str, expected: str, verdict: str, cpu: float = 1.0) -> Result:
    return Result(task, "folder", expected, verdict, cpu, cpu, 50, engine="modular")


def test_what_a_command_says_comes_out_of_the_cage(python: Python) -> None:
    ended = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)", ROOMY)
    assert (ended.code, ended.output, ended.errors) == (3, "out\n", "err\n")
    assert not ended.broken
    assert ended.cpu > 0


@pytest.mark.parametrize(
    ("code", "limits", "broken"),
    [
        ("while True: pass", Limits(0.4, 20, 1000), "cpu"),
        ("import time; time.sleep(60)", Limits(20, 0.4, 1000), "wall"),
        ("x = bytearray(300 << 20); import time; time.sleep(60)", Limits(20, 20, 100), "memory"),
    ],
)
def test_limits_hold(python: Python, code: str, limits: Limits, broken: str) -> None:
    ended = python(code, limits)
    assert ended.broken == broken


def test_what_a_command_starts_counts_and_ends_with_it(python: Python, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    child = f"import os; open({str(pid_file)!r}, 'w').write(str(os.getpid()))\nwhile True: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    ended = python(code, Limits(0.6, 20, 1000))
    assert ended.broken == "cpu"
    stat = Path("/proc", pid_file.read_text(), "stat")
    assert not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] in "ZX"


def test_points_are_those_of_sv_comp() -> None:
    results = [
        result("a", "race-free", "race-free"),
        result("b", "race", "race"),
        result("c", "race", "unknown"),
        result("d", "race-free", "timeout"),
    ]
    one = line("all", results)
    assert (one.points, one.most, one.races, one.proofs, one.wrong, one.unknown) == (
        3, 6, 1, 1, 0, 2,
    )  # fmt: skip
    assert result("e", "race", "race-free").points == -32
    assert result("f", "race-free", "race").points == -16
    assert [group.name for group in per_directory(results)] == ["folder"]


def test_results_survive_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    kept = [result("a", "race", "race", 1.25), result("b", "race", "timeout", 60.0)]
    file = ResultsFile(path, {"engine": "auto"}, kept[:1])
    file.add(kept[1])
    file.close()
    assert read_results(path) == ({"engine": "auto"}, kept)
    path.write_text("hello\n", encoding="utf-8")
    with pytest.raises(UserError, match="no results"):
        read_results(path)


def test_the_difference_names_what_changed() -> None:
    stream = io.StringIO()
    before = [
        result("gained", "race", "unknown"),
        result("lost", "race", "race"),
        result("bad", "race", "unknown"),
        result("slow", "race", "race", 1.0),
    ]
    now = [
        result("gained", "race", "race"),
        result("lost", "race", "unknown"),
        result("bad", "race", "race-free"),
        result("slow", "race", "race", 9.0),
    ]
    print_difference(before, now, Console(file=stream, width=100))
    text = stream.getvalue()
    assert "solved: 1\n    folder/gained (race by modular)" in text
    assert "lost: 1\n    folder/lost (race by modular -> unknown)" in text
    assert "newly wrong: 1\n    folder/bad" in text
    assert "slower: 1\n    folder/slow (1.0 s -> 9.0 s)" in text
    assert "points: -32" in text


def test_the_tables_name_wrong_answers() -> None:
    stream = io.StringIO()
    print_tables([result("bad", "race", "race-free")], Console(file=stream, width=100))
    assert "WRONG folder/bad: race-free" in stream.getvalue()


def test_the_plot_is_a_picture() -> None:
    runs = {"now": [result("a", "race", "race", 0.3), result("b", "race", "race", 31.0)], "x<y": []}
    picture = ElementTree.fromstring(cactus(runs))
    assert picture.tag.endswith("svg")


def test_quantiles() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([], 0.5) == 0.0


def test_tasks_are_read_and_chosen(tmp_path: Path) -> None:
    path = tmp_path / "tasks.tsv"
    path.write_text(
        "task\tfile\tdir\texpected\tdata_model\n"
        "a\ta.i\tone\trace\tILP32\nb\tb.i\ttwo\tnorace\tLP64\n",
        encoding="utf-8",
    )
    tasks = read_tasks(path)
    assert tasks[0] == Task("a", "a.i", "one", "race", "ilp32")
    assert select(tasks, only=("t*",)) == [tasks[1]]
    assert select(tasks, expected="norace") == [tasks[1]]
    assert len(select(tasks, sample=1)) == 1
    path.write_text("name,file\n", encoding="utf-8")
    assert read_tasks(path) == []
    path.write_text("name\tfile\nx\ty\n", encoding="utf-8")
    with pytest.raises(UserError, match="no column 'task'"):
        read_tasks(path)


def test_what_the_tool_said_is_understood() -> None:
    task = Task("a", "a.i", "one", "race", "ilp32")
    said = {
        "verdict": "race",
        "findings": [{"confidence": "likely", "engine": "modular"}],
        "engines": [{"name": "modular", "answer": "race (1 likely)"}],
        "notices": ["engine bounded gave no answer: timeout"],
    }
    ended = Ended(1, json.dumps(said), "", 1.0, 1.1, 70)
    assert read_result(task, ended).is_correct
    assert read_result(task, ended).confidence == "likely"
    crashed = Ended(-11, "", "Segmentation fault", 1.0, 1.1, 70)
    assert (read_result(task, crashed).verdict, read_result(task, crashed).note) == (
        "crash",
        "Segmentation fault",
    )
    late = Ended(-9, "", "", 60.0, 61.0, 70, broken="cpu")
    assert read_result(task, late).verdict == "timeout"


def test_the_tool_info_module_passes_benchexecs_own_check() -> None:
    pytest.importorskip("benchexec")
    ended = subprocess.run(
        [sys.executable, "-m", "benchexec.test_tool_info", "raceproof.bench.toolinfo",
         "--no-container"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "svcomp" in ended.stdout + ended.stderr
