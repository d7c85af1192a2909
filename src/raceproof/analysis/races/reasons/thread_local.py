"""An object that only its own thread can reach.

Each instance of a thread has its own stack and allocates its own objects; unless an address gets
out, another instance cannot touch them although they have the same name here.
"""

from raceproof.analysis.facets.facet import Reason
from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    owner = facts.objects.owner.get(a.base)
    return owner is not None and a.base not in facts.escaped


REASON = Reason(
    "thread-local",
    excludes,
    of_pair="each thread has its own",
    of_location="each thread has its own",
)
