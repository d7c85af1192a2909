"""What a change touches: Git tells the changed lines, a finding tells its functions."""

from __future__ import annotations

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from raceproof.errors import UserError
from raceproof.project.places import places_of
from raceproof.project.sources import Project
from raceproof.verdict import Confidence, Finding, Outcome, Verdict

Ranges: TypeAlias = dict[str, list[tuple[int, int]]]
"""File -> first and last of changed lines, as the file is now."""

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_WHOLE = (1, 1 << 60)


def changed_lines(project: Project, revision: str) -> Ranges:
    """All lines that differ from the revision, in files under version control and new ones."""
    root = project.root
    if revision.startswith("-"):
        raise UserError(f"--changed-since {revision}: not the name of a revision")
    top = Path(_git(root, "rev-parse", "--show-toplevel", because="is not in a Git repository"))
    _git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}",
         because=f"Git knows no revision {revision!r}")  # fmt: skip
    text = _git(root, "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-prefix",
                revision, "--", because=f"git diff {revision} fails")  # fmt: skip
    found: Ranges = defaultdict(list)
    file = ""
    for line in text.splitlines():
        if line.startswith("+++ "):
            file = project.name(os.path.join(top, _unquoted(line[4:])))
        elif hunk := _HUNK.match(line):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            # Lines that are gone stood between `start` and the next one.
            found[file].append((start, start + max(count - 1, 0) + (count == 0)))
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z", "--full-name",
               because="git ls-files fails")  # fmt: skip
    for name in new.split("\0"):
        if name:
            found[project.name(os.path.join(top, name))].append(_WHOLE)
    return dict(found)


def touched(
    verdict: Verdict, changed: Ranges, spans: Mapping[tuple[str, str], tuple[int, int]]
) -> Verdict:
    """The verdict with those findings only that speak of a changed function."""
    kept = tuple(f for f in verdict.findings if _is_touched(f, changed, spans))
    outcome = verdict.outcome
    if outcome is Outcome.RACE and not any(f.confidence >= Confidence.LIKELY for f in kept):
        outcome = Outcome.UNKNOWN
    return replace(verdict, outcome=outcome, findings=kept)


def _is_touched(
    finding: Finding, changed: Ranges, spans: Mapping[tuple[str, str], tuple[int, int]]
) -> bool:
    places = set(places_of(finding))
    entries = {access.thread.entry for access in finding.accesses}
    for (file, function), span in spans.items():
        if (file, function) in places or function in entries:
            if _overlaps(changed.get(file, ()), span):
                return True
    return any(
        access.position is not None
        and _overlaps(
            changed.get(access.position.file, ()), (access.position.line, access.position.line)
        )
        for access in finding.accesses
    )


def _overlaps(ranges: Sequence[tuple[int, int]], span: tuple[int, int]) -> bool:
    return any(first <= span[1] and span[0] <= last for first, last in ranges)


def _unquoted(name: str) -> str:
    """Git puts names with odd characters into quotes, and a tab behind names with blanks."""
    name = name.rstrip("\t")
    if not name.startswith('"'):
        return name
    raw = name[1:-1].encode("utf-8").decode("unicode_escape").encode("latin-1")
    return raw.decode("utf-8", "surrogateescape")


def _git(root: Path, *arguments: str, because: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, check=False
        )
    except OSError as error:
        raise UserError("--changed-since needs git, which cannot be started") from error
    if done.returncode:
        raise UserError(f"--changed-since: {root}: {because}")
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")
