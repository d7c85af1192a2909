"""Values that stand for any value: what the explorer computes with when data is ignored.

The compiled code of a function never asks whether a value is known: `UNKNOWN + 1` is `UNKNOWN`, and
a branch on it raises `ChoiceNeeded`, whereupon the explorer goes both ways. An `Inside` is a
pointer to an unknown byte of a known object, as `&a[i]` is for an unknown `i`.

    int i = __VERIFIER_nondet_int();   i is UNKNOWN
    if (i < 0) abort();                both ways
    a[i] = 1;                          a write somewhere Inside(a)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from raceproof.machine.faults import ChoiceNeeded, Unsupported

if TYPE_CHECKING:
    from raceproof.machine.memory import MemoryObject


class Unknown:
    """Any value of its type. There is only one: `UNKNOWN`."""

    __slots__ = ()

    def _absorb(self, *_: Any) -> Unknown:
        return UNKNOWN

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _absorb
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = _absorb
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _absorb
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _absorb
    __neg__ = __invert__ = __abs__ = _absorb
    __lt__ = __le__ = __gt__ = __ge__ = _absorb
    __eq__ = __ne__ = _absorb  # type: ignore[assignment]
    __getitem__ = _absorb

    def __hash__(self) -> int:
        return 0x5EED

    def __bool__(self) -> bool:
        raise ChoiceNeeded

    def __repr__(self) -> str:
        return "?"


class Inside(Unknown):
    """A pointer to some byte of `target`."""

    __slots__ = ("target",)

    def __init__(self, target: MemoryObject) -> None:
        self.target = target

    def __repr__(self) -> str:
        return f"?{self.target.name}"


class Indeterminate:
    """What a variable holds that nobody has set, where values are exact: it may be passed on, but
    nothing can be computed from it. There is only one: `INDETERMINATE`."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> NoReturn:
        raise Unsupported("the program depends on its inputs: it uses a variable that nobody set")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refuse
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refuse
    __neg__ = __invert__ = __abs__ = __index__ = __int__ = __float__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __eq__ = __ne__ = _refuse
    __getitem__ = __bool__ = _refuse

    def __hash__(self) -> int:
        return 0xC0FFEE

    def __repr__(self) -> str:
        return "unset"


UNKNOWN: Final = Unknown()
INDETERMINATE: Final = Indeterminate()
