"""The option vocabulary, declared once for all commands that read a program.

An option that is not given leaves no trace in the parsed arguments, so the defaults of
:class:`~raceproof.options.Options` hold. The name of an argument is the name of its field.
"""

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import fields
from pathlib import Path
from typing import Any

from raceproof.cli.choices import choice_of
from raceproof.options import DataModel, Options, UnknownCallbacks

DEFAULTS = Options()


FILES_HELP = "C (.c, .i), C++ (.cc, .cpp, .cxx) or LLVM (.ll, .bc) files of one program"


def add_program_arguments(
    parser: ArgumentParser, files_name: str = "FILE", files_help: str = FILES_HELP
) -> None:
    """What every command takes that reads a program: files, how to compile them, verbosity."""
    parser.argument_default = SUPPRESS
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        default=[],
        metavar=files_name,
        help=files_help,
    )
    _add_compile_arguments(parser)
    _add_database_arguments(parser)
    _add_common_arguments(parser)


def _add_compile_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("how to compile")
    group.add_argument(
        "-I",
        dest="include_dirs",
        action="append",
        type=Path,
        metavar="DIR",
        help="look for header files in DIR, too (repeatable)",
    )
    group.add_argument(
        "-D",
        dest="defines",
        action="append",
        metavar="NAME[=VALUE]",
        help="define a macro (repeatable)",
    )
    group.add_argument(
        "-std",
        dest="std",
        metavar="STANDARD",
        help="the language standard, as -std=c11 (default: what Clang takes, with GNU extensions)",
    )
    group.add_argument(
        "--data-model",
        dest="data_model",
        type=choice_of(DataModel),
        choices=list(DataModel),
        help=f"32-bit (ilp32) or 64-bit (lp64) long and pointers (default: {DEFAULTS.data_model})",
    )
    group.add_argument(
        "--clang",
        dest="clang",
        type=Path,
        metavar="PATH",
        help="compile with this Clang instead of the bundled one",
    )
    group.add_argument(
        "--clang-arg",
        dest="clang_args",
        action="append",
        metavar="ARGUMENT",
        help="hand one more argument to the compiler, as --clang-arg=-fblocks (repeatable)",
    )


def _add_database_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("taking the program from its build")
    group.add_argument(
        "-p",
        dest="database",
        type=Path,
        metavar="FILE",
        help="read files and flags from this compile_commands.json",
    )
    group.add_argument(
        "--target",
        dest="target",
        metavar="NAME",
        help="which program, if the database holds several",
    )
    group.add_argument(
        "--file-filter",
        dest="file_filter",
        metavar="GLOB",
        help="take only the database's files that match, as 'src/server/*'",
    )


def _add_common_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("how to understand the program")
    group.add_argument(
        "--entry",
        dest="entry",
        metavar="FUNCTION",
        help="start in FUNCTION (default: main)",
    )
    group.add_argument(
        "--model",
        dest="models",
        action="append",
        type=Path,
        metavar="FILE",
        help="learn from this TOML file what your own lock and thread functions do (repeatable)",
    )
    group.add_argument(
        "--callbacks",
        dest="callbacks",
        type=choice_of(UnknownCallbacks),
        choices=list(UnknownCallbacks),
        help="who calls a function that is given to unknown code: the thread that gave it, "
        f"threads of their own, or no one (default: {DEFAULTS.callbacks})",
    )
    files = group.add_mutually_exclusive_group()
    files.add_argument(
        "--config",
        dest="config",
        type=Path,
        metavar="FILE",
        help="take settings from FILE (default: raceproof.toml or pyproject.toml, here or above)",
    )
    files.add_argument(
        "--no-config", dest="no_config", action="store_true", help="take settings from no file"
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="FILE",
        help="write to FILE instead of standard output",
    )
    loudness = group.add_mutually_exclusive_group()
    loudness.add_argument(
        "-q",
        dest="verbosity",
        action="store_const",
        const=-1,
        help="say only what was asked for",
    )
    loudness.add_argument(
        "-v",
        dest="verbosity",
        action="count",
        help="tell what is being done; more with -vv",
    )


def positive_number(text: str) -> float:
    """An argument type: a number above zero."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def positive_integer(text: str) -> int:
    """An argument type: 1, 2, 3, ..."""
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def read_options(arguments: Namespace) -> Options:
    """The options of the configuration file, with those among the parsed arguments over them."""
    given: dict[str, Any] = {
        field.name: getattr(arguments, field.name)
        for field in fields(Options)
        if hasattr(arguments, field.name)
    }
    found = _configuration(arguments)
    for name, value in given.items():
        if isinstance(value, list):
            given[name] = (*found.get(name, ()), *value)
    return Options(**{**found, **given})


def _configuration(arguments: Namespace) -> dict[str, Any]:
    from raceproof.cli.configuration import find_file, read_file

    if getattr(arguments, "no_config", False):
        return {}
    path = getattr(arguments, "config", None) or find_file(Path.cwd())
    return read_file(path) if path is not None else {}
