"""What we say when raceproof itself is at fault: what happened, and how to see it again."""

import platform
import shlex
import traceback
from collections.abc import Sequence

from raceproof.version import __version__


def describe(error: Exception, words: Sequence[str], *, with_traceback: bool) -> str:
    """A bug report for ``error``, raised while running the command line ``words``."""
    message = "".join(traceback.format_exception_only(error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"raceproof: internal error: {message}"]
    if frames:
        lines.append(f"  in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno}")
    lines += [
        "This is a bug in raceproof, not in your program. Please report it with these lines and,",
        "if you may share it, the program that shows it:",
        f"  version:  raceproof {__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}",
        f"  command:  {shlex.join(['raceproof', *words])}",
    ]
    if with_traceback:
        lines += ["", "".join(traceback.format_exception(error)).rstrip()]
    else:
        lines.append("Run the command again with -v to see the traceback.")
    return "\n".join(lines)
