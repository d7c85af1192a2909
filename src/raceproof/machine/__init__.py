"""The concrete machine: interpreter, scheduler, replay."""

from raceproof.machine.machine import Machine

__all__ = ["Machine"]
