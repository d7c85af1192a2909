"""Watching a build: what it compiles, archives and links.

A folder of wrappers stands in front of `PATH`, one for each compiler and archiver there is. Each is
a shell script that notes its arguments and becomes the real tool: no other tool is needed, and a
build is slowed down by a few thousandths of a second for each command. A build system that looks up
its compiler while it is watched (CMake, configure) finds the wrapper and may remember its path:
the wrappers stay where they are, and when nothing is captured they only run the real tool.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.builds.command_line import is_compiler, read_command_line
from raceproof.frontend.builds.database import FILE
from raceproof.frontend.builds.links import (
    LINKS_FILE,
    Link,
    read_archive_command,
    read_link_command,
)

_ARCHIVER = re.compile(r"(?:[\w.]+-)*(?:ar|llvm-ar|gcc-ar)(?:-\d[\d.]*)?")
_LINKER = re.compile(r"(?:[\w.]+-)*(?:ld|ld\.bfd|ld\.gold|ld\.lld)(?:-\d[\d.]*)?")
_PROBE = re.compile(
    r"/CMakeFiles/(?:.*/)?(?:CompilerId\w+|CMakeTmp|CMakeScratch)/|/Modules/CMake\w*CompilerABI\."
    r"|/meson-private/|/conftest\.\w+$"
)
"""Files that a build system compiles to get to know the compiler."""
_VARIABLE = "RACEPROOF_CAPTURE"

WRAPPER = r"""#!/bin/sh
# Made by raceproof: notes the command if a build is being watched, then runs the real tool.
tool=${0##*/}
here=${0%/*}
real=
rest=$PATH:
while [ -n "$rest" ]; do
    folder=${rest%%:*}
    rest=${rest#*:}
    found=${folder:-.}/$tool
    if [ "$folder" != "$here" ] && [ -f "$found" ] && [ -x "$found" ] && ! [ "$found" -ef "$0" ]
    then
        real=$found
        break
    fi
done
if [ -z "$real" ]; then
    echo "raceproof: $tool is not in PATH" >&2
    exit 127
fi
if [ -n "$RACEPROOF_CAPTURE" ] && [ -d "$RACEPROOF_CAPTURE" ]; then
    printf '%s\0' "$#" "$PWD" "$real" "$@" >> "$RACEPROOF_CAPTURE/$$"
fi
exec "$real" "$@"
"""


@dataclass(frozen=True, slots=True)
class Record:
    """One command that a build ran."""

    folder: Path
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Captured:
    """What a watched build did."""

    code: int
    """The exit code of the build."""
    compiled: int
    """Commands that compiled, without those whose files are gone (tests of `configure`)."""
    linked: int
    database: Path
    total: int
    """Entries in the database, with those of earlier captures."""


def capture(command: Sequence[str], root: Path) -> Captured:
    """Run a build, and write what it did to `compile_commands.json` and `link_commands.json`."""
    wrappers = _make_wrappers()
    with tempfile.TemporaryDirectory(prefix="raceproof-capture-") as log:
        code = _run(command, wrappers, log)
        records = list(_read_records(Path(log)))
    entries = [entry for record in records for entry in _compilations(record)]
    links = _all_links(records)
    entries = list({_key(entry): entry for entry in entries if _is_there(entry)}.values())
    made = {str(entry["output"]) for entry in entries} | {link.output for link in links}
    links = [
        link for link in links if os.path.exists(link.output) and not made.isdisjoint(link.inputs)
    ]
    total = _write(root, entries, links) if entries else 0
    return Captured(code, len(entries), len(links), root / FILE, total)


def _run(command: Sequence[str], wrappers: Path, log: str) -> int:
    path = os.pathsep.join([str(wrappers), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path, _VARIABLE: log}
    for variable in ("CC", "CXX", "LD", "AR"):
        words = os.environ.get(variable, "").split()
        if words and (wrappers / os.path.basename(words[0])).exists():
            wrapped = str(wrappers / os.path.basename(words[0]))
            environment[variable] = " ".join([wrapped, *words[1:]])
    program = shutil.which(command[0], path=path)
    if program is None:
        raise UserError(f"{command[0]}: there is no such command")
    try:
        return subprocess.run([program, *command[1:]], env=environment, check=False).returncode
    except OSError as error:
        raise UserError(f"{command[0]}: cannot be started: {error.strerror}") from error


def _make_wrappers() -> Path:
    """The folder of wrappers, with one for each tool in `PATH`."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(cache) / "raceproof" / "wrappers"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in sorted(_tools(folder)):
            _write_wrapper(folder / name)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from error
    return folder


def _write_wrapper(path: Path) -> None:
    try:
        if path.read_text("utf-8") == WRAPPER:
            return
    except OSError:
        pass
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(WRAPPER, "utf-8")
    scratch.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
    scratch.replace(path)


def _tools(wrappers: Path) -> Iterator[str]:
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        if os.path.realpath(folder or ".") == os.path.realpath(wrappers):
            continue
        for name in names:
            if is_compiler(name) or _ARCHIVER.fullmatch(name) or _LINKER.fullmatch(name):
                yield name


def _read_records(log: Path) -> Iterator[Record]:
    """In the order in which the processes began, as far as the file system knows."""
    files = sorted(log.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for file in files:
        words = file.read_bytes().decode("utf-8", "surrogateescape").split("\0")
        at = 0
        while at + 2 < len(words):
            count = int(words[at]) if words[at].isdecimal() else 0
            yield Record(Path(words[at + 1]), tuple(words[at + 2 : at + 3 + count]))
            at += 3 + count


def _compilations(record: Record) -> Iterator[dict[str, object]]:
    """The database's entries for a command: one for each file that it compiles."""
    if not is_compiler(record.arguments[0]):
        return
    line = read_command_line(record.arguments, record.folder)
    units = [name for name, is_cxx in line.sources if is_cxx is not None]
    for name in units:
        if line.output and not line.is_linking:
            output = line.output
        else:
            output = os.path.splitext(os.path.basename(name))[0] + ".o"
            if line.is_linking and line.output:
                output = f"{line.output}.parts/{output}"
        others = {other for other in units if other != name}
        arguments = [word for word in record.arguments if word not in others]
        yield {
            "directory": str(record.folder),
            "file": name,
            "output": os.path.abspath(record.folder / output),
            "arguments": arguments,
        }


def _all_links(records: Sequence[Record]) -> list[Link]:
    """The last link step for each output; compilers call `ld` to do theirs, that is no other."""
    by_linker: dict[str, Link] = {}
    others: dict[str, Link] = {}
    for record in records:
        tool = os.path.basename(record.arguments[0])
        if _ARCHIVER.fullmatch(tool):
            found = read_archive_command(record.arguments, record.folder)
            if found is not None and found.output in others:
                # An archive may be filled in several steps.
                inputs = dict.fromkeys((*others[found.output].inputs, *found.inputs))
                found = replace(found, inputs=tuple(inputs))
        else:
            found = read_link_command(record.arguments, record.folder)
        if found is not None:
            (by_linker if _LINKER.fullmatch(tool) else others)[found.output] = found
    return list({**by_linker, **others}.values())


def _is_there(entry: dict[str, object]) -> bool:
    path = os.path.abspath(os.path.join(str(entry["directory"]), str(entry["file"])))
    return os.path.isfile(path) and not _PROBE.search(path)


def _write(root: Path, entries: list[dict[str, object]], links: list[Link]) -> int:
    """Adds to what earlier captures found; a file that was made again replaces itself."""
    known = {_key(entry): entry for entry in _known(root / FILE) if _is_there(entry)}
    known.update((_key(entry), entry) for entry in entries)
    joined = {str(link.get("output")): link for link in _known(root / LINKS_FILE)}
    joined.update((link.output, link.to_entry()) for link in links)
    made = {*joined, *(key for key, _ in known)}
    for link in joined.values():
        if isinstance(inputs := link.get("inputs"), list):
            real = [name if name in made else os.path.realpath(name) for name in inputs]
            link["inputs"] = [name for name in dict.fromkeys(real) if name in made]
    for name, content in ((FILE, list(known.values())), (LINKS_FILE, list(joined.values()))):
        try:
            (root / name).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
        except OSError as error:
            raise UserError(f"{root / name}: cannot be written: {error.strerror}") from error
    return len(known)


def _key(entry: dict[str, object]) -> tuple[str, str]:
    folder = str(entry.get("directory", ""))
    return str(entry.get("output", "")), os.path.join(folder, str(entry.get("file", "")))


def _known(path: Path) -> list[dict[str, object]]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
