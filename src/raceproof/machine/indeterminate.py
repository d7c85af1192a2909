"""What was never set, where values are exact."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from raceproof.machine.faults import Unsupported


class Indeterminate:
    """What a variable holds that was never set, where values are exact: it may be passed on, but
    nothing can be computed from it. There is only one: `INDETERMINATE`."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> NoReturn:
        raise Unsupported(
            "the program depends on its inputs: it uses a variable that was never set"
        )

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


INDETERMINATE: Final = Indeterminate()
