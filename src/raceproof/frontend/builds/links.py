"""What a build links: objects to archives, archives and objects to programs and libraries."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from raceproof.frontend.builds.command_line import (
    expanded,
    read_command_line,
    without_launchers,
)

LINKS_FILE = "link_commands.json"


class LinkKind(StrEnum):
    PROGRAM = "program"
    STATIC = "static library"
    SHARED = "shared library"
    OBJECT = "object library"


@dataclass(frozen=True, slots=True)
class Link:
    """One output of the build and what it is made of, all as absolute paths.

    `inputs` are objects, archives and libraries; those of the system are among them, and mean
    nothing to a build that does not make them.
    """

    output: str
    kind: LinkKind
    inputs: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    """Libraries by name and where to look for them, as words for a linker: `-L/opt/lib -levent`."""

    def to_entry(self) -> dict[str, object]:
        found: dict[str, object] = {
            "output": self.output,
            "kind": str(self.kind),
            "inputs": list(self.inputs),
        }
        return {**found, "libraries": list(self.libraries)} if self.libraries else found


def read_links(path: Path) -> list[Link]:
    """What `raceproof capture` wrote down beside the database."""
    try:
        entries = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return []
    found = []
    for entry in entries if isinstance(entries, list) else []:
        try:
            inputs = tuple(str(one) for one in entry["inputs"])
            libraries = tuple(str(one) for one in entry.get("libraries", ()))
            found.append(Link(str(entry["output"]), LinkKind(entry["kind"]), inputs, libraries))
        except (KeyError, TypeError, ValueError):
            continue
    return found


def read_link_command(arguments: Sequence[str], folder: Path) -> Link | None:
    """`cc -o server main.o -Llib -lqueue`; None if nothing is linked."""
    line = read_command_line(arguments, folder)
    if not line.is_linking and not line.is_relocatable:
        return None
    output = line.output or "a.out"
    objects = [
        f"{output}.parts/{os.path.splitext(os.path.basename(name))[0]}.o"
        if line.output
        else os.path.splitext(os.path.basename(name))[0] + ".o"
        for name, is_cxx in line.sources
        if is_cxx is not None
    ]
    inputs = [os.path.abspath(folder / name) for name in objects]
    for name in line.inputs:
        if name.startswith("-l"):
            inputs += _library(name[2:], line.library_folders, folder)
        else:
            inputs.append(os.path.abspath(folder / name))
    if not inputs:
        return None
    kind = LinkKind.PROGRAM
    if line.is_relocatable:
        kind = LinkKind.OBJECT
    elif line.is_shared:
        kind = LinkKind.SHARED
    libraries = (
        *(f"-L{os.path.abspath(folder / place)}" for place in line.library_folders),
        *(name for name in line.inputs if name.startswith("-l")),
    )
    return Link(os.path.abspath(folder / output), kind, tuple(dict.fromkeys(inputs)), libraries)


def _library(name: str, folders: Sequence[str], folder: Path) -> list[str]:
    """Where `-lNAME` may be found; which of them the build makes will be seen."""
    names = [name[1:]] if name.startswith(":") else [f"lib{name}.so", f"lib{name}.a"]
    return [os.path.abspath(folder / place / one) for place in folders for one in names]


def read_archive_command(arguments: Sequence[str], folder: Path) -> Link | None:
    """`ar rcs libqueue.a queue.o`; None if no archive is made."""
    words = list(expanded(without_launchers(arguments)[1:], folder, []))
    words = [w for w in words if not w.startswith("--")]
    if words and words[0].lstrip("-")[:1] in {"r", "q", "c", "s", "u", "D", "v", "S", "T"}:
        operation = words.pop(0)
        if not set(operation) & {"r", "q"}:
            return None
        if set(operation) & {"a", "b", "i"} and words:
            words.pop(0)
        if words:
            output = os.path.abspath(folder / words[0])
            inputs = tuple(os.path.abspath(folder / name) for name in words[1:])
            return Link(output, LinkKind.STATIC, inputs)
    return None
