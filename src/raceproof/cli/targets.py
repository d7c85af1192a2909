"""``raceproof targets``: the programs and libraries of a build."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raceproof.frontend.builds.programs import Build

EPILOG = """\
Programs are listed with all files of the project that run in them, those of its libraries included.

examples:
  raceproof targets                                 of the build found here
  raceproof targets -p build/compile_commands.json --files

exit codes:
  0  listed
  2  there is no build database
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.argument_default = SUPPRESS
    parser.add_argument(
        "-p",
        dest="database",
        type=Path,
        metavar="FILE",
        help="the compile_commands.json (default: the one found here or in build/)",
    )
    parser.add_argument(
        "--files", dest="with_files", action="store_true", help="name the files of each, too"
    )
    parser.add_argument(
        "--format",
        dest="listing",
        choices=["text", "json"],
        default="text",
        help="how to write the list (default: text)",
    )


def run(arguments: Namespace) -> int:
    from raceproof.errors import UserError
    from raceproof.frontend.builds.database import nearby_database, read_database
    from raceproof.frontend.builds.programs import read_build

    path = getattr(arguments, "database", None) or nearby_database(Path())
    if path is None:
        raise UserError(
            "no compile_commands.json here: name one with -p, or make it with "
            "`raceproof capture -- make`"
        )
    build = read_build(read_database(path))
    if arguments.listing == "json":
        _write_json(build)
    else:
        _write_text(build, getattr(arguments, "with_files", False))
    return 0


def _write_text(build: Build, with_files: bool) -> None:

    if not build.targets:
        print(
            f"{build.database.path}: {len(build.database.commands)} files; what is linked from "
            "them is not known: run the build under `raceproof capture`"
        )
        return
    width = max(len(target.name) for target in build.targets)
    for target in build.targets:
        count = f"{len(target.units)} file{'s' if len(target.units) != 1 else ''}"
        used = f", with {', '.join(target.links)}" if target.links else ""
        print(f"{target.name:<{width}}  {target.kind}, {count}{used}")
        if with_files:
            for number in target.units:
                print(f"{'':<{width}}    {build.database.commands[number].source.path}")
    if not build.is_linked:
        print("Told by the folders of objects: what is linked from what is not known.")
    for notice in build.database.notices:
        print(f"Notice: {notice}")


def _write_json(build: Build) -> None:
    import json

    commands = build.database.commands
    content = [
        {
            "name": target.name,
            "kind": str(target.kind),
            "output": target.output,
            "files": [str(commands[number].source.path) for number in target.units],
            "links": list(target.links),
        }
        for target in build.targets
    ]
    print(json.dumps(content, indent=2))
