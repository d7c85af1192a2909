"""Handlers that a library keeps, across translation units.

A unit that registers a handler and one that runs the loop do not know each other, so they meet in
an object of the library's own: the registration stores the function and its arguments there, and
whoever runs the loop calls what is stored. A cell for each number of parameters and, behind it, one
for each argument:

    event_set(&c->event, fd, EV_READ, on_read, c);   $libevent[3] = on_read; $libevent[3, 2] = c;
    event_base_loop(base, 0);                         (*$libevent[3])(?, ?, *$libevent[3, 2])

The arguments of different handlers are mixed up here; a program that is loaded as a whole keeps
them apart (`raceproof.concurrency.callbacks`), and what that has written in is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.concurrency.callbacks.sites import handlers_of, is_synthesized
from raceproof.concurrency.model import CallbackTime, CallbackValue, FunctionModel
from raceproof.engines.summary.terms import UNKNOWN, Term, Terms, dereference, shift
from raceproof.ir import Call, NullPointer

if TYPE_CHECKING:
    from raceproof.concurrency.model import CallbackModel
    from raceproof.engines.summary.extract import Extractor

_FIRST = 1 << 20
"""Where the cells start: functions are looked up by offset, and no structure is as large."""
_ROOM = 1 << 10
_MOST_PARAMETERS = 8


def handler_events(extractor: Extractor, call: Call, model: FunctionModel) -> None:
    """Appends what the call does with handlers."""
    if is_synthesized(extractor.name):
        return
    for handler in handlers_of(model, call):
        _register(extractor, call, handler.model)
    for loop in model.runs:
        for count in range(_MOST_PARAMETERS + 1):
            function = (dereference(_cell(loop, count)),)
            arguments = tuple((dereference(_cell(loop, count, n)),) for n in range(count))
            extractor.events.append(("call", extractor.place(call), function, arguments))


def _register(extractor: Extractor, call: Call, callback: CallbackModel) -> None:
    pointer_size = extractor.program.layout.pointer_size
    functions = extractor.terms(call.arguments[callback.function.index])
    if callback.function.indirect:
        offset = callback.function.offset
        there = offset.of(pointer_size) if offset is not None else 0
        functions = tuple(dereference(shift(term, there)) for term in functions)
    arguments = [_argument(extractor, call, callback, n) for n in range(len(callback.arguments))]
    if callback.time is CallbackTime.LOOP:
        count = len(arguments)
        extractor.store(call, (_cell(callback.loop, count),), functions)
        for number, terms in enumerate(arguments):
            extractor.store(call, (_cell(callback.loop, count, number),), terms)
    elif callback.time is CallbackTime.THREAD:
        given: Terms = arguments[0] if arguments else ()
        extractor.events.append(("create", extractor.place(call), (), functions, given))
    else:
        extractor.events.append(("call", extractor.place(call), functions, tuple(arguments)))


def _argument(extractor: Extractor, call: Call, callback: CallbackModel, number: int) -> Terms:
    wanted = callback.arguments[number]
    if wanted.how is CallbackValue.ANY or wanted.index >= len(call.arguments):
        return (UNKNOWN,)
    value = call.arguments[wanted.index]
    if isinstance(value, NullPointer):
        return ()
    terms = extractor.terms(value)
    if wanted.how is CallbackValue.INTO:
        return tuple(shift(term, 0, 1) for term in terms)
    if wanted.how is CallbackValue.POINTEE:
        size = extractor.program.layout.pointer_size
        offset = wanted.offset.of(size) if wanted.offset is not None else 0
        return tuple(dereference(shift(term, offset)) for term in terms)
    return terms


def _cell(loop: str, count: int, argument: int = -1) -> Term:
    """Where the function is kept that takes so many arguments, or one of the arguments."""
    return (("g", f"$handlers of {loop}"), _FIRST + count * _ROOM + 16 * (argument + 1), 0, ())
