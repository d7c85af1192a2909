"""A small C library: what its functions compute. What they access is said by their models."""

from raceproof.machine.libc import characters, numbers, printing, scanning, sorting, strings
from raceproof.machine.libc.registry import LibraryCall

__all__ = ["LibraryCall", "characters", "numbers", "printing", "scanning", "sorting", "strings"]
