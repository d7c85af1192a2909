"""Objects that only this thread knows, by the registers that hold their address.

    struct node *n = malloc(sizeof *n);  n->next = 0;     // no other thread can see n yet
    lock(&m);  head = n;  unlock(&m);                      // published: now others can

An access of a fresh object is not recorded at all. The address stored anywhere but in a slot of the
thread publishes the object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Facet
from raceproof.analysis.names import Token

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets

Objects = frozenset[tuple[Token, int]]
"""A register, and the base of the object whose address it holds."""


class FreshObjects(Facet[Objects]):
    initial = frozenset()

    def join(self, a: Objects, b: Objects, left: Facets, right: Facets) -> Objects:
        return a & b

    def assign(self, value: Objects, token: Token, before: Facets) -> Objects:
        return frozenset(f for f in value if f[0] != token) if value else value

    def leave(self, value: Objects, context: int, before: Facets) -> Objects:
        return frozenset(f for f in value if f[0].context != context) if value else value

    def recur(self, value: Objects, is_entry: bool, before: Facets) -> Objects:
        return frozenset()

    def return_again(self, value: Objects, children: int, before: Facets) -> Objects:
        return frozenset()
