"""Translation units to the modules of one program.

The units of a program that a build made are compiled each for itself: one that fails costs that one
only. Functions that they call and that another file of the same build defines come from there, as
when a library was not seen being linked. What is left out, and which functions have no body, the
program keeps (`Program.origin`): a proof must not rest on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.compiler import Translation, check_source
from raceproof.frontend.selection import Selection
from raceproof.frontend.source import Source
from raceproof.frontend.symbols import (
    defined_functions,
    seemingly_defined,
    undefined_functions,
)
from raceproof.frontend.toolchain import Toolchain
from raceproof.options import Options

Compile = Callable[..., Translation]
_MOST_ROUNDS = 16


@dataclass(slots=True)
class Assembly:
    """Modules by source, in order."""

    modules: dict[Source, Translation] = field(default_factory=dict)
    failed: dict[Source, str] = field(default_factory=dict)
    taken_in: list[Source] = field(default_factory=list)

    def notices(self) -> Iterator[str]:
        if self.failed:
            from raceproof.frontend.builds.trouble import grouped_troubles

            yield from grouped_troubles(list(self.failed.values()))
            total = len(self.failed) + len(self.modules)
            yield (
                f"{len(self.failed)} of {total} files could not be compiled: "
                "the verdict is about the others"
            )
        if self.taken_in:
            names = [os.path.relpath(source.path) for source in self.taken_in]
            more = f" and {len(names) - 4} more" if len(names) > 4 else ""
            yield (
                f"taken in, because the program calls their functions: {', '.join(names[:4])}"
                + more
            )
        by_notice: dict[str, list[str]] = {}
        for source, made in self.modules.items():
            if made.notice:
                by_notice.setdefault(made.notice, []).append(source.path.name)
        if not by_notice:
            return
        from raceproof.frontend.builds.trouble import told_of

        for notice, files in by_notice.items():
            yield told_of(files, notice)


def assemble(selection: Selection, options: Options, compile_text: Compile) -> Assembly:
    """Compiles all units of the selection, and those of the build that they need."""
    toolchain = Toolchain(options)
    found = Assembly()
    worker = _Worker(toolchain, compile_text, options.jobs)
    try:
        worker.compile(selection.sources, found, selection.is_build)
        if selection.is_build and not found.modules:
            raise UserError(next(iter(found.failed.values())))
        if selection.others:
            _take_in(selection.others, found, worker)
    except BaseException:
        toolchain.running.stop()
        raise
    return found


class _Worker:
    def __init__(self, toolchain: Toolchain, compile_text: Compile, jobs: int | None) -> None:
        self._toolchain = toolchain
        self._compile_text = compile_text
        self._jobs = jobs or os.cpu_count() or 1

    def compile(self, sources: Sequence[Source], into: Assembly, is_tolerant: bool) -> None:
        if not is_tolerant:
            for source in sources:
                check_source(source.path)
        if len(sources) == 1:
            done = [self._one(sources[0])]
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(self._jobs) as pool:
                try:
                    done = list(pool.map(self._one, sources))
                except BaseException:
                    self._toolchain.running.stop()
                    raise
        for source, made in zip(sources, done, strict=True):
            if isinstance(made, Translation):
                into.modules[source] = made
            elif not is_tolerant:
                raise made
            else:
                into.failed[source] = str(made)

    def _one(self, source: Source) -> Translation | UserError:
        try:
            return self._compile_text(source, self._toolchain)
        except UserError as error:
            return error


def read_dependencies(text: str, folder: Path) -> list[str]:
    """The files in a rule of `make`."""
    _, _, listed = text.replace("\\\n", " ").partition(": ")
    names = [name.replace("\0", " ") for name in listed.replace("\\ ", "\0").split()]
    return [os.path.normpath(folder / name.replace("$$", "$")) for name in names]


def _take_in(others: Sequence[Source], found: Assembly, worker: _Worker) -> None:
    waiting = {source: _definitions(source) for source in others}
    defined = {name for made in found.modules.values() for name in defined_functions(made.text)}
    for _ in range(_MOST_ROUNDS):
        wanted = {n for made in found.modules.values() for n in undefined_functions(made.text)}
        wanted -= defined
        likely = [s for s, names in waiting.items() if names & wanted and "main" not in names]
        if not likely:
            return
        tried = Assembly()
        worker.compile(likely, tried, is_tolerant=True)
        for source in likely:
            del waiting[source]
            made = tried.modules.get(source)
            if made is None:
                continue
            names = defined_functions(made.text)
            if names & wanted and not names & defined:
                found.modules[source] = made
                found.taken_in.append(source)
                defined |= names
                wanted -= names


def _definitions(source: Source) -> set[str]:
    try:
        return seemingly_defined(source.path.read_text("utf-8", "replace"))
    except OSError:
        return set()
