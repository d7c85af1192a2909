"""Two atomic accesses never race: C11 atomics, builtins, accesses inside atomic sections."""

from raceproof.analysis.records import RawAccess
from raceproof.engines.modular.facts import Facts


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return a.is_atomic and b.is_atomic
