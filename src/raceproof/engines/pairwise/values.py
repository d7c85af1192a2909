"""Symbolic values: bits, and for addresses the objects they may point into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from raceproof.smt.terms import Term, Terms, subterms


@dataclass(frozen=True, slots=True)
class Object:
    """A memory object. Objects with different keys share no byte; of those with one key (slots and
    heap objects of different threads, or of different rounds of a loop) equal `identity` says which
    are the same."""

    key: tuple[object, ...]
    identity: Term | None = None


@dataclass(frozen=True, slots=True)
class PairPlace:
    """If `condition`, the address is `offset` bytes (a wide signed term) into the object."""

    condition: Term
    object: Object
    offset: Term


@dataclass(frozen=True, slots=True)
class PairValue:
    """A scalar. If no condition of its places holds, it may point anywhere."""

    bits: Term
    places: tuple[PairPlace, ...] = ()


def chosen(terms: Terms, condition: Term, a: PairValue, b: PairValue) -> PairValue:
    """`a` if the condition holds, else `b`."""
    if a is b or condition is terms.true:
        return a
    if condition is terms.false:
        return b
    bits = terms.ite(condition, a.bits, b.bits)
    if not a.places and not b.places:
        return PairValue(bits)
    if a.places == b.places:
        return PairValue(bits, a.places)
    other = terms.not_(condition)
    places = [PairPlace(terms.and_(condition, p.condition), p.object, p.offset) for p in a.places]
    places += [PairPlace(terms.and_(other, p.condition), p.object, p.offset) for p in b.places]
    return PairValue(bits, tuple(p for p in places if p.condition is not terms.false))


def same_object(terms: Terms, a: Object, b: Object) -> Term:
    if a.key != b.key:
        return terms.false
    if a.identity is None or b.identity is None:
        return terms.true
    return terms.eq(a.identity, b.identity)


def conjuncts(term: Term) -> Iterator[Term]:
    """The parts of a conjunction, however deep it is."""
    stack = [term]
    while stack:
        part = stack.pop()
        if part.operation == "and":
            stack.extend(part.arguments)
        else:
            yield part


class Renaming:
    """Copies terms, with other variables for some of theirs: the same program point at another
    time, or in another thread."""

    def __init__(self, terms: Terms, suffix: str, is_copied: Callable[[Term], bool]) -> None:
        self._terms = terms
        self._suffix = suffix
        self._is_copied = is_copied
        self._done: dict[int, Term] = {}

    def term(self, root: Term) -> Term:
        seen = set(self._done)
        for term in subterms([root], seen):
            self._done[term.number] = self._copy(term)
        return self._done[root.number]

    def _copy(self, term: Term) -> Term:
        if term.operation == "const":
            return term
        if term.operation == "var":
            if not self._is_copied(term):
                return term
            return self._terms.var(f"{term.value}{self._suffix}", term.width)
        old = term.arguments
        new = tuple(self._done[argument.number] for argument in old)
        if all(a is b for a, b in zip(old, new, strict=True)):
            return term
        return rebuilt(self._terms, term, new)

    def value(self, value: PairValue) -> PairValue:
        return PairValue(
            self.term(value.bits),
            tuple(
                PairPlace(self.term(p.condition), self.object(p.object), self.term(p.offset))
                for p in value.places
            ),
        )

    def object(self, target: Object) -> Object:
        if target.identity is None:
            return target
        return Object(target.key, self.term(target.identity))


def rebuilt(terms: Terms, term: Term, arguments: tuple[Term, ...]) -> Term:
    """The same operation on other arguments."""
    match term.operation:
        case "not":
            return terms.not_(*arguments)
        case "and":
            return terms.and_(*arguments)
        case "or":
            return terms.or_(*arguments)
        case "ite":
            return terms.ite(*arguments)
        case "eq":
            return terms.eq(*arguments)
        case "ult" | "slt":
            return terms.compare(term.operation, *arguments)
        case "concat":
            return terms.concat(*arguments)
        case "zext":
            return terms.zext(arguments[0], term.width)
        case "sext":
            return terms.sext(arguments[0], term.width)
        case "extract":
            assert isinstance(term.value, tuple)
            return terms.extract(arguments[0], *term.value)
    return terms.binary(term.operation, *arguments)
