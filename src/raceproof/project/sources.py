"""Which files, compiled how, make which programs.

A project is given by a build database, by a folder (all C and C++ files below it) or by files.
Folders of other people's code are left out by pattern; headers from them are still read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.compiler import C_SUFFIXES, CXX_SUFFIXES, LLVM_SUFFIXES, Source
from raceproof.frontend.database import choose, read_database
from raceproof.options import Options

_SOURCES = (C_SUFFIXES | CXX_SUFFIXES) - {".h"}
DATABASE = "compile_commands.json"
_DATABASE_FOLDERS = (".", "build", "out", "cmake-build-debug", "cmake-build-release")


@dataclass(frozen=True, slots=True)
class Project:
    """Translation units below a root folder; `targets` says to which outputs of the build each
    belongs (nothing known: to any)."""

    root: Path
    sources: tuple[Source, ...]
    targets: tuple[frozenset[str], ...] = ()
    missing: tuple[str, ...] = ()
    """What was named but is not there, as sentences."""
    include_dirs: tuple[Path, ...] = field(default=())

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
        database = _nearby_database(root)
    elif database is None and len(paths) == 1 and folders:
        database = _nearby_database(folders[0])
    if database is not None and all(path.is_dir() for path in paths):
        return _from_database(root, database, paths, options)
    return _from_files(root, paths or [Path()], options)


def _nearby_database(folder: Path) -> Path | None:
    for name in _DATABASE_FOLDERS:
        if (folder / name / DATABASE).is_file():
            return folder / name / DATABASE
    return None


def _from_database(root: Path, database: Path, paths: Sequence[Path], options: Options) -> Project:
    commands = read_database(database)
    below = [os.path.abspath(path) + os.sep for path in paths]
    chosen = set(choose(commands, options.target, options.file_filter, database))
    targets: dict[Source, set[str]] = {}
    missing = []
    for command in commands:
        source = _normal(command.source)
        if command.source not in chosen or _is_excluded(source.path, root, options.exclude):
            continue
        if below and not str(source.path).startswith(tuple(below)):
            continue
        if not source.path.is_file():
            missing.append(f"{source.path}: is in {database} but not on disk")
            continue
        targets.setdefault(source, set()).update(_targets(command.output))
    sources = _one_per_file(targets)
    return Project(
        root,
        tuple(sources),
        tuple(frozenset(targets[source]) for source in sources),
        tuple(dict.fromkeys(missing)),
    )


def _normal(source: Source) -> Source:
    """With a path without `..` that does not depend on where we are."""
    path = Path(os.path.abspath(source.path))
    folder = Path(os.path.abspath(source.folder)) if source.folder is not None else None
    return Source(path, source.flags, folder)


def _one_per_file(sources: Iterable[Source]) -> list[Source]:
    """A file that is built several times is looked at once, as it is built first."""
    found: dict[Path, Source] = {}
    for source in sources:
        found.setdefault(source.path, source)
    return sorted(found.values(), key=lambda source: source.path)


def _targets(output: str) -> Iterator[str]:
    """CMake's `CMakeFiles/server.dir/main.c.o` belongs to `server`."""
    for part in Path(output).parts:
        if part.endswith(".dir"):
            yield part.removesuffix(".dir")


def _from_files(root: Path, paths: Sequence[Path], options: Options) -> Project:
    found: dict[Path, None] = {}
    missing = []
    for path in paths:
        full = Path(os.path.abspath(path))
        if full.is_dir():
            found.update(dict.fromkeys(_below(full, root, options.exclude)))
        elif not full.exists():
            missing.append(f"{path}: there is no such file")
        elif full.suffix not in _SOURCES | LLVM_SUFFIXES:
            raise UserError(f"{path}: not a kind of file that can be scanned")
        elif not _is_excluded(full, root, options.exclude):
            found[full] = None
    known = {}
    if options.database is not None:
        known = {_normal(c.source).path: _normal(c.source) for c in read_database(options.database)}
    sources = tuple(known.get(path, Source(path)) for path in sorted(found))
    return Project(root, sources, missing=tuple(missing))


def _below(folder: Path, root: Path, patterns: Sequence[str]) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        here = Path(where)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not _is_excluded(here / name, root, patterns)
        )
        for name in sorted(files):
            path = here / name
            if path.suffix in _SOURCES and not _is_excluded(path, root, patterns):
                yield path


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
