"""Two reads never race."""

from raceproof.analysis.records import RawAccess
from raceproof.engines.modular.facts import Facts


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return not (a.is_write or b.is_write)
