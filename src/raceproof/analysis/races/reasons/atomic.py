"""Two atomic accesses never race: C11 atomics, builtins, accesses inside atomic sections."""

from raceproof.analysis.facets.facet import Reason
from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return a.is_atomic and b.is_atomic


REASON = Reason("atomic", excludes, of_pair="both are atomic", of_location="every access is atomic")
