"""What is known so far: findings, open candidates, proofs; and the verdict they add up to.

An engine that was asked about candidates has refuted those that it neither reports nor leaves
open. When every candidate of an engine that misses no race is refuted, the program is race-free.
But one about memory outside of the program stays, and no other engine is asked: what library
functions do there, only the engine that named it has looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from raceproof.pipeline.causes import by_cause
from raceproof.verdict import (
    NOT_FOLLOWED,
    NOT_SEEN,
    Answer,
    BaseKind,
    Candidate,
    Confidence,
    Finding,
    Location,
    Outcome,
    Protection,
    Thread,
)


def as_candidate(finding: Finding) -> Candidate:
    return Candidate(finding.location, *finding.accesses)


def _statement(candidate: Candidate) -> tuple[int, int]:
    one, other = candidate.first.instruction, candidate.second.instruction
    return min(one, other), max(one, other)


@dataclass(slots=True)
class EvidenceLog:
    """Takes in one answer after the other."""

    findings: dict[Candidate, Finding] = field(default_factory=dict)
    open: dict[Candidate, None] | None = None
    """What is neither confirmed nor refuted; None until some engine has named candidates."""
    is_complete: bool = False
    """Whether the candidates include every race of the program."""
    has_unseen: bool = False
    """Whether code of the program may run that was not looked at: then nothing is proved."""
    proved_by: str = ""
    confirmed_by: str = ""
    protections: tuple[Protection, ...] = ()
    threads: tuple[Thread, ...] = ()
    shared: tuple[Location, ...] = ()
    assumptions: dict[str, None] = field(default_factory=dict)
    lost: tuple[str, ...] | None = None
    """What the analysis of values has lost, once that is known."""

    @property
    def has_confirmed(self) -> bool:
        return any(f.confidence is Confidence.CONFIRMED for f in self.findings.values())

    @property
    def is_contradicted(self) -> bool:
        """A proof and a replayed race: one of our engines is wrong."""
        return bool(self.proved_by) and self.has_confirmed

    def candidates(self) -> tuple[Candidate, ...] | None:
        """What the next engine is asked about; None: the whole program."""
        if self.open is None:
            return None
        return tuple(candidate for candidate in self.open if not _is_outside(candidate))

    def take(self, engine: str, answer: Answer, asked: tuple[Candidate, ...] | None) -> None:
        """Enter the answer of `engine` to the question about `asked`."""
        self.threads = self.threads or answer.threads
        self.shared = self.shared or answer.shared
        self.lost = answer.lost if self.lost is None else self.lost
        self.assumptions.update(dict.fromkeys(answer.assumptions))
        self.has_unseen |= any(a.startswith(NOT_SEEN) for a in answer.assumptions)
        if answer.outcome is Outcome.RACE_FREE:
            self._take_proof(engine, answer, asked)
            return
        self._take_findings(engine, answer.findings)
        if asked is None:
            self._take_candidates(answer)
        else:
            self._take_refutations(engine, answer, asked)

    def _take_proof(self, engine: str, answer: Answer, asked: tuple[Candidate, ...] | None) -> None:
        self.protections = answer.protections or self.protections
        is_disputed = any(self._is_confirmed(candidate) for candidate in asked or ())
        for candidate in asked or ():
            self._refute(candidate)
        if any(map(_is_outside, self.open or ())) and not is_disputed:
            return
        is_whole = asked is None or (self.is_complete and not self.has_confirmed)
        if answer.is_complete and not any(map(_is_blind_spot, answer.assumptions)):
            self.proved_by = self.proved_by or engine
            self._forget_blind_spots()
        elif is_disputed or (is_whole and not self.has_unseen):
            self.proved_by = self.proved_by or engine

    def _forget_blind_spots(self) -> None:
        """What another engine did not look at does not matter to a proof without it."""
        for assumption in [a for a in self.assumptions if _is_blind_spot(a)]:
            del self.assumptions[assumption]

    def _take_findings(self, engine: str, findings: Iterable[Finding]) -> None:
        for finding in findings:
            finding = finding if finding.engine else replace(finding, engine=engine)
            candidate = as_candidate(finding)
            known = self.findings.get(candidate)
            if known is None or known.confidence < finding.confidence:
                self.findings[candidate] = finding
            if finding.confidence is Confidence.CONFIRMED:
                self.confirmed_by = self.confirmed_by or engine
                self._solve(candidate)

    def _solve(self, confirmed: Candidate) -> None:
        """A location with a confirmed race needs no other finding, and no more work."""
        for other in [c for c in self.findings if _is_same_race(c, confirmed)]:
            if self.findings[other].confidence is not Confidence.CONFIRMED:
                del self.findings[other]
        for other in [c for c in self.open or () if _is_same_race(c, confirmed)]:
            self._close(other)

    def _take_candidates(self, answer: Answer) -> None:
        unconfirmed = {
            candidate: None
            for candidate, finding in self.findings.items()
            if finding.confidence < Confidence.CONFIRMED
        }
        settled = {c.location for c in self.findings if c not in unconfirmed}
        rest = {c: None for c in answer.open if c.location not in settled}
        self.protections = answer.protections or self.protections
        if unconfirmed or rest or answer.is_complete:
            self.open = unconfirmed | rest
            self.is_complete = bool(answer.is_complete)

    def _take_refutations(self, engine: str, answer: Answer, asked: tuple[Candidate, ...]) -> None:
        if not answer.open:
            return  # It gave up, or stopped at its first race: silence refutes nothing.
        kept = {_key(c) for c in (*answer.open, *map(as_candidate, answer.findings))}
        for candidate in asked:
            if _key(candidate) not in kept:
                self._refute(candidate)
        if self.is_complete and not (self.open or self.findings or self.has_unseen):
            self.proved_by = self.proved_by or engine

    def _refute(self, candidate: Candidate) -> None:
        self._close(candidate)
        finding = self.findings.get(candidate)
        if finding is not None and finding.confidence < Confidence.CONFIRMED:
            del self.findings[candidate]

    def _is_confirmed(self, candidate: Candidate) -> bool:
        return any(
            finding.confidence is Confidence.CONFIRMED and _key(other) == _key(candidate)
            for other, finding in self.findings.items()
        )

    def _close(self, candidate: Candidate) -> None:
        if self.open is not None:
            self.open.pop(candidate, None)

    def outcome(self) -> Outcome:
        if self.is_contradicted:
            return Outcome.UNKNOWN
        if self.proved_by:
            return Outcome.RACE_FREE
        if any(f.confidence >= Confidence.LIKELY for f in self.findings.values()):
            return Outcome.RACE
        return Outcome.UNKNOWN

    def all_findings(self) -> tuple[Finding, ...]:
        """One finding per cause, the surest first; open candidates count as possible."""
        if self.proved_by and not self.is_contradicted:
            return ()
        best: dict[Location, Finding] = {}
        for finding in self.findings.values():
            known = best.get(finding.location)
            if known is None or known.confidence < finding.confidence:
                best[finding.location] = finding
        for candidate in self.open or ():
            if candidate.location not in best:
                pair = (candidate.first, candidate.second)
                best[candidate.location] = Finding(candidate.location, Confidence.POSSIBLE, pair)
        statements: dict[Location, set[tuple[int, int]]] = {}
        for candidate in self.open or ():
            statements.setdefault(candidate.location, set()).add(_statement(candidate))
        return by_cause(best.values(), {at: frozenset(s) for at, s in statements.items()})


def _is_blind_spot(assumption: str) -> bool:
    return assumption.startswith((NOT_SEEN, NOT_FOLLOWED))


def _is_outside(candidate: Candidate) -> bool:
    return candidate.location.kind is BaseKind.EXTERNAL


def _key(candidate: Candidate) -> tuple[Location, tuple[int, ...]]:
    """What a candidate and its confirmed finding have in common: threads, locks and call stacks of
    the latter are those of the replay."""
    return candidate.location, _statement(candidate)


def _is_same_race(one: Candidate, other: Candidate) -> bool:
    """The same location, or the same two instructions."""
    return one.location == other.location or _statement(one) == _statement(other)
