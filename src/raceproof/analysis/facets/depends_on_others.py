"""Does the way here depend on what other threads wrote or signalled?

    while (!ready) ;   x = 1;          // reached only after another thread has set `ready`

Such an order is not followed, so a pair of accesses that is reached this way may race or not: it is
never called likely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Facet, InAccess, Release
from raceproof.analysis.locks import holding

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess


def independent(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return not (a.facets.depends_on_others or b.facets.depends_on_others or facts.has_handshakes)


class DependsOnOthers(Facet[bool]):
    initial = False
    in_access = InAccess.JOINED
    conditions = (("their ways do not depend on other threads", independent),)

    def join(self, a: bool, b: bool, left: Facets, right: Facets) -> bool:
        return a or b

    def release(self, value: bool, event: Release, before: Facets) -> bool:
        """Locks given back in another order than taken, or in one that is not clear, may hand
        threads on, one after the other."""
        if event.key is None:
            return value
        held = holding(before.must_lockset, event.key)
        if held is None or (held.times > 1 and not event.drops_all):
            return value
        return value or before.acquisition_order[-1:] != (event.key,)

    def wait_for_others(self, value: bool, gives_up_lock: bool, before: Facets) -> bool:
        return True

    def return_again(self, value: bool, children: int, before: Facets) -> bool:
        return True
