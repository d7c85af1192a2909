"""The one exception that speaks to the user.

Raise :class:`UserError` for what the user can mend: a file that is not there, a program that does
not compile, a model with an unknown role. The first line of its message says what is wrong, where,
and what to do about it; further lines may quote, for example the compiler. The command line prints
it without a traceback and ends with exit code 2. Every other exception is a bug in raceproof.
"""

from collections.abc import Iterable


class UserError(Exception):
    """A mistake in what we were given."""


def did_you_mean(name: str, known: Iterable[str], least: float = 0.6) -> str:
    """`; did you mean NAME?` for the most similar of the known names; empty if none is."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1, least)
    return f"; did you mean {near[0]}?" if near else ""
