"""docs/models.md says what the code does."""

import re
from pathlib import Path

import pytest

from raceproof.concurrency import Models
from raceproof.concurrency.model import AtomicOperationKind, Role
from raceproof.concurrency.roles import ROLES
from raceproof.concurrency.schema import COMMON_KEYS

TEXT = (Path(__file__).parents[2] / "docs" / "models.md").read_text()


def row(first: str) -> list[str]:
    """The other cells of the table row whose first cell is this."""
    found = re.search(rf"^\| `{re.escape(first)}` \|(.*)\|$", TEXT, re.MULTILINE)
    assert found is not None, first
    return found[1].split("|")


def words(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([a-z-]+)`", re.sub(r"\([^)]*\)", "", cell)))


@pytest.mark.parametrize("role", Role)
def test_keys_of_roles(role: Role) -> None:
    operands, settings = row(role)
    shape = ROLES[role]
    required, _, optional = operands.partition("[")
    for cell, fields in (
        (required, shape.required),
        (optional, shape.optional),
        (settings, shape.settings),
    ):
        assert words(cell) == tuple(field.replace("_", "-") for field in fields)


def test_keys_of_every_function() -> None:
    section = TEXT.split("## Keys of every function")[1].split("\n## ")[0]
    first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert {word for cell in first for word in words(cell)} == {
        "name",
        "names",
        "role",
        *COMMON_KEYS,
    }


def test_atomic_operations() -> None:
    assert words(row("operation")[0]) == tuple(AtomicOperationKind)


@pytest.mark.parametrize("number", range(TEXT.count("```toml")))
def test_examples_are_valid(number: int, tmp_path: Path) -> None:
    path = tmp_path / "example.toml"
    path.write_text(re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)[number])
    Models.load([path])
