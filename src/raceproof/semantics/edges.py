"""How an operation ends that has no value: the edge cases that the table names."""

from __future__ import annotations


class Undefined(Exception):
    """Undefined behaviour: no execution goes on past it. The message says what happened."""


class Unrepresentable(Exception):
    """A number that we cannot hold exactly, such as a `long double` of more than 53 bits."""
