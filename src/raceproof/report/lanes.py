"""An interleaving as a picture: threads as lanes, time downwards, held locks as bars.

Only geometry; the HTML template draws it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from raceproof.report.interleaving import Interleaving, Row, What

WIDTH = 1150
"""Of the page, which the lanes share if they can."""
LEAST, MOST = 270, 540
"""Of a lane."""
ROW = 34
TOP = 44
LEFT = 44
_BAR = 9
_MOST_ROWS = 80
_LETTER = 7.05
_DROP = 15
"""How far below its step the arrow of a creation runs."""


@dataclass(frozen=True, slots=True)
class Lane:
    name: str
    x: int
    top: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Dot:
    number: str
    x: int
    y: int
    what: str
    line: str
    text: str
    full: str


@dataclass(frozen=True, slots=True)
class Bar:
    lock: str
    x: int
    top: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Arrow:
    x1: int
    x2: int
    y: int


@dataclass(slots=True)
class Picture:
    width: int = 0
    height: int = 0
    left_out: int = 0
    lanes: list[Lane] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    race: Arrow | None = None


def picture(shown: Interleaving) -> Picture:
    """Where everything goes."""
    drawn = Picture(left_out=max(0, len(shown.rows) - _MOST_ROWS))
    rows = shown.rows[drawn.left_out :]
    threads = sorted({row.thread for row in rows})
    lane = max(LEAST, min(MOST, (WIDTH - LEFT) // len(threads)))
    letters = int((lane - 70) / _LETTER)
    place = {thread: LEFT + index * lane for index, thread in enumerate(threads)}
    heights = _heights(rows)
    bottom = heights[-1] + ROW // 2 + 4
    drawn.width = LEFT + len(threads) * lane
    drawn.height = bottom + 16
    starts = _starts(shown.rows, drawn.left_out, heights)
    for thread in threads:
        top = starts.get(thread, TOP) if thread else TOP
        drawn.lanes.append(Lane(shown.names[thread], place[thread], top, bottom))
    _draw_rows(drawn, rows, heights, place, letters)
    _draw_creations(drawn, shown.rows, heights, place)
    drawn.bars = _bars(shown.rows, drawn.left_out, heights, place, bottom)
    first, second = rows[-2:]
    left, right = sorted((place[first.thread], place[second.thread]))
    drawn.race = Arrow(left, right, heights[-1])
    return drawn


def _heights(rows: tuple[Row, ...]) -> list[int]:
    """The racing accesses share the last height."""
    heights = [TOP + ROW // 2 + index * ROW for index in range(len(rows))]
    heights[-2] += 6
    heights[-1] = heights[-2]
    return heights


def _starts(rows: tuple[Row, ...], left_out: int, heights: list[int]) -> dict[int, int]:
    """Where the lane of each created thread begins."""
    return {
        thread: heights[index - left_out] + _DROP if index >= left_out else TOP
        for index, row in enumerate(rows)
        for thread in row.created
    }


def _draw_rows(
    drawn: Picture,
    rows: tuple[Row, ...],
    heights: list[int],
    place: dict[int, int],
    letters: int,
) -> None:
    for index, (row, y) in enumerate(zip(rows, heights, strict=True)):
        is_race = row.what is What.RACE
        text = row.text
        if len(text) > letters:
            text = text[: letters - 1] + "…"
        drawn.dots.append(
            Dot(
                "" if is_race else str(drawn.left_out + index + 1),
                place[row.thread],
                y,
                row.what.value,
                str(row.position.line) if row.position else "",
                text,
                f"{row.position or row.function}: {row.text}",
            )
        )


def _draw_creations(
    drawn: Picture, rows: tuple[Row, ...], heights: list[int], place: dict[int, int]
) -> None:
    for index, row in enumerate(rows):
        for created in row.created:
            if index >= drawn.left_out and created in place:
                y = heights[index - drawn.left_out]
                drawn.arrows.append(Arrow(place[row.thread], place[created], y))


def _bars(
    rows: tuple[Row, ...],
    left_out: int,
    heights: list[int],
    place: dict[int, int],
    bottom: int,
) -> list[Bar]:
    """From each lock to its unlock by the same thread, or to the end."""
    bars: list[Bar] = []
    held: dict[int, list[tuple[str, int]]] = {}
    for index, row in enumerate(rows):
        y = heights[index - left_out] if index >= left_out else TOP
        mine = held.setdefault(row.thread, [])
        if row.what is What.LOCK:
            mine.append((row.lock, y))
        elif row.what is What.UNLOCK:
            match = next((one for one in reversed(mine) if one[0] == row.lock), None)
            if match is not None:
                depth = mine.index(match)
                mine.remove(match)
                if index >= left_out:
                    bars.append(_bar(place[row.thread], depth, match, y))
    for thread, mine in held.items():
        if thread in place:
            bars += [_bar(place[thread], depth, one, bottom) for depth, one in enumerate(mine)]
    return bars


def _bar(x: int, depth: int, held: tuple[str, int], end: int) -> Bar:
    return Bar(held[0], x - (depth + 1) * _BAR - 3, held[1], end)
