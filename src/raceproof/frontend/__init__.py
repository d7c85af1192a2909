"""C, C++ and LLVM files to a `Program`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.errors import UserError
from raceproof.frontend.compiler import Translation, check_source, compile_source
from raceproof.frontend.source import LLVM_SUFFIXES, Source
from raceproof.frontend.toolchain import Toolchain
from raceproof.options import Options

if TYPE_CHECKING:
    from raceproof.ir import Function, Program

__all__ = ["Source", "compile_text", "load_program", "program_sources"]


def load_program(files: Sequence[Path], options: Options) -> Program:
    """The program that these files, or the build database, make."""
    return load_sources(program_sources(files, options), options)


def load_sources(sources: Sequence[Source], options: Options) -> Program:
    """The program that these translation units make."""
    from raceproof.frontend.library import inlined, library_for
    from raceproof.frontend.link import link_modules
    from raceproof.frontend.lower_module import lower_module

    made = [one.text for one in compile_all(sources, options)]
    texts, library = library_for(made, options)
    names = [str(source.path) for source in sources]
    if library:
        text = inlined(link_modules([*texts, library], [*names, "the C library"]), library)
    else:
        text = link_modules(texts, names)
    program = lower_module(text, names, options.entry or "main")
    _check_entry(program, options)
    return program


def program_sources(files: Sequence[Path], options: Options) -> list[Source]:
    """The translation units: those named, else those of the build database."""
    if files:
        if options.database is None:
            return [Source(path) for path in files]
        return _with_database_flags(files, options.database)
    if options.database is None:
        raise UserError("nothing to check: name C or C++ files, or a build database with -p")
    return _build_sources(options.database, options)


def _with_database_flags(files: Sequence[Path], path: Path) -> list[Source]:
    from raceproof.frontend.builds.database import read_database

    known = {c.source.path.resolve(): c.source for c in read_database(path).commands}
    return [known.get(path.resolve(), Source(path)) for path in files]


def _build_sources(path: Path, options: Options) -> list[Source]:
    """The files of one program of the build: the one named, or the only one."""
    from raceproof.frontend.builds.database import read_database
    from raceproof.frontend.builds.programs import listed, read_build

    build = read_build(read_database(path))
    commands = build.database.commands
    if options.target is not None:
        chosen = [commands[number] for number in build.target(options.target).units]
    elif options.file_filter is not None or not build.programs:
        chosen = list(commands)
    elif len(build.programs) == 1:
        chosen = [commands[number] for number in build.programs[0].units]
    else:
        names = listed([target.name for target in build.programs])
        raise UserError(
            f"{path}: the build makes {len(build.programs)} programs; "
            f"name one with --target ({names})"
        )
    found = {
        c.source.path: c.source for c in reversed(chosen) if _matches(c.source, options.file_filter)
    }
    if not found:
        raise UserError(f"{path}: no C or C++ file is left")
    return list(reversed(found.values()))


def _matches(source: Source, pattern: str | None) -> bool:
    from fnmatch import fnmatch

    return pattern is None or any(
        fnmatch(name, pattern) for name in (str(source.path), source.path.name)
    )


def compile_text(source: Source, toolchain: Toolchain, *extra: str) -> Translation:
    """The LLVM text of one translation unit, whatever its kind; `extra` are further flags."""
    if source.path.suffix in LLVM_SUFFIXES:
        from raceproof.frontend.link import read_llvm

        return Translation(read_llvm(source.path))
    return compile_source(source, toolchain, *extra)


def compile_all(sources: Sequence[Source], options: Options) -> list[Translation]:
    """The LLVM modules, in order; several files are compiled side by side."""
    toolchain = Toolchain(options)
    for source in sources:
        check_source(source.path)
    if len(sources) == 1:
        return [compile_text(sources[0], toolchain)]
    import os
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(options.jobs or os.cpu_count() or 1) as pool:
        return list(pool.map(lambda source: compile_text(source, toolchain), sources))


def _check_entry(program: Program, options: Options) -> None:
    entry = program.functions.get(program.entry)
    if entry is not None and entry.is_defined:
        return
    if options.engine == "summary" and not options.entry:
        return  # a library: this engine takes every visible function for a thread
    possible = _possible_entries(program)
    hint = f"; possible entries: {', '.join(possible)}" if possible else ""
    if options.entry:
        raise UserError(f"--entry {options.entry}: the program defines no such function{hint}")
    raise UserError(
        "the program has no `main`: name the function it starts with --entry, "
        f"or check it as a library with --engine summary{hint}"
    )


def _possible_entries(program: Program) -> list[str]:
    """Functions that nobody calls by name, those visible from outside first."""
    from raceproof.ir.cfg import direct_calls

    called = {name for f in program.defined for _, name in direct_calls(f)}
    uncalled = [f for f in program.defined if f.name not in called] or list(program.defined)

    def order(function: Function) -> tuple[bool, str]:
        return not function.is_external, function.name

    names = [f.name for f in sorted(uncalled, key=order)]
    return names[:8] + (["..."] if len(names) > 8 else [])
