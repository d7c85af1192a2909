"""Where a command writes: standard output, or the file after ``-o``."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from raceproof.errors import UserError
from raceproof.options import Options


@contextmanager
def output_stream(options: Options) -> Iterator[TextIO]:
    """The stream to write to, closed at the end if it is a file."""
    if options.output is None:
        yield sys.stdout
        return
    try:
        stream = options.output.open("w", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {options.output}: {error.strerror}") from error
    with stream:
        yield stream
