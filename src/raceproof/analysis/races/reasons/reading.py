"""Two reads never race."""

from raceproof.analysis.facets.facet import Reason
from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return not (a.is_write or b.is_write)


REASON = Reason(
    "read-only",
    excludes,
    of_pair="both only read",
    of_location="only read while several threads run",
)
