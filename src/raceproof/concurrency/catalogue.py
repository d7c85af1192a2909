"""The models of a run: the built-in files and the user's, looked up by function name.

The user's files come before ours, a later one before an earlier one. In a file an exact name wins
over a pattern, and a longer pattern over a shorter one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from raceproof.concurrency.builtin import built_in_files, built_in_types, read_whole
from raceproof.concurrency.files import read_model_file
from raceproof.concurrency.model import FunctionModel
from raceproof.ir import Program


class ModelSource(Protocol):
    """A file of models."""

    @property
    def patterns(self) -> Sequence[str]: ...

    def get(self, name: str) -> FunctionModel | None: ...


class Models:
    """What is known about functions by their linker's name."""

    __slots__ = ("_found", "_shelves")

    def __init__(self, users: Sequence[ModelSource] = ()) -> None:
        self._shelves = [*(_Shelf([file]) for file in reversed(users)), _Shelf(built_in_files())]
        self._found: dict[str, FunctionModel | None] = {}

    @staticmethod
    def load(extra: Sequence[Path] = ()) -> Models:
        """The built-in models and the user's files; raises `UserError` for a broken file."""
        types = built_in_types() if extra else None
        return Models([read_model_file(path, is_users=True, types=types) for path in extra])

    def lookup(self, name: str) -> FunctionModel | None:
        """What the function means; None if that was not said."""
        try:
            return self._found[name]
        except KeyError:
            found = (shelf.find(name) for shelf in self._shelves)
            model = self._found[name] = next((m for m in found if m is not None), None)
            return model

    def is_users(self, name: str) -> bool:
        """Whether it is the user who says what the function means."""
        return any(shelf.find(name) is not None for shelf in self._shelves[:-1])

    def applicable(self, name: str, program: Program) -> FunctionModel | None:
        """What calling the function in this program means by its model.

        A function with a body means what its body does, unless its model insists (`override`).
        """
        model = self.lookup(name)
        if model is None or model.override:
            return model
        function = program.functions.get(name)
        return None if function is not None and function.is_defined else model


class _Shelf:
    """Files of the same rank."""

    __slots__ = ("files", "patterns")

    def __init__(self, files: Sequence[ModelSource]) -> None:
        self.files = files
        self.patterns = sorted(
            (
                (pattern, re.split(r"[*?\[]", pattern)[0], file)
                for file in files
                for pattern in file.patterns
            ),
            key=lambda item: -len(item[0]),
        )

    def find(self, name: str) -> FunctionModel | None:
        for file in self.files:
            model = file.get(name)
            if model is not None:
                return model
        for pattern, prefix, file in self.patterns:
            if name.startswith(prefix) and fnmatchcase(name, pattern):
                return file.get(pattern)
        return None


def built_in_names() -> list[str]:
    """Every name and pattern that has a model without the user's help."""
    return sorted(name for file in built_in_files() for name in read_whole(file).index)
