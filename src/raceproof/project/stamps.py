"""Whether a translation unit is as it was when it was last compiled.

The compiler tells which files it read (`-MD`). Two looks, the cheaper first: if the time and size
of each of them are unchanged, so is the unit; if not, its content is hashed, so that a file that
was only touched or checked out again is not compiled again. The unit's key is made of the flags
and of the content of all files that were read: all that its preprocessed text depends on.

A file that was changed less than a moment before it was read may change again within the same tick
of the clock: its time is not believed, its content is hashed next time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from raceproof.frontend.source import Source
from raceproof.frontend.toolchain import Toolchain
from raceproof.project.store import digest, format_version

Dependency: TypeAlias = tuple[str, int, int, bytes]
"""Path, time of change in nanoseconds (-1: not believed), size, digest of the content."""
Stamp: TypeAlias = tuple[bytes, tuple[Dependency, ...]]
"""The unit's key, and the files it is made of."""

_TICK = 50_000_000
"""Nanoseconds within which a change may go unnoticed by its time."""
_GONE = (0, -1)


class Files:
    """Looks at each file once."""

    def __init__(self) -> None:
        self._states: dict[str, tuple[int, int]] = {}
        self._contents: dict[str, bytes] = {}

    def state(self, path: str) -> tuple[int, int]:
        """Time and size."""
        found = self._states.get(path)
        if found is None:
            try:
                status = os.stat(path)
                found = (status.st_mtime_ns, status.st_size)
            except OSError:
                found = _GONE
            self._states[path] = found
        return found

    def content(self, path: str) -> bytes:
        """Digest of the content; empty if it cannot be read."""
        found = self._contents.get(path)
        if found is None:
            try:
                found = hashlib.blake2b(Path(path).read_bytes(), digest_size=16).digest()
            except OSError:
                found = b""
            self._contents[path] = found
        return found


def stamp_key(source: Source, toolchain: Toolchain, models: bytes) -> bytes:
    """Under which the last state of a unit is remembered: the file and how it is compiled."""
    return digest(
        [
            format_version(),
            *toolchain.command,
            *toolchain.flags_for(source),
            source.language,
            str(source.folder),
            str(source.path),
            models,
        ]
    )


def is_unchanged(stamp: Stamp, files: Files) -> Stamp | None:
    """The stamp with the times of now, if all files have their content still."""
    renewed = []
    for path, time, size, content in stamp[1]:
        now = files.state(path)
        if now != (time, size):
            if now[1] != size or files.content(path) != content:
                return None
        renewed.append((path, now[0], size, content))
    return (stamp[0], tuple(renewed))


def make_stamp(key: bytes, paths: Iterable[str], started: int) -> Stamp:
    """The stamp of a unit that was compiled from these files; `started` when, in nanoseconds."""
    files = Files()
    dependencies: list[Dependency] = []
    for path in sorted(set(paths)):
        time, size = files.state(path)
        dependencies.append((path, time if time < started - _TICK else -1, size, b""))
    dependencies = [(p, t, s, files.content(p)) for p, t, s, _ in dependencies]
    unit = digest([key, *(part for p, _, _, content in dependencies for part in (p, content))])
    return (unit, tuple(dependencies))


def was_changed_since(paths: Iterable[str], started: int) -> bool:
    """Whether a file was written while it was compiled: what was read is not known then."""
    return any(Files().state(path)[0] >= started for path in paths)


def read_dependencies(text: str, folder: Path, left_out: Sequence[Path]) -> list[str]:
    """The files in a rule of `make`, but those below `left_out`."""
    _, _, listed = text.replace("\\\n", " ").partition(": ")
    names = [name.replace("\0", " ") for name in listed.replace("\\ ", "\0").split()]
    paths = [os.path.normpath(folder / name.replace("$$", "$")) for name in names]
    skipped = tuple(str(path) + os.sep for path in left_out)
    return [path for path in paths if not skipped or not path.startswith(skipped)]
