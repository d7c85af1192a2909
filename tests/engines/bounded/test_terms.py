"""The simplifier against Python's integers: a term is worth what it was made of."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from raceproof.smt.arithmetic import COMPARE, FOLD, signed
from raceproof.smt.evaluate import evaluate
from raceproof.smt.terms import Term, Terms

WIDTHS = (2, 3, 8, 16)
Built = tuple[Term, int]
"""A term and the number it must have."""


@st.composite
def built(draw: st.DrawFn, terms: Terms, values: dict[str, int], width: int, depth: int) -> Built:
    """A random term of some width, made by the operations that simplify."""
    mask = (1 << width) - 1
    kind = draw(st.sampled_from(("const", "var") if depth == 0 else _KINDS))

    def below(width: int) -> Built:
        return draw(built(terms, values, width, depth - 1))

    if kind == "const":
        value = draw(st.integers(0, mask))
        return terms.const(value, width), value
    if kind == "var":
        name = f"{draw(st.sampled_from('abc'))}{width}"
        value = values.setdefault(name, draw(st.integers(0, mask)))
        return terms.var(name, width), value
    if kind == "ite":
        (c, cv), (a, av), (b, bv) = below(1), below(width), below(width)
        return terms.ite(c, a, b), av if cv else bv
    if width == 1:
        return _boolean(draw, terms, below)
    if kind == "resize":
        source = draw(st.sampled_from(WIDTHS))
        is_signed = draw(st.booleans())
        a, av = below(source)
        wide = signed(av, source) if is_signed and source < width else av
        return terms.resize(a, width, is_signed=is_signed), wide & mask
    if kind == "concat" and width > 3:
        low = draw(st.integers(2, width - 2))
        (a, av), (b, bv) = below(width - low), below(low)
        return terms.concat(a, b), av << low | bv
    if kind == "extract":
        shift = draw(st.integers(0, 5))
        a, av = below(width + shift)
        return terms.extract(a, width + shift - 1, shift), av >> shift
    operation = draw(st.sampled_from(sorted(FOLD)))
    (a, av), (b, bv) = below(width), below(width)
    return terms.binary(operation, a, b), FOLD[operation](av, bv, width) & mask


def _boolean(draw: st.DrawFn, terms: Terms, make: Callable[[int], Built]) -> Built:
    kind = draw(st.sampled_from(("not", "and", "or", "eq", "compare", "compare")))
    if kind == "not":
        a, av = make(1)
        return terms.not_(a), 1 - av
    if kind in ("and", "or"):
        (a, av), (b, bv) = make(1), make(1)
        return (terms.and_(a, b), av & bv) if kind == "and" else (terms.or_(a, b), av | bv)
    width = draw(st.sampled_from((1, *WIDTHS)))
    (a, av), (b, bv) = make(width), make(width)
    if kind == "eq":
        return terms.eq(a, b), int(av == bv)
    predicate = draw(st.sampled_from(sorted(COMPARE)))
    return terms.compare(predicate, a, b), int(COMPARE[predicate](av, bv, width))


_KINDS = ("const", "var", "ite", "resize", "concat", "extract", "binary", "binary", "binary")


@given(st.data(), st.sampled_from((1, *WIDTHS)))
def test_terms_keep_their_value(data: st.DataObject, width: int) -> None:
    terms = Terms()
    values: dict[str, int] = {}
    term, expected = data.draw(built(terms, values, width, 4))
    assert term.width == width
    assert evaluate(term, {}, lambda variable: values[str(variable.value)]) == expected


@given(st.integers(0, 255), st.integers(0, 255), st.sampled_from(sorted(FOLD)))
def test_constants_fold_like_machine_words(a: int, b: int, operation: str) -> None:
    terms = Terms()
    folded = terms.binary(operation, terms.const(a, 8), terms.const(b, 8))
    assert folded.is_constant
    unfolded = terms.binary(operation, terms.var("a", 8), terms.var("b", 8))
    values = {"a": a, "b": b}
    assert folded.constant == evaluate(unfolded, {}, lambda v: values[str(v.value)])


def test_equal_terms_are_one_object() -> None:
    terms = Terms()
    a, b = terms.var("a", 32), terms.var("b", 32)
    assert terms.binary("add", a, b) is terms.binary("add", b, a)
    assert terms.and_(terms.eq(a, b), terms.not_(terms.eq(b, a))) is terms.false


def test_operations_move_into_choices_between_constants() -> None:
    terms = Terms()
    flag = terms.var("flag", 1)
    choice = terms.ite(flag, terms.const(3, 32), terms.const(5, 32))
    assert terms.eq(terms.binary("add", choice, terms.const(1, 32)), terms.const(4, 32)) is flag
    assert terms.compare("ult", choice, terms.const(6, 32)) is terms.true
