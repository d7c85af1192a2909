"""What the bodies of library functions ask about addresses, see `frontend/library/addresses.c`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.machine.libc.registry import library

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine


@library("raceproof_is_gone", is_rehearsed=False)
def _is_gone(machine: Machine, pointer: int) -> int:
    found = machine.memory.object_at(pointer)
    return int(found is None or found.is_freed)


@library("raceproof_has_ended", is_rehearsed=False)
def _has_ended(machine: Machine, identity: int) -> int:
    from raceproof.machine.control import FIRST_ID

    number = identity - FIRST_ID
    known = 0 <= number < len(machine.threads)
    return int(not known or not machine.threads[number].is_alive)
