"""Callbacks: functions that are handed over, and called when, by which thread, with what.

Models say what a library does with a function that it is given (`docs/models.md`): keep it, with
some of the arguments, for whoever runs the library's loop, or run it on a thread of its own.
`with_callbacks` writes that into the program, as code: a list of what was registered, and a loop
that calls any of it, any number of times, in any order. So an event handler is to every engine a
function that the loop calls; none of them needs to know more about it.

    event_set(&c->event, fd, EV_READ, on_read, c);    // keeps on_read, fd, c
    ...
    event_base_loop(base, 0);                         // on_read(fd, anything, c), on this thread

Bases, loops and contexts of a library are not told apart: a handler runs on every thread that runs
a loop of the library, which is sound.

Functions that are given to an unknown function are taken to be called on the thread that
gave them, with the pointers that were given along or any others, during that call or any later
call of unknown code (`--callbacks thread`); or else on threads of their own from then on
(`any-thread`), or not at all (`ignore`). What is assumed joins `Program.assumptions`.

What can be said for sure about such code stays what it is: a schedule that goes through a choice
of ours shows what may happen by the model, so a race at its end is `likely`, not `confirmed`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from raceproof.concurrency.callbacks.sites import (
    UNKNOWN_CODE,
    Handler,
    Sites,
    find_sites,
    is_synthesized,
)
from raceproof.concurrency.catalogue import Models
from raceproof.concurrency.model import CallbackTime
from raceproof.ir import Program
from raceproof.options import UnknownCallbacks

if TYPE_CHECKING:
    from raceproof.concurrency.callbacks.lowering import CallbackLowering

__all__ = ["is_synthesized", "with_callbacks"]

_MOST_NAMES = 4


def with_callbacks(program: Program, models: Models, choice: UnknownCallbacks) -> Program:
    """The program with the calls that libraries make; itself if there are none."""
    if any(is_synthesized(name) for name in program.functions):
        return program
    sites = find_sites(program, models)
    given = sites.given if choice is not UnknownCallbacks.IGNORE else []
    if not sites.registrations and not given:
        return program
    from raceproof.concurrency.callbacks.lowering import CallbackLowering

    lowering = CallbackLowering(program)
    for site in sites.registrations:
        if site.handlers:
            lowering.register(site, site.runs)
        else:
            lowering.run(site, site.runs)
    if given:
        _unknown(lowering, sites, choice)
    return lowering.program(_assumptions(sites, given, choice))


def _unknown(lowering: CallbackLowering, sites: Sites, choice: UnknownCallbacks) -> None:
    for site in sites.unknown:
        if choice is UnknownCallbacks.ANY_THREAD:
            if site.handlers:
                lowering.register(replace(site, handlers=tuple(map(_on_threads, site.handlers))))
        elif site.handlers:
            lowering.register(site, (UNKNOWN_CODE,), is_own=True)
        else:
            lowering.run(site, (UNKNOWN_CODE,))


def _on_threads(handler: Handler) -> Handler:
    return replace(handler, model=replace(handler.model, time=CallbackTime.THREAD, loop=""))


def _assumptions(sites: Sites, given: list[str], choice: UnknownCallbacks) -> tuple[str, ...]:
    if not given:
        return ()
    listed = ", ".join(f"`{name}`" for name in given[:_MOST_NAMES])
    if len(given) > _MOST_NAMES:
        listed += f" and {len(given) - _MOST_NAMES} more"
    if choice is UnknownCallbacks.ANY_THREAD:
        return (f"functions given to {listed} are called at any time, on threads of their own",)
    return (
        f"functions given to {listed} are called on the thread that gave them, then or in later "
        "calls of unknown code",
    )
