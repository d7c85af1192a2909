"""``raceproof init``: a configuration file to start from."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from raceproof.errors import UserError

EPILOG = """\
examples:
  raceproof init
  raceproof init src/server
"""

TEMPLATE = """\
# Settings of raceproof. What the command line says wins; paths are relative to this file.
# Take away a '#' to set a value; those shown are the defaults, or examples where marked.

# --- what to read, and how to compile it ---

# The width of long and pointers: "ilp32" or "lp64".
# data-model = "lp64"

# Folders with header files, and macros.                                    (examples)
# include-dirs = ["include"]
# defines = ["NDEBUG", "WORKERS=4"]

# The language standard, and more arguments for the compiler.               (examples)
# std = "c11"
# clang-args = ["-fblocks"]

# Files and flags from the build; which program of it.                      (examples)
# database = "build/compile_commands.json"
# target = "server"

# The function where the program starts, if it is not main.                 (example)
# entry = "server_main"

# What your own lock and thread functions do.                               (example)
# models = ["locks.toml"]

# --- a whole project (scan) ---

# Folders and files of other people's code, by pattern.                     (example)
# exclude = ["third_party", "*_test.c"]

# Where to remember what was found out; by default .raceproof in the project. (example)
# cache = "build/raceproof"

# --- how much to spend ---

# Seconds for a program, and GiB for an engine.                             (examples)
# timeout = 300
# memory = 4

# --- how to look ---

# One engine alone, or "auto": the cheapest first.
# engine = "auto"

# Report every racing pair of a location, not only the best.
# all-pairs = false

# Bounds of the exploring engines.
# threads = 2
# unwind = 2
# rounds = 2

# Who may unlock a mutex: its owner ("posix") or any thread ("linux").
# mutex-rules = "posix"

# --- what to say ---

# "text", "json", "sarif", "html" or "github".
# format = "text"

# End with exit code 1 from this confidence on: "confirmed", "likely" or "possible".
# fail-on = "likely"

# Findings that do not count; * stands for anything.                        (example)
# suppressions = [{ location = "stats.*", file = "src/stats.c", reason = "may be off" }]

# Findings that are known already, as --write-baseline wrote them.          (example)
# baseline = "known-races.json"

# Keep the schedules of confirmed races in this folder.                     (example)
# schedules = "schedules"
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where to write raceproof.toml (default: here)",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def run(arguments: Namespace) -> int:
    from raceproof.cli.configuration import FILE

    path: Path = arguments.folder / FILE
    try:
        with path.open("w" if arguments.force else "x", encoding="utf-8") as stream:
            stream.write(TEMPLATE)
    except FileExistsError as error:
        raise UserError(f"{path} is already there; --force replaces it") from error
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error
    print(f"wrote {path}")
    return 0
