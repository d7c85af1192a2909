"""How threads and the process end: cleanup handlers, destructors, functions for the exit.

They are called where a thread comes to its end, each by inlining the functions that may be
registered, as often as there are calls in the program that register one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from raceproof.ir import POINTER
from raceproof.sequentialize.calls import dispatch
from raceproof.sequentialize.frames import Given, PrintedFrame
from raceproof.sequentialize.handlers import Handlers
from raceproof.sequentialize.writer import Touched

if TYPE_CHECKING:
    from raceproof.sequentialize.thread_printer import ThreadPrinter

ENDING, DESTROYING, OVER = "ending", "destroying", "over"


def _call(
    printer: ThreadPrinter,
    frame: PrintedFrame,
    handlers: Handlers,
    pointer: str,
    value: str,
    key: int,
) -> None:
    given = (Given(POINTER, (value,)),)
    dispatch(
        printer,
        frame,
        pointer,
        list(handlers.functions.values()),
        lambda function: printer.inline(frame, key, function, given, None),
    )


def end_process(printer: ThreadPrinter, frame: PrintedFrame, why: str) -> None:
    """The functions that were registered for the exit, the last one first; then all is over."""
    writer, handlers = frame.writer, printer.context.endings.at_exit
    for _ in range(handlers.rounds):
        writer.line("must(exit_handler_count > 0); /* else the program is over */")
        writer.line("--exit_handler_count;")
        place = "exit_handlers[exit_handler_count]"
        _call(printer, frame, handlers, f"{place}[0]", f"{place}[1]", -1)
    writer.line(f"must(0); /* {why} */")


def write_cancel_point(
    printer: ThreadPrinter,
    frame: PrintedFrame,
    touched: Sequence[Touched],
    enabled: str = "",
    when_cancelled: Sequence[str] = (),
) -> None:
    """A visible statement where a cancelled thread ends."""
    writer = frame.writer
    if not printer.context.has_cancellation:
        writer.visible(touched, is_sync=True, enabled=enabled)
        return
    writer.visible(touched, is_sync=True, enabled=f"must_end(t) || ({enabled})" if enabled else "")
    goes_on = writer.fresh("o")
    writer.line(f"if (!must_end(t)) {writer.jump(goes_on)}")
    writer.line("thread[t].cancelled = 0;")
    for text in when_cancelled:
        writer.line(text)
    end_thread(printer, frame, "~(address)0", cleans_up=True)
    writer.label(goes_on)


def end_thread(
    printer: ThreadPrinter, frame: PrintedFrame, result: str, *, cleans_up: bool
) -> None:
    """The thread ends with this result."""
    writer, endings = frame.writer, printer.context.endings
    if not endings.of_threads:
        writer.line(f"finish(t, {result});")
        writer.goto("end")
        return
    writer.line(f"thread[t].result = (address){result};")
    writer.goto(ENDING if cleans_up else DESTROYING)


def write_endings(printer: ThreadPrinter, frame: PrintedFrame) -> None:
    """The common end of a thread's function, if something is to be run there."""
    writer, endings = frame.writer, printer.context.endings
    if not endings.of_threads:
        return
    writer.label(ENDING)
    for _ in range(endings.cleanups.rounds):
        writer.line(f"if (cleanup_count[t] == 0) {writer.jump(DESTROYING)}")
        writer.line("--cleanup_count[t];")
        place = "cleanups[t][cleanup_count[t]]"
        _call(printer, frame, endings.cleanups, f"{place}[0]", f"{place}[1]", -2)
    if endings.cleanups.calls:
        writer.line("must(cleanup_count[t] == 0);")
    writer.label(DESTROYING)
    if endings.destructors.calls:
        key = writer.field("key", "unsigned")
        value = writer.field("specific", "address")
        for _ in range(endings.destructors.rounds):
            writer.line(f"{key} = next_destructor(t);")
            writer.line(f"if ({key} == KEYS) {writer.jump(OVER)}")
            writer.line(f"{value} = specifics[t][{key}]; specifics[t][{key}] = 0;")
            _call(printer, frame, endings.destructors, f"destructors[{key}]", value, -3)
        writer.line("must(next_destructor(t) == KEYS);")
        writer.label(OVER)
    writer.line("finish(t, thread[t].result);")
