"""What is known so far: findings, open candidates, proofs; and the verdict they add up to.

An engine that was asked about candidates has refuted those that it neither reports nor leaves
open. Two candidates are the same if the same two instructions touch the same location. When every
candidate of an engine that misses no race is refuted, the program is race-free.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from raceproof.verdict import (
    Access,
    Answer,
    Candidate,
    Confidence,
    Finding,
    Location,
    Outcome,
    Protection,
    Thread,
)

PairKey = tuple[str, int, int]
"""The base, and the two instructions in order."""


def pair_key(location: Location, first: Access, second: Access) -> PairKey:
    low, high = sorted((first.instruction, second.instruction))
    return (location.base, low, high)


def _candidate_key(candidate: Candidate) -> PairKey:
    return pair_key(candidate.location, candidate.first, candidate.second)


def _finding_key(finding: Finding) -> PairKey:
    return pair_key(finding.location, *finding.accesses)


def _instructions(key: PairKey) -> tuple[int, int]:
    return key[1:]


@dataclass(slots=True)
class Ledger:
    """Takes in one answer after the other."""

    findings: dict[PairKey, Finding] = field(default_factory=dict)
    open: dict[PairKey, Candidate] | None = None
    """None until some engine has named candidates."""
    covers: bool = False
    """Whether the candidates include every race of the program."""
    proved_by: str = ""
    confirmed_by: str = ""
    protections: tuple[Protection, ...] = ()
    threads: tuple[Thread, ...] = ()
    shared: tuple[Location, ...] = ()
    assumptions: dict[str, None] = field(default_factory=dict)

    @property
    def has_confirmed(self) -> bool:
        return any(f.confidence is Confidence.CONFIRMED for f in self.findings.values())

    @property
    def is_contradicted(self) -> bool:
        """A proof and a replayed race: one of our engines is wrong."""
        return bool(self.proved_by) and self.has_confirmed

    def candidates(self) -> tuple[Candidate, ...] | None:
        """What the next engine is asked about: all that is open or not yet confirmed."""
        if self.open is None:
            return None
        return tuple(self.open.values())

    def take(
        self, engine: str, answer: Answer, asked: tuple[Candidate, ...] | None, *, is_sound: bool
    ) -> None:
        """Enter the answer of `engine` to the question about `asked`.

        `is_sound`: what the engine does not name as finding or candidate cannot race.
        """
        self.threads = self.threads or answer.threads
        self.shared = self.shared or answer.shared
        self.assumptions.update(dict.fromkeys(answer.assumptions))
        if answer.outcome is Outcome.RACE_FREE:
            self._take_proof(engine, answer, asked)
            return
        self._take_findings(engine, answer.findings)
        if asked is None:
            self._take_candidates(answer, is_sound)
        else:
            self._take_refutations(engine, answer, asked)

    def _take_proof(self, engine: str, answer: Answer, asked: tuple[Candidate, ...] | None) -> None:
        self.protections = answer.protections or self.protections
        if asked is None or self.covers:
            self.proved_by = self.proved_by or engine
        for candidate in asked or ():
            self._refute(_candidate_key(candidate))

    def _take_findings(self, engine: str, findings: Iterable[Finding]) -> None:
        for finding in findings:
            finding = finding if finding.engine else replace(finding, engine=engine)
            key = _finding_key(finding)
            known = self.findings.get(key)
            if known is None or known.confidence < finding.confidence:
                self.findings[key] = finding
            if finding.confidence is Confidence.CONFIRMED:
                self.confirmed_by = self.confirmed_by or engine
                self._settle(key, finding.location)

    def _settle(self, key: PairKey, location: Location) -> None:
        """A location with a confirmed race needs no other finding, and no more work."""
        done = [
            other
            for other, finding in self.findings.items()
            if finding.confidence is not Confidence.CONFIRMED
            and (_instructions(other) == _instructions(key) or finding.location == location)
        ]
        for other in done:
            del self.findings[other]
        if self.open is not None:
            for other, candidate in list(self.open.items()):
                if _instructions(other) == _instructions(key) or candidate.location == location:
                    del self.open[other]

    def _take_candidates(self, answer: Answer, is_sound: bool) -> None:
        if not is_sound and not answer.open and not answer.findings:
            return
        unconfirmed = [f for f in self.findings.values() if f.confidence < Confidence.CONFIRMED]
        settled = {f.location for f in self.findings.values()} - {f.location for f in unconfirmed}
        found = [Candidate(finding.location, *finding.accesses) for finding in unconfirmed]
        everything = [*found, *(c for c in answer.open if c.location not in settled)]
        self.open = {_candidate_key(candidate): candidate for candidate in everything}
        self.covers = is_sound
        self.protections = answer.protections or self.protections

    def _take_refutations(self, engine: str, answer: Answer, asked: tuple[Candidate, ...]) -> None:
        if not answer.open:
            return  # It gave up, or stopped at its first race: silence refutes nothing.
        still_open = {_candidate_key(candidate) for candidate in answer.open}
        reported = {_finding_key(finding) for finding in answer.findings}
        for candidate in asked:
            key = _candidate_key(candidate)
            if key not in still_open and key not in reported:
                self._refute(key)
        if self.open is not None and not self.open and self.covers and not self.findings:
            self.proved_by = self.proved_by or engine

    def _refute(self, key: PairKey) -> None:
        if self.open is not None:
            self.open.pop(key, None)
        finding = self.findings.get(key)
        if finding is not None and finding.confidence < Confidence.CONFIRMED:
            del self.findings[key]

    def outcome(self) -> Outcome:
        if self.is_contradicted:
            return Outcome.UNKNOWN
        if self.proved_by:
            return Outcome.RACE_FREE
        if any(f.confidence >= Confidence.LIKELY for f in self.findings.values()):
            return Outcome.RACE
        return Outcome.UNKNOWN

    def all_findings(self) -> tuple[Finding, ...]:
        """One finding per location, the surest first; open candidates count as possible."""
        if self.proved_by and not self.is_contradicted:
            return ()
        best: dict[Location, Finding] = {}
        for finding in self.findings.values():
            known = best.get(finding.location)
            if known is None or known.confidence < finding.confidence:
                best[finding.location] = finding
        for candidate in (self.open or {}).values():
            if candidate.location not in best:
                pair = (candidate.first, candidate.second)
                best[candidate.location] = Finding(candidate.location, Confidence.POSSIBLE, pair)
        return tuple(sorted(best.values(), key=_rank))


def _rank(finding: Finding) -> tuple[int, str, int, int]:
    """Surest first, then in the order of the source."""
    first, second = finding.accesses
    place = first.position or second.position
    file, line = (place.file, place.line) if place else ("", 0)
    return (-finding.confidence, file, line, first.instruction)
