"""The whole way: sources, units, programs, one verdict; all of it only as far as needed.

What is remembered, from the dearest to the cheapest: the verdict of all units together, the
summary of each function by what it was made of, the unit of each file by its content.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from raceproof.errors import UserError
from raceproof.frontend.builds.trouble import grouped_troubles, told_of
from raceproof.frontend.toolchain import Toolchain
from raceproof.options import Options
from raceproof.project.records import decode, encode
from raceproof.project.sources import Project
from raceproof.project.stamps import Files, Stamp, is_unchanged, stamp_key
from raceproof.project.store import Store, digest, format_version
from raceproof.verdict import Verdict

if TYPE_CHECKING:
    from raceproof.project.patches import Record

Place: TypeAlias = tuple[str, str]
"""File and function."""
Lines: TypeAlias = tuple[int, int]
"""The first and the last."""
Progress: TypeAlias = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


_FILES = 5
"""Where a record of a unit has the files that were read."""


@dataclass(frozen=True, slots=True)
class ScanReport:
    """The verdict, and how much work it was."""

    verdict: Verdict
    files: tuple[str, ...]
    """The translation units that were analysed."""
    spans: Mapping[Place, Lines]
    """Where the functions begin and end that findings speak of."""
    failed: tuple[str, ...] = ()
    """Those that were not."""
    compiled: int = 0
    composed: int = 0
    is_remembered: bool = False
    """Nothing had changed since an earlier run."""


def scan(
    project: Project,
    options: Options,
    cache: Path | None,
    progress: Progress = lambda what, done, total: None,
) -> ScanReport:
    """Look for races in all programs of the project; `cache` None remembers nothing."""
    if not project.sources:
        missing = f" ({project.missing[0]})" if project.missing else ""
        raise UserError(f"{project.root}: there is no C or C++ file to scan{missing}")
    store = Store(cache)
    try:
        report = _Scan(project, options, store, progress).report()
        store.commit()
    finally:
        store.close()
    notices = (*project.missing, *project.notices, *report.verdict.notices, *store.notices)
    return replace(report, verdict=replace(report.verdict, notices=notices))


class _Scan:
    def __init__(
        self, project: Project, options: Options, store: Store, progress: Progress
    ) -> None:
        self._project = project
        self._options = options
        self._store = store
        self._progress = progress
        self._toolchain = Toolchain(options)
        self._started = time.monotonic()
        self._models = digest([_read(path) for path in options.models])
        self._keys = [
            stamp_key(source, self._toolchain, self._models) for source in project.sources
        ]
        self._stamps: list[Stamp | None] = [None] * len(project.sources)
        self._compiled = 0
        self._ways: tuple[str, ...] = ()
        """How files had to be compiled, if not the usual way."""

    def report(self) -> ScanReport:
        self._look(Files())
        found = self._remembered({})
        if found is not None:
            return found
        troubles: dict[int, str] = {}
        records = self._records(troubles)
        if not any(records):
            told = "; ".join(grouped_troubles([troubles[n] for n in sorted(troubles)])[:3])
            raise UserError(f"nothing could be analysed: {told}")
        self._ways = self._ways_of(records)
        return self._remembered(troubles) or self._analyse(records, troubles)

    def _ways_of(self, records: Sequence[Any]) -> tuple[str, ...]:
        names = self._names()
        found: dict[str, list[str]] = {}
        for name, record in zip(names, records, strict=True):
            if record is not None and record[-1]:
                found.setdefault(record[-1], []).append(name)
        ways = [told_of(files, notice) for notice, files in found.items()]
        return (*self._toolchain.notices(self._project.sources), *ways)

    # --- units ------------------------------------------------------------

    def _look(self, files: Files) -> None:
        """Which units are as they were."""
        for number, key in enumerate(self._keys):
            known = self._store.get("stamps", key)
            if known is None:
                continue
            renewed = is_unchanged(known, files)
            self._stamps[number] = renewed
            if renewed is not None and renewed != known:
                self._store.put("stamps", key, renewed)

    def _records(self, troubles: dict[int, str]) -> list[Any]:
        """What is known of each unit; compiles those that changed."""
        records: list[Any] = [None] * len(self._keys)
        for number, stamp in enumerate(self._stamps):
            if stamp is not None:
                records[number] = self._store.get("units", stamp[0])
        missing = [number for number, record in enumerate(records) if record is None]
        self._compile(missing, records, troubles, {})
        self._compile_again(records, troubles)
        return records

    def _compile_again(self, records: list[Any], troubles: dict[int, str]) -> None:
        """Where a unit calls by its model what another unit has a body for, the body counts."""
        defined = {
            name
            for record in records
            if record is not None
            for name in record[0][1]
            if "@" not in name
        }
        own: dict[int, frozenset[str]] = {}
        for number, record in enumerate(records):
            if record is not None and not defined.isdisjoint(record[1]):
                own[number] = frozenset(defined.intersection(record[1]))
        for number, names in own.items():
            self._keys[number] = digest([self._keys[number], *sorted(names)])
            known = self._store.get("stamps", self._keys[number])
            self._stamps[number] = is_unchanged(known, Files()) if known is not None else None
            stamp = self._stamps[number]
            records[number] = None if stamp is None else self._store.get("units", stamp[0])
        self._compile([n for n in own if records[n] is None], records, troubles, own)

    def _compile(
        self,
        numbers: Sequence[int],
        records: list[Any],
        troubles: dict[int, str],
        own: dict[int, frozenset[str]],
    ) -> None:
        if not numbers:
            return
        from raceproof.concurrency.catalogue import Models
        from raceproof.engines.summary.forks import forked_map
        from raceproof.project.units import ProjectModels, compile_unit

        models = Models.load(self._options.models)
        before = {number: self._before(number) for number in numbers}
        sources = self._project.sources

        def work(number: int) -> tuple[Any, ...]:
            chosen = ProjectModels(models, own[number]) if number in own else models
            key = self._keys[number]
            done = compile_unit(
                sources[number], key, self._project, self._toolchain, chosen, before[number]
            )
            record = None if done.record is None else done.record.to_tuple()
            return (record, done.stamp, done.trouble)

        def arrived(count: int) -> None:
            self._progress("compiling", count, len(numbers))

        arrived(0)
        # The largest first, so that none is left over for the end.
        order = sorted(numbers, key=lambda n: (-_size(sources[n].path), n))
        jobs = self._options.jobs or os.cpu_count() or 1
        if jobs == 1 or len(order) == 1:
            done = []
            for count, number in enumerate(order, 1):
                done.append(work(number))
                arrived(count)
        else:
            done = forked_map(work, order, jobs, arrived)
        for number, (record, stamp, trouble) in zip(order, done, strict=True):
            records[number] = record
            self._stamps[number] = stamp
            self._compiled += 1
            if trouble:
                troubles[number] = trouble
            elif stamp is not None:
                self._store.put("stamps", self._keys[number], stamp)
                self._store.put("units", stamp[0], record)

    def _before(self, number: int) -> Record | None:
        """What came of the unit before it changed."""
        from raceproof.project.patches import Record

        stamp = self._store.get("stamps", self._keys[number])
        record = None if stamp is None else self._store.get("units", stamp[0])
        return None if record is None else Record(*record)

    # --- verdicts ------------------------------------------------------------

    def _result_key(self, troubles: Mapping[int, str]) -> bytes | None:
        """Of all that the verdict depends on; None if a part of it is not known."""
        units: list[str | bytes] = []
        for number, stamp in enumerate(self._stamps):
            if number in troubles:
                units.append("")
            elif stamp is None:
                return None
            else:
                units.append(stamp[0])
        targets = [repr((t.name, sorted(t.units))) for t in self._project.targets]
        parts = [format_version(), self._options.entry or "", str(self._project.root)]
        return digest([*parts, *units, *targets])

    def _remembered(self, troubles: Mapping[int, str]) -> ScanReport | None:
        key = self._result_key(troubles)
        data = self._store.get("results", key) if key is not None else None
        if data is None:
            return None
        try:
            verdict = decode(data[0])
            spans = {(file, function): (first, last) for file, function, first, last in data[1]}
        except (IndexError, KeyError, TypeError, ValueError):
            return None
        return replace(self._report(verdict, spans, troubles), is_remembered=True)

    def _analyse(self, records: Sequence[Any], troubles: dict[int, str]) -> ScanReport:
        from raceproof.project.analysis import analyse

        good = [number for number, record in enumerate(records) if record is not None]
        position = {number: at for at, number in enumerate(good)}
        targets = [
            replace(t, units=frozenset(position[n] for n in t.units if n in position))
            for t in self._project.targets
        ]
        verdict, spans, composed, is_whole = analyse(
            [records[number][0] for number in good],
            [records[number][_FILES] for number in good],
            targets,
            self._project.is_linked,
            self._project.root,
            self._options,
            self._store,
            self._progress,
        )
        verdict = replace(verdict, notices=(*self._ways, *verdict.notices))
        key = self._result_key(troubles)
        if key is not None and is_whole:
            entries = [(*place, *lines) for place, lines in spans.items()]
            self._store.put("results", key, (encode(verdict), entries))
        return replace(self._report(verdict, spans, troubles), composed=composed)

    def _report(
        self, verdict: Verdict, spans: Mapping[Place, Lines], troubles: Mapping[int, str]
    ) -> ScanReport:
        failed = tuple(troubles[number] for number in sorted(troubles))
        seconds = time.monotonic() - self._started
        total = len(self._keys) + len(self._project.missing)
        analysed = len(self._keys) - len(failed)
        notices = [*grouped_troubles(failed), *verdict.notices]
        if failed:
            notices.append(
                f"{len(failed)} of {total} files could not be compiled: "
                "what is said here is about the others"
            )
        return ScanReport(
            replace(verdict, seconds=seconds, notices=tuple(notices), files=(analysed, total)),
            tuple(n for number, n in enumerate(self._names()) if number not in troubles),
            dict(spans),
            failed,
            self._compiled,
        )

    def _names(self) -> tuple[str, ...]:
        return tuple(self._project.name(source.path) for source in self._project.sources)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
