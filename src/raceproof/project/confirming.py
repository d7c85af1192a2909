"""Findings of a scan, looked for in the programs of the project: `raceproof scan --confirm`.

Every program of the build is built once more with ThreadSanitizer and with hooks at the accesses of
the findings, found by their source positions, as a scan knows no instructions of whole programs.
Then the user's command (`make check`) runs, in a copy of the project in which these programs stand
where the build had put its own; without a command each program runs by itself.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend import Selection
from raceproof.frontend.builds.links import LinkKind
from raceproof.native.build import Builder, read_module
from raceproof.native.confirm import Settings, told_of, unmatched
from raceproof.native.execution import execute
from raceproof.native.plan import noise_plan
from raceproof.native.points import PointTable
from raceproof.native.sanitizer import SeenRace
from raceproof.options import Options
from raceproof.project.places import relocated
from raceproof.project.sources import Project, ProjectTarget
from raceproof.verdict import Access, NativeRun, Verdict

Progress = Callable[[str], None]
_LEFT_OUT = (".git", ".hg", ".svn", ".raceproof")


def confirmed(
    verdict: Verdict,
    project: Project,
    options: Options,
    command: Sequence[str],
    folder: Path,
    settings: Settings,
    progress: Progress,
) -> tuple[Verdict, tuple[SeenRace, ...]]:
    """The verdict with what came of its findings; and what only ThreadSanitizer saw."""
    absolute = relocated(verdict, lambda file: os.path.join(project.root, file))
    tried = [f for f in absolute.findings if f.suppressed_by is None][: settings.most]
    accesses = [a for f in tried for pair in (f.accesses, *f.others) for a in pair]
    built, table, notices = _build(project, options, accesses, folder, settings, progress)
    if not built:
        raise UserError("; ".join(notices) or "the project has no program to run")
    place = _copied(project, built, folder) if command else folder
    commands = [list(command)] if command else [[str(binary)] for _, binary in built]
    results: dict[int, NativeRun] = {}
    seen: list[SeenRace] = []
    for round_ in range(settings.runs):
        left = [n for n in range(len(tried)) if n not in results or not results[n].is_confirmed]
        if round_ and not left:
            break
        plan = noise_plan((tried[n] for n in left), table, settings.seed + round_)
        progress(f"run {round_ + 1} of {settings.runs}, {len(left)} of {len(tried)} findings left")
        for number, one in enumerate(commands):
            name = f"run-{round_}-{number}"
            run = execute(one, plan, folder, place, settings.limits, name)
            seen += run.races
            for each in (n for n in left if n not in results or not results[n].is_confirmed):
                results[each] = told_of(results.get(each), run, plan, tried[each])
    native = {id(f): results.get(n) for n, f in enumerate(tried)}
    findings = tuple(
        replace(ours, native=native.get(id(theirs)))
        for ours, theirs in zip(verdict.findings, absolute.findings, strict=True)
    )
    found = replace(verdict, findings=findings, notices=(*verdict.notices, *notices))
    return found, unmatched(seen, tried)


def _build(
    project: Project,
    options: Options,
    accesses: Sequence[Access],
    folder: Path,
    settings: Settings,
    progress: Progress,
) -> tuple[list[tuple[ProjectTarget, Path]], PointTable, list[str]]:
    """The programs that can be built, and their points, numbered through."""
    built: list[tuple[ProjectTarget, Path]] = []
    whole = PointTable({})
    notices: list[str] = []
    for number, target in enumerate(_programs(project)):
        where = folder / f"program-{number}"
        where.mkdir()
        sources = tuple(project.sources[unit] for unit in sorted(target.units))
        progress(f"building {target.name} with ThreadSanitizer")
        try:
            module = read_module(Selection(sources, is_build=True), options)
            builder = Builder(
                module,
                None,
                options,
                where,
                sanitizer_cc=settings.sanitizer_cc,
                link_args=(*target.outside, *settings.link_args),
            )
            table = builder.points(frozenset(), accesses).shifted(len(whole.points))
            built.append((target, builder.build(table.points)))
        except UserError as error:
            notices.append(f"{target.name} was not run: {error}")
            continue
        whole = whole.joined(table)
    return built, whole, notices


def _programs(project: Project) -> list[ProjectTarget]:
    """What the build links to programs; all files as one program if nobody says."""
    found = [target for target in project.targets if target.kind is LinkKind.PROGRAM]
    if found and project.is_linked:
        return found
    return [ProjectTarget("the program", LinkKind.PROGRAM, frozenset(range(len(project.sources))))]


def _copied(project: Project, built: Sequence[tuple[ProjectTarget, Path]], folder: Path) -> Path:
    """A copy of the project, with our programs in the place of the build's."""
    copy = folder / "project"
    left_out = shutil.ignore_patterns(*_LEFT_OUT)
    shutil.copytree(project.root, copy, symlinks=True, ignore=left_out)
    for target, binary in built:
        name = project.name(target.output) if target.output else binary.name
        if os.path.isabs(name):
            continue
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).unlink(missing_ok=True)
        shutil.copy(binary, copy / name)
    return copy
