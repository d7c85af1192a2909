"""The models of a run: the built-in files and the user's, looked up by function name.

The user's files come before ours, a later one before an earlier one. In a file an exact name wins
over a pattern, and a longer pattern over a shorter one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from raceproof.concurrency.files import ModelFile, read_model_file
from raceproof.concurrency.model import FunctionModel
from raceproof.ir import Program

_FOLDER = Path(__file__).parent / "models"
_TYPES = _FOLDER / "types.toml"


class Models:
    """What is known about functions by their linker's name."""

    __slots__ = ("_found", "_own", "_users")

    def __init__(self, own: Sequence[ModelFile], users: Sequence[ModelFile] = ()) -> None:
        self._own = _Shelf(own)
        self._users = [_Shelf([file]) for file in reversed(users)]
        self._found: dict[str, FunctionModel | None] = {}

    @staticmethod
    def load(extra: Sequence[Path] = ()) -> Models:
        """The built-in models and the user's files; raises `UserError` for a broken file."""
        own = built_in_files()
        types = own[0].types
        return Models(own, [read_model_file(path, is_users=True, types=types) for path in extra])

    def lookup(self, name: str) -> FunctionModel | None:
        """What the function means; None if nobody said."""
        try:
            return self._found[name]
        except KeyError:
            model = self._found[name] = self._search(name)
            return model

    def applicable(self, name: str, program: Program) -> FunctionModel | None:
        """What calling the function in this program means by its model.

        A function with a body means what its body does, unless its model insists (`override`).
        """
        model = self.lookup(name)
        if model is None or model.override:
            return model
        function = program.functions.get(name)
        return None if function is not None and function.is_defined else model

    def names(self) -> list[str]:
        """Every name and pattern with a model."""
        shelves = [self._own, *self._users]
        return sorted({name for shelf in shelves for name in shelf.exact})

    def _search(self, name: str) -> FunctionModel | None:
        for shelf in (*self._users, self._own):
            model = shelf.find(name)
            if model is not None:
                return model
        return None


class _Shelf:
    """Files of the same rank."""

    __slots__ = ("exact", "patterns")

    def __init__(self, files: Sequence[ModelFile]) -> None:
        self.exact = {name: file for file in files for name in file.index}
        self.patterns = sorted(
            ((pattern, file) for file in files for pattern in file.patterns),
            key=lambda item: -len(item[0]),
        )

    def find(self, name: str) -> FunctionModel | None:
        file = self.exact.get(name)
        if file is not None:
            return file.get(name)
        for pattern, file in self.patterns:
            if fnmatchcase(name, pattern):
                return file.get(pattern)
        return None


@cache
def built_in_files() -> tuple[ModelFile, ...]:
    """The model files that come with raceproof; the first has the sizes of C's types."""
    types = read_model_file(_TYPES, is_users=False)
    others = sorted(path for path in _FOLDER.glob("*.toml") if path != _TYPES)
    return (
        types,
        *(read_model_file(path, is_users=False, types=types.types) for path in others),
    )
