"""Which files, compiled how, make which programs.

A project is given by a build database, by a folder (all C and C++ files below it) or by files.
Folders of other people's code are left out by pattern; headers from them are still read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.builds.database import Database, nearby_database, read_database
from raceproof.frontend.builds.links import LinkKind
from raceproof.frontend.builds.programs import read_build
from raceproof.frontend.source import C_SUFFIXES, CXX_SUFFIXES, LLVM_SUFFIXES, Source
from raceproof.options import Options

_SOURCES = (C_SUFFIXES | CXX_SUFFIXES) - {".h"}


@dataclass(frozen=True, slots=True)
class ProjectTarget:
    """A program or library of the project; `units` are numbers of its sources."""

    name: str
    kind: LinkKind
    units: frozenset[int]
    links: frozenset[str] = frozenset()
    """Other targets whose code it holds."""
    output: str = ""
    """The file that the build makes, if that is known."""
    outside: tuple[str, ...] = ()
    """For a linker: libraries that the build does not make."""


@dataclass(frozen=True, slots=True)
class Project:
    """Translation units below a root folder, and what the build makes of them, if that is known."""

    root: Path
    sources: tuple[Source, ...]
    targets: tuple[ProjectTarget, ...] = ()
    is_linked: bool = False
    """Whether the build said what is linked; if not, `targets` are told by folder."""
    missing: tuple[str, ...] = ()
    """What was named but is not there or cannot be read, as sentences."""
    notices: tuple[str, ...] = ()
    """What else is odd about the build."""

    def name(self, path: Path | str) -> str:
        """A file as reports name it: below the root if it lies there."""
        full = os.path.normpath(self.root / path)
        root = str(self.root)
        return full[len(root) + 1 :] if full.startswith(root + os.sep) else full

    def shown(self, name: str) -> str:
        """A file that `name` gave, as seen from the working directory."""
        here = os.getcwd()
        if here == str(self.root):
            return name
        full = os.path.join(self.root, name)
        return full[len(here) + 1 :] if full.startswith(here + os.sep) else full


def find_project(paths: Sequence[Path], options: Options) -> Project:
    """The project that the arguments mean: files, folders, or the build database."""
    folders = [path for path in paths if path.is_dir()]
    root = Path(os.path.abspath(folders[0] if len(paths) == 1 and folders else "."))
    database = options.database
    if database is None and not paths:
        database = nearby_database(root)
    elif database is None and len(paths) == 1 and folders:
        database = nearby_database(folders[0])
    if database is not None and all(path.is_dir() for path in paths):
        return _from_database(root, database, paths, options)
    return _from_files(root, paths or [Path()], options)


def _from_database(root: Path, path: Path, paths: Sequence[Path], options: Options) -> Project:
    database = read_database(path)
    build = read_build(database)
    target = build.target(options.target) if options.target is not None else None
    wanted = target.units if target is not None else range(len(database.commands))
    below = [os.path.abspath(path) + os.sep for path in paths]
    missing = []
    numbers: dict[Source, int] = {}
    unit_of: dict[int, int] = {}
    for number in sorted(wanted):
        source = database.commands[number].source
        if _is_excluded(source.path, root, options.exclude):
            continue
        if not _is_wanted(source.path, options.file_filter):
            continue
        if below and not str(source.path).startswith(tuple(below)):
            continue
        if not source.path.is_file():
            missing.append(f"{source.path}: is in {path} but {_why_missing(source.path)}")
            continue
        unit_of[number] = numbers.setdefault(source, len(numbers))
    if not numbers and not missing:
        raise UserError(f"{path}: no C or C++ file is left")
    chosen = [target] if target is not None else build.targets
    targets = tuple(
        ProjectTarget(
            one.name,
            one.kind,
            frozenset(unit_of[n] for n in one.units if n in unit_of),
            frozenset(one.links),
            one.output,
            one.outside,
        )
        for one in chosen
    )
    return _in_order(
        Project(
            root,
            tuple(numbers),
            tuple(one for one in targets if one.units),
            build.is_linked,
            tuple(dict.fromkeys(missing)),
            (*database.notices, *_openmp(database, wanted)),
        )
    )


def _in_order(project: Project) -> Project:
    """Sources by path; of a file that is compiled in several ways for no known reason, the
    first way."""
    used = {number for target in project.targets for number in target.units}
    found: dict[Path, int] = {}
    order = []
    for number, source in enumerate(project.sources):
        if number in used or source.path not in found:
            found.setdefault(source.path, number)
            order.append(number)
    order.sort(key=lambda number: project.sources[number].path)
    new = {number: position for position, number in enumerate(order)}
    targets = tuple(
        replace(target, units=frozenset(new[number] for number in target.units))
        for target in project.targets
    )
    return replace(
        project, sources=tuple(project.sources[number] for number in order), targets=targets
    )


def _openmp(database: Database, wanted: Iterable[int]) -> Iterator[str]:
    count = sum(database.commands[number].has_openmp for number in wanted)
    if count:
        yield f"{count} files are compiled with OpenMP: its loops run one after another here"


def _is_wanted(path: Path, pattern: str | None) -> bool:
    return pattern is None or fnmatch(str(path), pattern) or fnmatch(path.name, pattern)


def _why_missing(path: Path) -> str:
    if path.is_symlink():
        return "is a broken link"
    return "is a folder" if path.is_dir() else "not on disk"


def _from_files(root: Path, paths: Sequence[Path], options: Options) -> Project:
    found: dict[Path, None] = {}
    missing: list[str] = []
    for path in paths:
        full = Path(os.path.abspath(path))
        if full.is_dir():
            found.update(dict.fromkeys(_below(full, root, options.exclude, missing)))
        elif not full.exists():
            why = "is a broken link" if full.is_symlink() else "there is no such file"
            missing.append(f"{path}: {why}")
        elif full.suffix not in _SOURCES | LLVM_SUFFIXES:
            raise UserError(f"{path}: not a kind of file that can be scanned")
        elif not _is_excluded(full, root, options.exclude):
            found[full] = None
    known = {}
    notices: tuple[str, ...] = ()
    if options.database is not None:
        database = read_database(options.database)
        known = {command.source.path: command.source for command in database.commands}
        notices = database.notices
    sources = tuple(known.get(path, Source(path)) for path in sorted(found))
    return Project(root, sources, missing=tuple(missing), notices=notices)


def _below(folder: Path, root: Path, patterns: Sequence[str], missing: list[str]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        missing.append(f"{error.filename}: cannot be read: {error.strerror}")

    for where, folders, files in os.walk(folder, onerror=unreadable):
        here = Path(where)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not _is_excluded(here / name, root, patterns)
        )
        for name in sorted(files):
            path = here / name
            if path.suffix not in _SOURCES or _is_excluded(path, root, patterns):
                continue
            if path.is_file():
                yield path
            elif path.is_symlink():
                missing.append(f"{path}: is a broken link")
            else:
                missing.append(f"{path}: is not a file")


def _is_excluded(path: Path, root: Path, patterns: Sequence[str]) -> bool:
    """`third_party` (any folder or file of that name), `src/legacy/*`, `*_test.c`."""
    try:
        parts = path.relative_to(root).parts
    except ValueError:
        parts = path.parts
    whole = "/".join(parts)
    return any(
        fnmatch(whole, pattern.rstrip("/"))
        or fnmatch(whole, pattern.rstrip("/") + "/*")
        or any(fnmatch(part, pattern.rstrip("/")) for part in parts)
        for pattern in patterns
    )
