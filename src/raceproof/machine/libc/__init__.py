"""A small C library: what its functions compute, each over the machine's memory."""

from raceproof.machine.libc import (
    addresses,
    characters,
    floats,
    network,
    numbers,
    outside,
    printing,
    scanning,
    sets,
    sorting,
    strings,
    times,
    wide,
)
from raceproof.machine.libc.call import LibraryCall

__all__ = [
    "LibraryCall",
    "addresses",
    "characters",
    "floats",
    "network",
    "numbers",
    "outside",
    "printing",
    "scanning",
    "sets",
    "sorting",
    "strings",
    "times",
    "wide",
]
