"""The table of synchronisation: it is complete, and three executors do what native code does.

With `RACEPROOF_EXPLORE=1` more random scripts are compared.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from raceproof.concurrency import Models, events
from raceproof.concurrency.catalogue import built_in_names
from raceproof.concurrency.model import Role
from raceproof.concurrency.roles import ROLES
from raceproof.concurrency.synchronisation import SYNCHRONISING, flags_of, sync_call, waits
from raceproof.engines.bounded import library as bounded_library
from raceproof.engines.bounded.sync_objects import SyncObjects
from raceproof.frontend import load_program
from raceproof.machine.library import _BY_ROLE
from raceproof.machine.machine import Machine
from raceproof.machine.synchronisation import Synchronise
from raceproof.options import Options
from raceproof.semantics import sync_expressions
from raceproof.semantics.synchronisation import CALLS, COMMANDS, CONSTANTS, FLAGS, OBJECTS, OPERANDS
from raceproof.sequentialize import Bounds, sequentialize
from raceproof.sequentialize.synchronisation import SYNCHRONISATION, synchronise
from tests.engines.bounded.helpers import ask
from tests.machine.running import run_once
from tests.semantics.sync_scripts import BLOCKING, FIXED, Script, native_results, random_script
from tests.sequentialize.native import build, models

RANDOM = 60 if os.environ.get("RACEPROOF_EXPLORE") else 6
SCRIPTS = [*FIXED, *(random_script(seed) for seed in range(RANDOM)), *BLOCKING]
RIGHT, WRONG, BLOCKED = "right", "wrong", "blocked"


# --- the table ------------------------------------------------------------


def test_every_role_about_an_object_is_in_the_table() -> None:
    objects = {"lock", "condition", "barrier", "semaphore", "control"}
    about = {
        role
        for role, shape in ROLES.items()
        if objects & set(shape.operands) and role is not Role.ASSUME
    }
    assert about | {Role.LOCK_ATTRIBUTE} == SYNCHRONISING


def test_every_model_has_its_row() -> None:
    seen = set()
    known = Models.load(())
    for name in built_in_names():
        model = known.lookup(name)
        if model is None or model.role not in SYNCHRONISING:
            continue
        call = sync_call(model)
        seen.add(id(call))
        operands = {part.operand for step in call.steps for part in step.parts}
        assert operands <= set(ROLES[model.role].operands)
        assert flags_of(model).keys() <= set(FLAGS)
        for step in call.steps:
            for part in step.parts:
                is_total = any(case.when == "True" for case in part.meaning.cases)
                assert waits(model) or part.meaning.otherwise or is_total
    unused = {name for name, call in CALLS.items() if id(call) not in seen}
    assert not unused, "rows that no model uses"


def test_the_executors_have_no_dispatch_beside_it() -> None:
    handlers = SyncObjects.handlers(object.__new__(SyncObjects))
    for role in SYNCHRONISING:
        assert _BY_ROLE[role] is Synchronise
        assert SYNCHRONISATION[role] is synchronise
        event: type[events.Event] = ROLES[role].event
        assert handlers[event].__func__ is SyncObjects.synchronise  # type: ignore[attr-defined]
        assert f"meaning.{event.__name__}:" not in inspect.getsource(bounded_library)


def test_commands_speak_of_what_there_is() -> None:
    used = {part.command for call in CALLS.values() for step in call.steps for part in step.parts}
    assert used == COMMANDS.keys()
    for command in COMMANDS.values():
        known = {*OBJECTS[command.object], *CONSTANTS, *FLAGS, *OPERANDS, "me", "own"}
        for case in command.cases:
            for text in (case.when, case.then, case.everyone, case.error, case.value):
                assert not text or sync_expressions.names_in(text) <= known


# --- conformance ------------------------------------------------------------


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int] | None]:
    found = native_results(SCRIPTS, tmp_path_factory.mktemp("native"))
    return {script.name: results for script, results in zip(SCRIPTS, found, strict=True)}


def written(script: Script, expected: Sequence[int] | None, folder: Path) -> Path:
    path = folder / "script.c"
    path.write_text(script.program(expected or [0] * script.size))
    return path


def on_machine(path: Path) -> str:
    ended = {run_once(Machine(load_program([path], Options())), seed) for seed in range(2)}
    return {"1": RIGHT, "2": WRONG, "deadlock": BLOCKED}[ended.pop()]


def in_formulas(path: Path) -> str:
    answer = ask(load_program([path], Options()))
    names = {finding.location.name for finding in answer.findings}
    assert names <= {RIGHT, WRONG}
    return names.pop() if names else BLOCKED


def as_printed(path: Path) -> str:
    program = load_program([path], Options())
    text = sequentialize(program, models(), Bounds(unwind=1, rounds=4, threads=2))
    answer = build(text, path.parent).run("seed", "1", "20000")
    if answer.returncode == 0:
        return BLOCKED
    lines = path.read_text().splitlines()
    number = int(answer.stderr.split("script.c:")[1].split(":")[0].split()[0].rstrip(","))
    return WRONG if "wrong" in lines[number - 1] else RIGHT


EXECUTORS = [on_machine, in_formulas, as_printed]


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_does_what_native_code_does(
    script: Script,
    executor: Callable[[Path], str],
    native: dict[str, list[int] | None],
    tmp_path: Path,
) -> None:
    expected = native[script.name]
    assert (expected is None) == script.blocks
    assert executor(written(script, expected, tmp_path)) == (BLOCKED if script.blocks else RIGHT)


BROKEN = [
    ("lock", 1, {"then": "depth = depth"}, "a recursive mutex given back once"),
    ("lock shared", 0, {"when": "True"}, "reading while another writes"),
    ("unlock", 0, {"then": "readers = 0; own = own - 1"}, "one of two readers has left"),
    ("take", 0, {"when": "True"}, "an empty semaphore"),
    ("arrive", 0, {"when": "True"}, "alone at a barrier"),
    ("wake", 1, {"error": "BUSY"}, "waiting with a time limit"),
    ("end once", 0, {"then": "state = 0"}, "once"),
]


@pytest.fixture
def changed() -> Iterator[Callable[[str, int, dict[str, str]], None]]:
    """Breaks a case of the table until the test is over."""
    before = dict(COMMANDS)

    def change(command: str, place: int, broken: dict[str, str]) -> None:
        found = COMMANDS[command]
        cases = list(found.cases)
        cases[place] = replace(cases[place], **broken)  # type: ignore[arg-type]
        COMMANDS[command] = replace(found, cases=tuple(cases))  # type: ignore[index]
        sync_expressions.definition.cache_clear()
        sync_expressions.guard.cache_clear()

    yield change
    COMMANDS.update(before)  # type: ignore[attr-defined]
    sync_expressions.definition.cache_clear()
    sync_expressions.guard.cache_clear()


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(("command", "place", "broken", "name"), BROKEN)
def test_a_broken_row_is_noticed(
    command: str,
    place: int,
    broken: dict[str, str],
    name: str,
    executor: Callable[[Path], str],
    native: dict[str, list[int] | None],
    changed: Callable[[str, int, dict[str, str]], None],
    tmp_path: Path,
) -> None:
    script = next(script for script in SCRIPTS if script.name == name)
    path = written(script, native[name], tmp_path)
    changed(command, place, broken)
    assert executor(path) != (BLOCKED if script.blocks else RIGHT)
