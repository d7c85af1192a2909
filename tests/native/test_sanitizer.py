"""What ThreadSanitizer prints is read back and held against findings."""

from raceproof.ir import Position
from raceproof.native.sanitizer import is_about, read_reports
from raceproof.verdict import Access, BaseKind, Confidence, Finding, Location, Thread

_LOG = """\
==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 8 at 0x5500000010c8 by thread T1 (mutexes: write M0):
    #0 add /src/bank.c:50:19 (program+0x42d08)
    #1 work /src/bank.c:59:9 (program+0x42a0f)

  Previous read of size 8 at 0x5500000010c8 by thread T2:
    #0 memcpy /lib/libtsan/tsan_interceptors.cpp:10:3 (program+0x1)
    #1 look /src/bank.c:70:5 (program+0x42cc6)

  Location is global 'bank' of size 64 at 0x550000001090 (program+0xdf2c8)

SUMMARY: ThreadSanitizer: data race /src/bank.c:50:19 in add
==================
==================
WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=7)
  Cycle in lock order graph
==================
"""


def _access(line: int, column: int, is_write: bool, function: str = "add") -> Access:
    location = Location(BaseKind.GLOBAL, "bank", "bank.transfers", 56, 64)
    return Access(
        Thread("work"), 1, function, Position("/src/bank.c", line, column), location, is_write
    )


def _finding(first: Access, second: Access, location: Location | None = None) -> Finding:
    return Finding(location or first.location, Confidence.CONFIRMED, (first, second))


def test_a_report_has_two_accesses_without_the_frames_of_the_sanitizer() -> None:
    (race,) = read_reports(_LOG)
    assert race.kind == "data race"
    assert [access.is_write for access in race.accesses] == [True, False]
    assert [access.frames[0].function for access in race.accesses] == ["add", "look"]
    assert race.variable == "bank"


def test_the_same_two_accesses_in_either_order() -> None:
    (race,) = read_reports(_LOG)
    elsewhere = Location(BaseKind.HEAP, "x", "x", 0, 8)
    write, read = _access(50, 19, True), _access(70, 5, False, "look")
    assert is_about(race, _finding(write, read, elsewhere))
    assert is_about(race, _finding(read, write, elsewhere))
    assert not is_about(race, _finding(write, _access(71, 5, False), elsewhere))


def test_the_same_bytes_of_a_variable_but_not_its_neighbours() -> None:
    (race,) = read_reports(_LOG)
    other = _access(1, 1, True)
    assert is_about(race, _finding(other, other))
    neighbour = Location(BaseKind.GLOBAL, "bank", "bank.lock", 0, 40)
    assert not is_about(race, _finding(other, other, neighbour))


def test_other_reports_are_no_races() -> None:
    assert len(read_reports(_LOG)) == 1
    assert read_reports("") == []
