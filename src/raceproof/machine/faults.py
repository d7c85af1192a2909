"""How an execution ends early: each is the end of that execution, never of the tool."""

from __future__ import annotations


class Ended(Exception):
    """The execution is over. The message says why."""

    kind = "ended"


class ProgramExit(Ended):
    """`exit`, a return from `main`: every thread ends."""

    kind = "exit"

    def __init__(self, code: int) -> None:
        super().__init__(f"exit with code {code}")
        self.code = code


class Aborted(Ended):
    """`abort`, a failed assumption: the execution ends without a word."""

    kind = "abort"


class AssertionFailed(Ended):
    """The program's own assertion failed."""

    kind = "assertion"


class UndefinedBehaviour(Ended):
    """A null, dangling or out-of-bounds access, a division by zero, ..."""

    kind = "undefined"


class Unsupported(Ended):
    """Something the machine does not know: no verdict may rest on this execution."""

    kind = "unsupported"


class UnknownBytes(Unsupported):
    """Unknown bytes, where their values are needed."""


class ChoiceNeeded(Exception):
    """An unknown value was asked for its truth; the explorer decides which way to go."""
