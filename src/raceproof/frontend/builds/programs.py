"""The programs and libraries of a build, each with the translation units that it is made of.

What is linked from what is known from a watched build (`raceproof capture`), from a `build.ninja`
(CMake, Meson) or from the `link.txt` files of CMake's makefiles. Libraries of the project that a
program links, static or shared, are part of it: their code runs in it. Where nothing says what is
linked, the folders that CMake and Meson put objects into tell at least which belong together.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.builds.cmake import cmake_links
from raceproof.frontend.builds.database import Command, Database
from raceproof.frontend.builds.links import LINKS_FILE, Link, LinkKind, read_links
from raceproof.frontend.builds.ninja import FILE as NINJA_FILE
from raceproof.frontend.builds.ninja import ninja_links

_MOST_NAMED = 12
_COMPILERS_OWN = re.compile(r"(?:lib|-l)(?:gcc|gcc_s|gcov|c|lto_plugin|pthread|m|dl|rt|asan|tsan)")
"""What a compiler adds to every link by itself, or every linker finds."""
_OBJECT_FOLDER = re.compile(r"(?P<name>.+)\.(?:dir|p)$")
_LIBRARY_NAME = re.compile(r"lib(?P<stem>.+?)\.(?:a|so[.\d]*)$")


@dataclass(frozen=True, slots=True)
class Target:
    """A program or library; `units` are numbers of commands of the database."""

    name: str
    kind: LinkKind
    units: tuple[int, ...]
    output: str = ""
    links: tuple[str, ...] = ()
    """The targets of the same build whose code it holds, by name."""
    outside: tuple[str, ...] = ()
    """What else a linker needs for it: libraries that the build does not make."""

    @property
    def is_program(self) -> bool:
        return self.kind is LinkKind.PROGRAM


@dataclass(frozen=True, slots=True)
class Build:
    """A database with its targets."""

    database: Database
    targets: tuple[Target, ...]
    is_linked: bool
    """Whether the user said what is linked; if not, targets are guessed by folder."""

    @property
    def programs(self) -> tuple[Target, ...]:
        return tuple(target for target in self.targets if target.is_program)

    def target(self, name: str) -> Target:
        """The target of that name, with or without its folder, `lib` and suffix."""
        for same in (_is_exactly, _is_about):
            found = [target for target in self.targets if same(target, name)]
            found = [t for t in found if t.is_program] or found
            if len(found) == 1:
                return found[0]
            if found:
                where = ", ".join(target.output for target in found)
                raise UserError(f"--target {name}: there are several ({where}); name its path")
        raise UserError(f"{self.database.path}: {self._unknown(name)}")

    def _unknown(self, name: str) -> str:
        names = [target.name for target in self.targets]
        if not names:
            return f"--target {name}: the build names no programs; run it under `raceproof capture`"
        from difflib import get_close_matches

        near = get_close_matches(name, names, 3, 0.5)
        if near:
            return f"no --target {name}; did you mean {' or '.join(near)}?"
        return f"no --target {name} (known: {listed(sorted(names))})"


def listed(names: Sequence[str]) -> str:
    """Names for a message, not all if they are many."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _is_exactly(target: Target, name: str) -> bool:
    return name in (target.name, target.output) or (
        os.sep in name and target.output.endswith(os.sep + name.lstrip("./"))
    )


def _is_about(target: Target, name: str) -> bool:
    base = os.path.basename(target.output or target.name)
    stem = _LIBRARY_NAME.fullmatch(base)
    return name in (base, stem["stem"] if stem else base)


def read_build(database: Database) -> Build:
    """The targets, by whoever knows them."""
    folder = database.path.parent
    links = find_links(folder)
    targets = _linked(database.commands, links) if links else []
    if targets:
        return Build(database, tuple(targets), True)
    return Build(database, tuple(_by_folder(database.commands)), False)


def find_links(folder: Path) -> list[Link]:
    """All link steps that are known of the build in this folder."""
    return (
        read_links(folder / LINKS_FILE) or ninja_links(folder / NINJA_FILE) or cmake_links(folder)
    )


def _linked(commands: Sequence[Command], links: Iterable[Link]) -> list[Target]:
    objects: dict[str, list[int]] = {}
    for number, command in enumerate(commands):
        if command.output:
            objects.setdefault(command.output, []).append(number)
    by_output = {link.output: link for link in links}
    _add_aliases(by_output)
    names = _names(by_output)
    found = []
    for output, name in names.items():
        link = by_output[output]
        if not link.inputs:
            continue
        units, inner = _closure(link, by_output, objects)
        if units:
            used = tuple(dict.fromkeys(names[one] for one in inner if one in names))
            outside = _outside(link, by_output)
            found.append(Target(name, link.kind, tuple(units), output, used, outside))
    order = list(LinkKind)
    return sorted(found, key=lambda target: (order.index(target.kind), target.name))


def _outside(link: Link, by_output: dict[str, Link]) -> tuple[str, ...]:
    """The libraries of the system that a program and the libraries of the build in it name."""
    found: dict[str, None] = {}
    named: set[str] = set()
    waiting, seen = [link], {link.output}
    while waiting:
        one = waiting.pop()
        words = [w for w in one.libraries if not _COMPILERS_OWN.fullmatch(w)]
        found.update(dict.fromkeys(words))
        for path in one.inputs:
            name, suffix = os.path.splitext(os.path.basename(path))
            is_library = suffix in (".so", ".a") and path not in by_output
            if is_library and not _COMPILERS_OWN.fullmatch(name) and name not in named:
                if f"-l{name.removeprefix('lib')}" not in words and os.path.exists(path):
                    named.add(name)
                    found[path] = None
        inner = [by_output[i] for i in one.inputs if i in by_output]
        waiting += [each for each in inner if each.output not in seen]
        seen |= {each.output for each in inner}
    return tuple(found)


def _add_aliases(by_output: dict[str, Link]) -> None:
    """`libx.so` is often a symbolic link to the `libx.so.1.2` that was linked."""
    for output in list(by_output):
        real = os.path.realpath(output)
        if real != output and real in by_output:
            by_output[output] = by_output[real]
    for output, link in list(by_output.items()):
        found = re.match(r"(.*\.so)[.\d]+$", output)
        if found and found[1] not in by_output:
            by_output[found[1]] = link


def _names(by_output: Mapping[str, Link]) -> dict[str, str]:
    """A short name for each output: its own, with as much of its folder as tells it apart."""
    outputs = list(dict.fromkeys(link.output for link in by_output.values()))
    found = {output: _short(output, 1) for output in outputs}
    for depth in range(2, 8):
        counts: dict[str, int] = {}
        for name in found.values():
            counts[name] = counts.get(name, 0) + 1
        clashing = [output for output, name in found.items() if counts[name] > 1]
        if not clashing:
            break
        for output in clashing:
            found[output] = _short(output, depth)
    return found


def _short(output: str, depth: int) -> str:
    """The last parts of a path; `.libs/server` of libtool is `server`."""
    parts = [part for part in Path(output).parts if part not in {".libs", os.sep}]
    return os.sep.join(parts[-depth:])


def _closure(
    link: Link, by_output: Mapping[str, Link], objects: Mapping[str, list[int]]
) -> tuple[list[int], list[str]]:
    """The units that end up in an output, and the libraries on the way."""
    units: dict[int, None] = {}
    seen: dict[str, None] = {}
    work = list(reversed(link.inputs))
    while work:
        name = work.pop()
        if name in seen:
            continue
        seen[name] = None
        if name in objects:
            units.update(dict.fromkeys(objects[name]))
        elif name in by_output and by_output[name] is not link:
            work.extend(reversed(by_output[name].inputs))
    return list(units), [by_output[name].output for name in seen if name in by_output]


def _by_folder(commands: Sequence[Command]) -> list[Target]:
    """CMake's `CMakeFiles/server.dir/main.c.o` and Meson's `server.p/main.c.o` are of `server`."""
    found: dict[str, list[int]] = {}
    for number, command in enumerate(commands):
        for part in Path(command.output).parts[:-1]:
            named = _OBJECT_FOLDER.match(part)
            if named:
                found.setdefault(named["name"], []).append(number)
    return [Target(name, _guessed(name), tuple(units)) for name, units in sorted(found.items())]


def _guessed(name: str) -> LinkKind:
    if not _LIBRARY_NAME.fullmatch(name):
        return LinkKind.PROGRAM
    return LinkKind.STATIC if name.endswith(".a") else LinkKind.SHARED
