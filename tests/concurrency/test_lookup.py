"""Which model a name gets, and when the program's own body counts instead."""

from pathlib import Path

import pytest

from raceproof.concurrency import Models
from raceproof.concurrency.model import Role
from tests.concurrency.building import MODELS, function, program


def write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def role(models: Models, name: str) -> Role | None:
    model = models.lookup(name)
    assert model is not None
    return model.role


def test_an_unknown_function_has_no_model() -> None:
    assert MODELS.lookup("lua_pcall") is None


def test_a_model_is_looked_up_once() -> None:
    assert MODELS.lookup("malloc") is MODELS.lookup("malloc")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("__VERIFIER_atomic_begin", Role.ATOMIC_BEGIN),
        ("__VERIFIER_atomic_end", Role.ATOMIC_END),
        ("__VERIFIER_atomic_acquire", Role.ATOMIC_FUNCTION),
        ("__VERIFIER_nondet_int", Role.NONDETERMINISTIC),
        ("__VERIFIER_nondet_unheard_of", Role.NONDETERMINISTIC),
        ("__VERIFIER_nondet_memory", None),
    ],
)
def test_an_exact_name_wins_over_a_pattern(name: str, expected: Role | None) -> None:
    assert role(MODELS, name) is expected


def test_a_longer_pattern_wins(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [[function]]
        name = "my_*"
        [[function]]
        name = "my_lock_*"
        role = "lock"
        lock = 0
        """,
    )
    models = Models.load([path])
    assert role(models, "my_lock_fast") is Role.LOCK
    assert role(models, "my_other") is None


def test_the_users_word_counts_more_than_ours(tmp_path: Path) -> None:
    lock = '[[function]]\nname = "{}"\nrole = "lock"\nlock = 1\n'
    first = write(tmp_path, lock.format("malloc") + lock.format("free"), "first.toml")
    second = write(tmp_path, lock.format("fre?").replace("lock = 1", "lock = 2"), "second.toml")
    models = Models.load([first, second])
    assert role(models, "malloc") is Role.LOCK
    free = models.lookup("free")
    assert free is not None
    assert free.operands["lock"].index == 2
    assert role(models, "calloc") is Role.ALLOCATE


def test_a_body_counts_more_than_our_model() -> None:
    own = program(
        function("pthread_mutex_lock", defined=True),
        function("reach_error", defined=True),
        function("assume_abort_if_not", defined=True),
        function("__VERIFIER_assert", defined=True),
        function("pthread_mutex_unlock", defined=False),
    )
    for name in ("pthread_mutex_lock", "reach_error", "assume_abort_if_not", "__VERIFIER_assert"):
        assert MODELS.applicable(name, own) is None
    assert MODELS.applicable("pthread_mutex_unlock", own) is not None
    assert MODELS.applicable("pthread_mutex_lock", program()) is not None


@pytest.mark.parametrize(
    "name",
    ["__VERIFIER_atomic_begin", "__VERIFIER_assume", "__VERIFIER_nondet_int", "_ZNSt5mutex4lockEv"],
)
def test_some_models_count_more_than_a_body(name: str) -> None:
    assert MODELS.applicable(name, program(function(name, defined=True))) is not None


def test_the_users_model_counts_more_than_a_body_unless_it_says_so(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [[function]]
        name = "take"
        role = "lock"
        lock = 0
        [[function]]
        name = "give"
        role = "unlock"
        lock = 0
        override = false
        """,
    )
    models = Models.load([path])
    own = program(function("take", defined=True), function("give", defined=True))
    assert models.applicable("take", own) is not None
    assert models.applicable("give", own) is None
