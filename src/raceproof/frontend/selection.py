"""Which translation units make the program that a command is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.source import Source
from raceproof.options import Options


@dataclass(frozen=True, slots=True)
class Selection:
    """The files of a program; `others` are further files of the same build, to be taken in if the
    program calls their functions."""

    sources: tuple[Source, ...]
    others: tuple[Source, ...] = ()
    is_build: bool = False
    """Chosen by a build, not named one by one: a file that does not compile costs only itself."""
    notices: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    """For a linker: libraries that the build does not make."""
    left_out: tuple[str, ...] = ()
    """Code that is known to be missing, as phrases."""


def select(files: Sequence[Path], options: Options) -> Selection:
    """Those named, else those of one program of the build."""
    if files and options.database is None:
        return Selection(tuple(Source(path) for path in files))
    from raceproof.frontend.builds.database import nearby_database, read_database

    if files:
        assert options.database is not None
        known = {
            c.source.path.resolve(): c.source for c in read_database(options.database).commands
        }
        return Selection(tuple(known.get(path.resolve(), Source(path)) for path in files))
    path = options.database or nearby_database(Path())
    if path is None:
        raise UserError(
            "nothing to check: name C or C++ files, or a build database with -p "
            "(`raceproof capture -- make` makes one)"
        )
    return _of_build(path, options)


def _of_build(path: Path, options: Options) -> Selection:
    from raceproof.frontend.builds.database import read_database
    from raceproof.frontend.builds.programs import listed, read_build

    build = read_build(read_database(path))
    commands = build.database.commands
    every = range(len(commands))
    numbers: Iterable[int] = every
    outside: tuple[str, ...] = ()
    if options.target is not None:
        target = build.target(options.target)
        numbers, outside = target.units, target.outside
    elif options.file_filter is None and len(build.programs) == 1:
        numbers, outside = build.programs[0].units, build.programs[0].outside
    elif options.file_filter is None and build.programs:
        names = listed([target.name for target in build.programs])
        raise UserError(
            f"{path}: the build makes {len(build.programs)} programs; "
            f"name one with --target ({names})"
        )
    chosen = _one_per_file(
        commands[n].source for n in numbers if _matches(commands[n].source, options.file_filter)
    )
    missing = [source for source in chosen if not source.path.is_file()]
    sources = tuple(source for source in chosen if source.path.is_file())
    if not sources:
        raise UserError(f"{path}: no C or C++ file is left")
    notices = [*build.database.notices]
    notices += [f"{source.path}: is in {path} but not on disk" for source in missing]
    taken = {source.path for source in sources}
    others: tuple[Source, ...] = ()
    if options.file_filter is None and build.targets:
        others = tuple(
            source
            for source in _one_per_file(commands[n].source for n in every)
            if source.path not in taken and source.path.is_file()
        )
    left_out = [f"{source.path}, which is not on disk" for source in missing]
    if build.database.damaged:
        left_out.append(f"what {build.database.damaged} damaged entries of {path} compile")
    parallel = sum(commands[n].has_openmp for n in numbers)
    if parallel:
        left_out.append(f"the parallel regions of OpenMP in {parallel} files")
    return Selection(sources, others, True, tuple(notices), outside, tuple(left_out))


def _one_per_file(sources: Iterable[Source]) -> list[Source]:
    found: dict[Path, Source] = {}
    for source in sources:
        found.setdefault(source.path, source)
    return list(found.values())


def _matches(source: Source, pattern: str | None) -> bool:
    return pattern is None or any(
        fnmatch(name, pattern) for name in (str(source.path), source.path.name)
    )
