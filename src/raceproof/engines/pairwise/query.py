"""Can two accesses of different threads meet? One question to the solver for each two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from raceproof.engines.pairwise.execution_log import Creation, Recorded
from raceproof.engines.pairwise.shared import World
from raceproof.engines.pairwise.state import LockName, Passed, SharedCell
from raceproof.engines.pairwise.threads import Template
from raceproof.engines.pairwise.values import PairValue, Renaming, same_object
from raceproof.smt.terms import Term


@dataclass(frozen=True, slots=True)
class Side:
    """An access of one instance."""

    template: Template
    access: Recorded
    renaming: Renaming

    def term(self, term: Term) -> Term:
        return self.renaming.term(term)


@dataclass(frozen=True, slots=True)
class _Lock:
    """A lock of one side: when it is held, when for writing, when it was just found free."""

    name: LockName | None
    address: PairValue | None
    held: Term
    writes: Term
    free: Term


class Query:
    """The conditions under which two accesses are a race."""

    def __init__(self, world: World, templates: tuple[Template, ...]) -> None:
        self.world = world
        self.templates = templates
        self.terms = world.terms
        self.main = templates[0].log
        self._renamings: dict[tuple[object, ...], Renaming] = {}

    def conditions(
        self, first: Template, a: Recorded, second: Template, b: Recorded
    ) -> Iterable[Term]:
        terms = self.terms
        one, two = self._sides(first, a, second, b)
        yield from self._both_happen(one, two)
        yield from self._instances(one, two)
        yield from self._origins(one, two, "@3")
        yield from self._origins(two, one, "@4")
        yield self._overlap(one, two)
        yield terms.not_(self._common_lock(one, two))
        yield from self._order(one, two)

    def _sides(
        self, first: Template, a: Recorded, second: Template, b: Recorded
    ) -> tuple[Side, Side]:
        return (
            Side(first, a, self._renaming(first, "@1")),
            Side(second, b, self._renaming(second, "@2")),
        )

    def _both_happen(self, one: Side, two: Side) -> Iterable[Term]:
        """Both are executed, by two threads."""
        for side in (one, two):
            yield side.term(side.access.guard)
            yield side.term(side.access.facts)
        same = self.terms.eq(one.term(one.template.identity), two.term(two.template.identity))
        yield self.terms.not_(same)

    def equal_tickets(
        self, first: Template, a: Recorded, second: Template, b: Recorded
    ) -> Iterable[Term]:
        """When two threads find, at any times, that it is their turn by equal tickets."""
        terms = self.terms
        one, two = self._sides(first, a, second, b)
        yield from self._both_happen(one, two)
        if first is second:
            yield from self._siblings(one, two)
        yield terms.eq(one.term(a.address.bits), two.term(b.address.bits))
        yield from self._sections_apart(one, two)

    def _renaming(self, template: Template, suffix: str) -> Renaming:
        key = (template.key, suffix)
        if key not in self._renamings:
            if template.is_main:
                self._renamings[key] = Renaming(self.terms, suffix, lambda _: False)
            else:
                self._renamings[key] = template.renaming(self.main, suffix)
        return self._renamings[key]

    # --- which instances ------------------------------------------------------------

    def _instances(self, one: Side, two: Side) -> Iterable[Term]:
        """What is known of two threads because they were created one after the other."""
        if one.template.is_main:
            yield from self._beside_creator(one, two)
        elif two.template.is_main:
            yield from self._beside_creator(two, one)
        elif one.template is two.template:
            yield from self._siblings(one, two)
            for variable in one.template.log.heap:
                yield self.terms.not_(self.terms.eq(one.term(variable), two.term(variable)))

    def _siblings(self, one: Side, two: Side) -> Iterable[Term]:
        """Two instances of one creation were created in different rounds of its loop."""
        terms, site = self.terms, one.template.site
        for index, creation in enumerate(one.template.creations):
            assert site is not None
            here = terms.const(index, 8)
            same = terms.and_(terms.eq(one.term(site), here), terms.eq(two.term(site), here))
            if not creation.nest:
                yield terms.not_(same)
            elif len(creation.nest) == 1:
                apart = terms.or_(
                    self._goes_on(creation, one, two), self._goes_on(creation, two, one)
                )
                yield terms.implies(same, apart)
                for variable in self._made_in(creation):
                    differs = terms.not_(terms.eq(one.term(variable), two.term(variable)))
                    yield terms.implies(same, differs)

    def _beside_creator(self, creator: Side, child: Side) -> Iterable[Term]:
        """The child was created by the other side."""
        yield from self._counted(creator, child)
        yield from self._mustered(creator, child)
        yield from self._created_before(creator, child)

    def _counted(self, creator: Side, child: Side) -> Iterable[Term]:
        """No thread is left to be done, if the creator has found that."""
        terms = self.terms
        for account, (balance, _) in child.access.counts.items():
            is_done = terms.eq(creator.term(creator.access.counts[account][1]), terms.const(1, 8))
            known = [is_done, self.world.is_counter(account)]
            if account.array is not None:
                known.append(self.world.is_array(account.array))
            none = terms.eq(child.term(balance), terms.const(0, balance.width))
            yield terms.implies(terms.all(known), none)

    def _mustered(self, creator: Side, child: Side) -> Iterable[Term]:
        """All have begun, or ended their work, if the creator has found that."""
        terms = self.terms
        for cell, counter in self.world.counters.items():
            if child.template.key[0] not in counter.calls:
                continue
            mine, theirs = child.access.attendances[cell], creator.access.attendances[cell]
            is_right = self.world.is_work_counter(cell)
            has_begun = child.term(mine.has_begun)
            begun = terms.and_(is_right, creator.term(theirs.all_begun))
            yield terms.implies(begun, has_begun)
            is_none = terms.eq(child.term(mine.part), terms.const(0, mine.part.width))
            ended = terms.and_(is_right, creator.term(theirs.all_ended))
            yield terms.implies(ended, terms.and_(has_begun, is_none))

    def _created_before(self, creator: Side, child: Side) -> Iterable[Term]:
        """In an earlier round, or earlier in this one."""
        terms, site = self.terms, child.template.site
        for index, creation in enumerate(child.template.creations):
            assert site is not None
            if len(creation.nest) != 1:
                continue
            here = terms.eq(child.term(site), terms.const(index, 8))
            is_inside = creator.access.nest[:1] == creation.nest
            earlier = self._goes_on(creation, child, creator)
            if is_inside and creator.access.order <= creation.order:
                yield terms.implies(here, earlier)
                for variable in self._made_in(creation):
                    differs = terms.not_(terms.eq(child.term(variable), creator.term(variable)))
                    yield terms.implies(here, differs)
            elif creator.access.order > creation.order:
                same = terms.all(
                    terms.eq(child.term(v), creator.term(v)) for v in self._growing(creation)
                )
                yield terms.implies(here, terms.or_(earlier, same))

    def _growing(self, creation: Creation) -> list[Term]:
        return [v for v in self.main.growing if self.main.nests[v] == creation.nest]

    def _made_in(self, creation: Creation) -> list[Term]:
        return [v for v in self.main.heap if self.main.nests[v][:1] == creation.nest]

    def _goes_on(self, creation: Creation, before: Side, after: Side) -> Term:
        """How the loop's variables differ from one round to a later one."""
        terms = self.terms
        return terms.all(
            terms.implies(candidate, terms.compare(name, before.term(v), after.term(v)))
            for v in self._growing(creation)
            for candidate, name in self.main.growing[v]
        )

    def _origins(self, finder: Side, other: Side, suffix: str) -> Iterable[Term]:
        """Some thread has set the elements that are not 0."""
        terms = self.terms
        for found in finder.access.found:
            array = found.array
            ways = []
            for template in self.templates:
                for setting in template.log.settings.get(array, ()):
                    setter = Side(template, setting, self._renaming(template, suffix))
                    (place,) = setting.address.places
                    way = [
                        setter.term(setting.guard),
                        setter.term(setting.facts),
                        array.fit(terms, setter.term(place.offset), finder.term(found.lock)),
                    ]
                    if other.template.is_main:
                        way.extend(self._created_before(other, setter))
                    ways.append(terms.all(way))
            known = terms.and_(self.world.is_array(array), finder.term(found.condition))
            yield terms.implies(known, terms.any(ways))

    # --- which bytes ------------------------------------------------------------

    def _overlap(self, one: Side, two: Side) -> Term:
        terms = self.terms
        a = one.renaming.value(one.access.address)
        b = two.renaming.value(two.access.address)
        size, other = one.access.size, two.access.size
        ways = [terms.not_(terms.any(p.condition for p in v.places)) for v in (a, b)]
        for p in a.places:
            for q in b.places:
                same = same_object(terms, p.object, q.object)
                if same is terms.false:
                    continue
                meet = [p.condition, q.condition, same]
                if size is not None and other is not None:
                    width = p.offset.width
                    end = terms.binary("add", p.offset, terms.const(size, width))
                    last = terms.binary("add", q.offset, terms.const(other, width))
                    meet.append(terms.compare("slt", q.offset, end))
                    meet.append(terms.compare("slt", p.offset, last))
                ways.append(terms.all(meet))
        return terms.any(ways)

    # --- which locks ------------------------------------------------------------

    def _locks(self, side: Side) -> list[_Lock]:
        terms, found = self.terms, list[_Lock]()
        for name in dict.fromkeys([*side.access.sections, *side.access.found_free]):
            section = side.access.sections.get(name)
            address = None
            if name.kind == "lock":
                address = self.main.global_address(name.name, name.offset)
            held = terms.false if section is None else section.holds
            writes = terms.true if section is None else section.is_write
            free = side.access.found_free.get(name, terms.false)
            found.append(_Lock(name, address, *map(side.term, (held, writes, free))))
        for lock in side.access.addressed:
            address = side.renaming.value(lock.address)
            writes = terms.truth(lock.is_write)
            found.append(_Lock(None, address, side.term(lock.holds), writes, terms.false))
        return found

    def _common_lock(self, one: Side, two: Side) -> Term:
        terms = self.terms
        ways = []
        others = self._locks(two)
        for a in self._locks(one):
            for b in others:
                if a.name is not None and b.name is not None:
                    same = terms.truth(a.name == b.name)
                elif a.address is None or b.address is None:
                    continue
                else:
                    same = terms.eq(a.address.bits, b.address.bits)
                both = terms.all([a.held, b.held, terms.or_(a.writes, b.writes)])
                free = terms.or_(terms.and_(a.held, b.free), terms.and_(a.free, b.held))
                ways.append(terms.and_(same, terms.or_(both, free)))
        return terms.any(ways)

    # --- what came first ------------------------------------------------------------

    def _order(self, one: Side, two: Side) -> Iterable[Term]:
        yield from self._sections_apart(one, two)
        yield from self._before_now(one, two)
        yield from self._before_now(two, one)

    def _sections_apart(self, one: Side, two: Side) -> Iterable[Term]:
        """Sections of one lock come one after the other: what the first left, the other found."""
        terms = self.terms
        for s in one.access.passed:
            for t in two.access.passed:
                if s.lock == t.lock:
                    both = terms.all(
                        [
                            one.term(s.condition),
                            two.term(t.condition),
                            terms.or_(one.term(s.is_write), two.term(t.is_write)),
                        ]
                    )
                    found = {cell: two.term(entry) for cell, entry, _ in t.values}
                    forth = self._later(one, s, two.term(t.since), found)
                    found = {cell: one.term(entry) for cell, entry, _ in s.values}
                    back = self._later(two, t, one.term(s.since), found)
                    yield terms.implies(both, terms.or_(forth, back))

    def _later(
        self, side: Side, passed: Passed, since: Term, found: dict[SharedCell, Term]
    ) -> Term:
        """A section was entered when one that was passed had been left."""
        terms, world = self.terms, self.world
        facts = [terms.compare("ult", side.term(passed.until), since)]
        for cell, _, left in passed.values:
            if cell in found:
                changed = world.changed(passed.lock, cell, side.term(left), found[cell])
                facts.append(terms.implies(world.is_guarded(cell, passed.lock), changed))
        return terms.all(facts)

    def _before_now(self, inside: Side, other: Side) -> Iterable[Term]:
        """Whoever is in a section now came after all sections that were left."""
        terms = self.terms
        for t in other.access.passed:
            section = inside.access.sections.get(t.lock)
            if section is None:
                continue
            both = terms.all(
                [
                    inside.term(section.holds),
                    other.term(t.condition),
                    terms.or_(inside.term(section.is_write), other.term(t.is_write)),
                ]
            )
            found = {cell: inside.term(entry) for cell, entry in section.entry.items()}
            later = self._later(other, t, inside.term(section.since), found)
            yield terms.implies(both, later)
