"""One call of a library function with a role, while it is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.concurrency.model import FunctionModel, Success
from raceproof.ir import Call, NullPointer, Value
from raceproof.sequentialize.calls import effects_of, set_result
from raceproof.sequentialize.endings import write_cancel_point
from raceproof.sequentialize.frames import PrintedFrame
from raceproof.sequentialize.writer import Touched

if TYPE_CHECKING:
    from raceproof.sequentialize.thread_printer import ThreadPrinter


class PrintedOperation:
    """One call of a function with a role, while it is printed."""

    def __init__(
        self,
        printer: ThreadPrinter,
        frame: PrintedFrame,
        call: Call,
        name: str,
        model: FunctionModel,
    ) -> None:
        self.printer = printer
        self.frame = frame
        self.call = call
        self.name = name
        self.model = model
        self.writer = frame.writer
        self.pointer_size = frame.layout.pointer_size
        self.touched: list[Touched] = [access for _, access in effects_of(frame, call, name)]

    def argument(self, name: str) -> Value | None:
        """The call's argument that the model names so."""
        place = self.model.operands.get(name)
        if place is None or place.index >= len(self.call.arguments):
            return None
        return self.call.arguments[place.index]

    def operand(self, name: str) -> str:
        """Its C text, or what is stored there if the model says so; empty if there is none."""
        value = self.argument(name)
        if value is None:
            return ""
        if self.model.operands[name].indirect:
            return f"(address)get({self.frame.address(value)}, {self.pointer_size})"
        return self.frame.value(value)

    def optional(self, name: str) -> str:
        """The text of a pointer that may be null; empty if it surely is."""
        return "" if isinstance(self.argument(name), NullPointer) else self.operand(name)

    def find(self, kind: str, name: str) -> str:
        """The synchronisation object that an operand leads to."""
        key = self.operand(name)
        if not key and name == "lock":
            key = f"{self.frame.context.arena.named_lock(self.model.object or self.name)}u"
        return f"find({kind}, {key or '0'})"

    def step(
        self,
        enabled: str = "",
        *,
        is_cancel_point: bool = False,
        when_cancelled: tuple[str, ...] = (),
    ) -> None:
        """Begin a visible statement, with what the call touches; a cancelled thread ends at a
        cancellation point."""
        if is_cancel_point:
            write_cancel_point(self.printer, self.frame, self.touched, enabled, when_cancelled)
        else:
            self.writer.visible(self.touched, is_sync=True, enabled=enabled)

    def access(self) -> None:
        """Begin a statement that is visible only if others can see what it touches."""
        seen = [access for access in self.touched if access.is_shared != "0"]
        if seen:
            self.writer.visible(seen, is_sync=False)

    def succeed(self, condition: str = "1", error: str = "1") -> None:
        """The call returns whether it did what it is for."""
        if self.model.success is Success.NONZERO:
            self.returns(condition)
        else:
            self.returns("0" if condition == "1" else f"({condition}) ? 0 : {error}")

    def returns(self, text: str) -> None:
        set_result(self.frame, self.call, text)
