"""A mistake in a model file is told by file and line, with what is allowed."""

from pathlib import Path

import pytest

from raceproof.concurrency import Models
from raceproof.errors import UserError

CASES = {
    "unknown key": (
        """
        [[function]]
        name = "f"
        reeds = ["0"]
        """,
        4,
        ["unknown key 'reeds'", "did you mean 'reads'?", "allowed: name, names, role"],
    ),
    "unknown key of the file": (
        """
        [[function]]
        name = "f"

        [[functions]]
        name = "g"
        """,
        5,
        ["unknown key 'functions'", "did you mean 'function'?"],
    ),
    "unknown role": (
        """
        [[function]]
        name = "f"
        # a comment
        role = "lok"
        """,
        5,
        ["unknown role 'lok'", "did you mean 'lock'?", "create, join"],
    ),
    "role of the wrong type": (
        """
        [[function]]
        name = "f"
        role = 3
        """,
        4,
        ["unknown role '3'"],
    ),
    "key of another role": (
        """
        [[function]]
        name = "f"
        role = "lock"
        lock = 0
        condition = 1
        """,
        6,
        ["'condition' does not go with role 'lock'", "condition-wait"],
    ),
    "key of a role without a role": (
        """
        [[function]]
        name = "f"
        lock = 0
        """,
        4,
        ["'lock' does not go with a function without a role"],
    ),
    "missing operand": (
        """
        [[function]]
        name = "f"
        role = "create"
        argument = 1
        """,
        4,
        ["role 'create' also needs: entry"],
    ),
    "missing size": (
        """
        [[function]]
        name = "f"
        role = "allocate"
        """,
        4,
        ["also needs: size"],
    ),
    "lock and object": (
        """
        [[function]]
        name = "f"
        role = "lock"
        lock = 0
        object = "big lock"
        """,
        6,
        ["either 'lock' or 'object'"],
    ),
    "underscore in a key": (
        """
        [[function]]
        name = "f"
        role = "join"
        thread = 0
        result_pointer = 1
        """,
        6,
        ["unknown key 'result_pointer'", "did you mean 'result-pointer'?"],
    ),
    "negative argument": (
        """
        [[function]]
        name = "f"
        role = "lock"
        lock = -1
        """,
        5,
        ["-1 is no argument position", "the first argument is 0"],
    ),
    "argument out of reach": (
        """
        [[function]]
        name = "f"
        reads = ["99: string"]
        """,
        4,
        ["99 is no argument position"],
    ),
    "argument of the wrong type": (
        """
        [[function]]
        name = "f"
        role = "lock"
        lock = true
        """,
        5,
        ["True is no argument position", '"*n"'],
    ),
    "indirect where it cannot be": (
        """
        [[function]]
        name = "f"
        role = "free"
        pointer = "*0"
        """,
        5,
        ["'*0' is no argument position; allowed: a number"],
    ),
    "bad size": (
        """
        [[function]]
        name = "f"
        writes = ["0: 4", "1: widget"]
        """,
        4,
        ["'widget' is no size", "pointer", '"argument n"'],
    ),
    "bad effect": (
        """
        [[function]]
        name = "f"
        writes = ["first"]
        """,
        4,
        ["'first' does not say what is accessed"],
    ),
    "effects of the wrong type": (
        """
        [[function]]
        name = "f"
        writes = "0"
        """,
        4,
        ["'0' is no list of texts"],
    ),
    "bad result": (
        """
        [[function]]
        name = "f"
        returns = "argument zero"
        """,
        4,
        ["'argument zero' is no result", '"into n"'],
    ),
    "bad choice": (
        """
        [[function]]
        name = "f"
        role = "lock"
        lock = 0
        mode = "shared"
        """,
        6,
        ["unknown lock mode 'shared'", "write, read, any"],
    ),
    "bad flag": (
        """
        [[function]]
        name = "f"
        never-returns = "yes"
        """,
        4,
        ["'yes' is neither true nor false"],
    ),
    "bad format": (
        """
        [[function]]
        name = "f"
        format = "printf"
        """,
        4,
        ["'printf' is no format"],
    ),
    "bad range": (
        """
        [[function]]
        name = "f"
        role = "nondeterministic"
        range = [1, 0]
        """,
        5,
        ["[1, 0] is no range"],
    ),
    "bad callback key": (
        """
        [[function]]
        name = "f"
        calls = [
            { function = 1, argument = [0] },
        ]
        """,
        4,
        ["unknown key 'argument'", "did you mean 'arguments'?"],
    ),
    "bad callback argument": (
        """
        [[function]]
        name = "f"
        calls = [{ function = 1, arguments = ["in 0"] }]
        """,
        4,
        ["'in 0' is nothing to pass on"],
    ),
    "callback without function": (
        """
        [[function]]
        name = "f"
        calls = [{ arguments = [0] }]
        """,
        4,
        ["'function' is missing"],
    ),
    "no name": (
        """
        [[function]]
        name = "f"

        [[function]]
        role = "atomic-begin"
        """,
        5,
        ["needs 'name' or 'names'"],
    ),
    "name and names": (
        """
        [[function]]
        name = "f"
        names = ["g"]
        """,
        2,
        ["and not both"],
    ),
    "names of the wrong type": (
        """
        [[function]]
        names = ["f", 3]
        """,
        3,
        ["'names' must be a list of texts"],
    ),
    "duplicate": (
        """
        [[function]]
        names = ["f", "g"]

        [[function]]
        names = [
            "h",
            "g",
        ]
        """,
        8,
        ["'g' has a model already"],
    ),
    "duplicate in one list": (
        """
        [[function]]
        names = ["f", "f"]
        """,
        3,
        ["'f' has a model already"],
    ),
    "functions not as tables": (
        """
        function = 3
        """,
        2,
        ["[[function]] tables"],
    ),
    "bad type": (
        """
        [types]
        good = 8
        bad = [4]
        """,
        4,
        ["the size of 'bad' must be a number of bytes"],
    ),
    "types no table": (
        """
        types = 3
        """,
        2,
        ["'types' must be a table"],
    ),
    "broken TOML": (
        """
        [[function]]
        name = "f
        """,
        3,
        ["not valid TOML"],
    ),
    "broken TOML at the end": (
        """
        [[function]]
        names = ["f",""",
        3,
        ["not valid TOML"],
    ),
    "key twice": (
        """
        [[function]]
        name = "f"
        name = "g"
        """,
        4,
        ["not valid TOML"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_mistake_is_told_by_file_and_line(case: str, tmp_path: Path) -> None:
    text, line, parts = CASES[case]
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        Models.load([path])
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    for part in parts:
        assert part in message
    assert "\n" not in message


def test_only_the_second_table_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '# [[function]]\n[[function]]\nname = "a"\ncaveat = """\n[[function]]\nrole = \'x\'\n"""\n'
        '[[function]]  # here\nname = "b"\nreads = [\n  "0: string", # ]\n]\nrole = "?"\n'
    )
    with pytest.raises(UserError, match=r"mine\.toml:13: role: unknown role '\?'"):
        Models.load([path])


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the model file: No such file"):
        Models.load([tmp_path / "none.toml"])


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the model file"):
        Models.load([tmp_path])


def test_binary(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"# fine\n\xff\xfe")
    with pytest.raises(UserError, match=r"mine\.toml:2: a model file must be UTF-8 text"):
        Models.load([path])


def test_empty_file_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("")
    assert Models.load([path]).lookup("f") is None
