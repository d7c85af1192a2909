"""Symbolic values: what a register holds, said in words that make sense outside its function.

A *term* is `(origin, constant, stride, symbol)`: the value of its origin plus `constant` bytes,
plus an unknown multiple of `stride` bytes (no multiple if 0). A `symbol` (a term; empty: none)
names that multiple, so that two terms with the same symbol mean the same element. Origins:

    ("c",)                    the number 0, so that integers are terms too
    ("p", index)              what the caller passed as parameter `index`
    ("g", name)               the address of a global variable
    ("f", name)               the address of a function
    ("s", function, number)   the address of a stack slot
    ("h", function, number, chain)   a heap object by its allocation site and the calls around it
    ("x", function, number)   what an unmodelled call returned
    ("r", function, number)   an integer that a register holds
    ("y", function, number)   the memory that the result of a call was computed from
    ("t", function, number, chain)   the id of a thread by its creation site
    ("b", predicate, term, term)     whether a comparison holds
    ("a",)                    the lock of atomic sections
    ("*", term)               what memory holds at the address `term`
    ("?",)                    anything

For `p->queue[i].lock` with the parameter `p`: `((*, ((p, 0), 8, 0)), 4, 24, i)`. This is an
access path in the sense of DarC (section 3.2.5, "access expressions"), with offsets in bytes.

Terms are plain tuples, totally ordered: they are hashed, sorted and cached by the million.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

Origin: TypeAlias = tuple[Any, ...]
Term: TypeAlias = tuple[Origin, int, int, Any]
Terms: TypeAlias = tuple[Term, ...]

NUMBER: Origin = ("c",)
UNKNOWN_ORIGIN: Origin = ("?",)
UNKNOWN: Term = (UNKNOWN_ORIGIN, 0, 0, ())
NULL: Term = (NUMBER, 0, 0, ())

MAX_DEPTH = 5
"""Dereferences in one term; a longer path is unknown."""
MAX_CHAIN = 3
"""Calls around an allocation site that tell its objects apart."""
MAX_TERMS = 6
"""Values that a register may hold before we stop counting."""

OBJECTS = frozenset("gsh")
"""The kinds of origin that are objects of their own: globals, stack slots, heap objects."""
PLACES = OBJECTS | {"p"}
"""Those, and what a parameter points to."""
CARRIERS = frozenset("psh")
"""What an address can leave the function in."""
LOCAL_OBJECTS = frozenset("sh")


def number(value: int) -> Term:
    return (NUMBER, value, 0, ())


def parameter(index: int) -> Term:
    return (("p", index), 0, 0, ())


def is_number(term: Term) -> bool:
    """Whether the term is one known integer."""
    return bool(term[0][0] == "c" and term[2] == 0)


def is_function(term: Term) -> bool:
    """Whether the term is the address of a function, which `term[0][1]` names."""
    return bool(term[0][0] == "f")


def is_dereference(term: Term) -> bool:
    """Whether the term is what memory holds somewhere."""
    return bool(term[0][0] == "*")


def is_heap(term: Term) -> bool:
    return bool(term[0][0] == "h")


def is_thread_id(term: Term) -> bool:
    return bool(term[0][0] == "t")


def is_known(term: Term) -> bool:
    return bool(term[0][0] != "?")


def is_pointer_like(term: Term) -> bool:
    """Whether the term may name memory: it is neither a number nor unknown."""
    return term[0][0] not in "c?rb"


def depth(term: Term) -> int:
    """How many dereferences the term has."""
    count = 0
    origin = term[0]
    while origin[0] == "*":
        count += 1
        origin = origin[1][0]
    return count


def root(term: Term) -> Origin:
    """Where the path starts: the origin below all dereferences."""
    origin = term[0]
    while origin[0] == "*":
        origin = origin[1][0]
    return origin


def dereference(address: Term) -> Term:
    """What memory holds at `address`."""
    kind = address[0][0]
    if kind == "?" or kind == "c" or kind == "f" or depth(address) >= MAX_DEPTH:
        return UNKNOWN
    return (("*", address), 0, 0, ())


def shift(term: Term, constant: int, stride: int = 0, symbol: Any = ()) -> Term:
    """`term` plus `constant` bytes plus an unknown multiple of `stride`."""
    origin, base, own_stride, own_symbol = term
    if origin[0] == "?":
        return UNKNOWN
    if stride == 0:
        return (origin, base + constant, own_stride, own_symbol)
    if own_stride == 0:
        return (origin, base + constant, stride, symbol)
    if own_stride == stride and own_symbol == symbol and symbol:
        return (origin, base + constant, stride, ())
    return (origin, base + constant, _gcd(own_stride, stride), ())


def _gcd(left: int, right: int) -> int:
    while right:
        left, right = right, left % right
    return abs(left) or 1


def unite(terms: list[Term]) -> Terms:
    """The terms without repetition, in a fixed order; unknown if there are too many."""
    if len(terms) <= 1:
        return tuple(terms)
    unique = tuple(dict.fromkeys(terms))
    if len(unique) > MAX_TERMS:
        return (*unique[:MAX_TERMS], UNKNOWN)
    return unique


def index_of(term: Term) -> tuple[int, Any]:
    """A term used as an array index: its known part, and a name for the rest.

    The name is None if there is no rest, empty if nothing is known of it.
    """
    origin, constant, stride, symbol = term
    if origin[0] == "c" and stride == 0:
        return constant, None
    if origin[0] == "?":
        return 0, ()
    return constant, (origin, 0, stride, symbol)


def means(handle: Term, ids: Collection[Term]) -> int:
    """How surely a handle is one of the ids: 2 it is, 1 the same array's, 0 another's."""
    if handle in ids:
        return 2
    if handle[0][0] != "*" or not handle[0][1][2]:
        return 0
    array = handle[0][1][:3]
    return int(any(id_[0][0] == "*" and id_[0][1][:3] == array for id_ in ids))


def describe(term: Term) -> str:
    """For people who look at summaries: `*(p0 + 8) + 4 + 24i`."""
    origin, constant, stride, symbol = term
    kind = origin[0]
    if kind == "*":
        text = f"*({describe(origin[1])})"
    elif kind == "c":
        return str(constant)
    elif kind == "p":
        text = f"p{origin[1]}"
    elif kind in "gf":
        text = f"&{origin[1]}"
    elif kind == "?":
        return "?"
    else:
        text = f"{kind}:{origin[1]}:{origin[2]}"
    if constant:
        text += f" + {constant}"
    if stride:
        text += f" + {stride}·{'i' if symbol else '?'}"
    return text
