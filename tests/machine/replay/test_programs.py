"""Every race that the directed search finds in our programs replays from its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raceproof.concurrency import Models
from raceproof.engines.interleave.search import DirectedSearch
from raceproof.frontend import load_program
from raceproof.ir.unordered import ANYTHING
from raceproof.machine.findings import Race, replayed_finding
from raceproof.machine.machine import Machine
from raceproof.machine.recording import record
from raceproof.machine.schedule import check_program, read_schedule, to_json, write_schedule
from raceproof.options import MutexRules, Options
from tests.programs_index import TestProgram, programs

RACY = [program for program in programs() if program.verdict == "race"]
RACE_FREE = [program for program in programs() if program.verdict == "race-free"]
MOST_EXECUTIONS = 3000
NOT_FOUND = {"detours/16-thrown-past-the-unlock", "library-effects/16-cut-in-place"}
"""Exceptions, pointers that the library follows: what the machine does not do."""


def search(machine: Machine, executions: int) -> list[Race]:
    """The first race, found without any candidates."""
    found: list[Race] = []

    def take(race: Race) -> bool:
        found.append(race)
        return True

    directed = DirectedSearch(machine, None, seed=0)
    directed.run(lambda: float(executions - directed.executions), take)
    return found


@pytest.mark.parametrize("program", RACY, ids=str)
def test_a_race_is_found_and_replays(program: TestProgram, tmp_path: Path) -> None:
    if str(program) in NOT_FOUND:
        pytest.skip("the machine cannot get there")
    loaded = load_program([program.path], Options())
    machine = Machine(loaded, Models.load())
    races = search(machine, MOST_EXECUTIONS)
    assert races, "no race found"
    schedule = replayed_finding(machine, races[0], None).schedule
    assert schedule is not None
    path = tmp_path / "race.json"
    write_schedule(path, to_json(schedule, loaded, record(machine, schedule), MutexRules.POSIX))

    file = read_schedule(path)
    assert file.schedule == replace(schedule, births=())
    check_program(path, file, loaded)
    recording = record(Machine(loaded, Models.load()), file.schedule)
    assert recording.replayed.reached, recording.replayed.message
    lines = {step.position.line for step in recording.race if step.position is not None}
    assert not program.race_lines or lines & program.race_lines


@pytest.mark.slow
@pytest.mark.parametrize("program", RACE_FREE, ids=str)
def test_no_race_is_found_where_there_is_none(program: TestProgram) -> None:
    machine = Machine(load_program([program.path], Options()), Models.load())
    assert search(machine, 40) == []


@pytest.mark.slow
@pytest.mark.parametrize("program", RACE_FREE, ids=str)
def test_happens_before_orders_what_never_happens_at_once(program: TestProgram) -> None:
    """Also where atomics are strong, so that nobody would look at clocks."""
    loaded = replace(load_program([program.path], Options()), unordered={-1: ANYTHING})
    assert search(Machine(loaded, Models.load()), 15) == []
