"""Argument types for words of a list, with what may be meant by a misspelt one."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from raceproof.errors import did_you_mean

Choice = TypeVar("Choice", bound=StrEnum)


def choice_of(kind: type[Choice]) -> Callable[[str], Choice]:
    """An argument type: a word of `kind`, in any case."""

    def read(text: str) -> Choice:
        try:
            return kind(text.lower())
        except ValueError:
            words = ", ".join(kind)
            hint = did_you_mean(text.lower(), kind)
            raise ArgumentTypeError(f"{text!r} is not one of: {words}{hint}") from None

    return read
