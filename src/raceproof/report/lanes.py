"""An interleaving as a picture: threads as lanes, time downwards, held locks as bars.

Only geometry; the HTML template draws it. A lock is known by its name: as the racing accesses have
it, if it is held there, else by what the source locks (`self->lock`, which may be another lock in
each thread). Each has a colour of its own. Threads that do not race have narrow lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from raceproof.report.interleaving import Interleaving, Row, What

WIDTH = 1150
"""Of the page, which the lanes share if they can."""
LEAST, MOST, NARROW = 270, 540, 190
"""Of a lane; of that of a thread that does not race."""
ROW = 34
TOP = 44
LEFT = 40
_BAR = 17
_MOST_ROWS = 400
COLOURS = 8
_BAR_LETTER = 6.2
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
    file: str
    """Of the source; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Bar:
    lock: str
    label: str
    """As much of the name as fits."""
    colour: int
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
    locks: list[tuple[str, int]] = field(default_factory=list)
    """Names and colours."""
    race: Arrow | None = None
    is_at_once: bool = True


def picture(
    shown: Interleaving, held: dict[int, tuple[str, ...]], most: int = _MOST_ROWS
) -> Picture:
    """Where everything goes, for the last `most` rows; `held` are the locks that the racing threads
    hold at the end, in the order in which they took them."""
    first = min(max(0, len(shown.rows) - most), shown.race[0])
    drawn = Picture(left_out=first, is_at_once=shown.is_at_once)
    rows = shown.rows[first:]
    racing = {shown.rows[index].thread for index in shown.race}
    threads = sorted({row.thread for row in rows})
    names = _lock_names(shown.rows, held)
    spans = _spans(shown.rows, names)
    depths = {t: max((s.depth + 1 for s in spans if s.thread == t), default=0) for t in threads}
    idle = sum(thread not in racing for thread in threads)
    room = WIDTH - LEFT - idle * NARROW - _BAR * sum(depths.values())
    wide = max(LEAST, min(MOST, room // max(len(threads) - idle, 1)))
    place: dict[int, int] = {}
    letters: dict[int, int] = {}
    x = LEFT
    for thread in threads:
        lane = wide if thread in racing else NARROW
        place[thread] = x + _BAR * depths[thread]
        letters[thread] = int((lane - 60) / _LETTER)
        x = place[thread] + lane
    heights = _heights(rows, shown.is_at_once)
    bottom = heights[-1] + ROW // 2 + 4
    drawn.width, drawn.height = x, bottom + 16
    starts = _starts(shown.rows, first, heights)
    for thread in threads:
        top = starts.get(thread, TOP) if thread else TOP
        drawn.lanes.append(Lane(shown.names[thread], place[thread], top, bottom))
    _draw_rows(drawn, rows, heights, place, letters)
    _draw_creations(drawn, shown.rows, heights, place)
    _draw_bars(drawn, spans, heights, place, bottom)
    ends = [rows[index - first] for index in shown.race]
    left, right = sorted(place[row.thread] for row in ends)
    drawn.race = Arrow(left, right, heights[-1])
    return drawn


def _heights(rows: tuple[Row, ...], is_at_once: bool) -> list[int]:
    """Accesses that are enabled at once share the last height."""
    heights = [TOP + ROW // 2 + index * ROW for index in range(len(rows))]
    if is_at_once:
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
    letters: dict[int, int],
) -> None:
    for index, (row, y) in enumerate(zip(rows, heights, strict=True)):
        is_race = row.what is What.RACE
        text = row.text
        if len(text) > letters[row.thread]:
            text = text[: letters[row.thread] - 1] + "…"
        drawn.dots.append(
            Dot(
                "" if is_race else str(drawn.left_out + index + 1),
                place[row.thread],
                y,
                row.what.value,
                str(row.position.line) if row.position else "",
                text,
                f"{row.position or row.function}: {row.text}",
                row.position.file if row.position else "",
            )
        )


def _draw_creations(
    drawn: Picture, rows: tuple[Row, ...], heights: list[int], place: dict[int, int]
) -> None:
    for index, row in enumerate(rows):
        for created in row.created:
            if index >= drawn.left_out and created in place and row.thread in place:
                y = heights[index - drawn.left_out]
                drawn.arrows.append(Arrow(place[row.thread], place[created], y))


@dataclass(frozen=True, slots=True)
class _Span:
    """A lock that a thread holds from one row to another (None: to the end)."""

    thread: int
    lock: str
    depth: int
    first: int
    last: int | None


def _spans(rows: tuple[Row, ...], names: dict[tuple[int, str], str]) -> list[_Span]:
    """From each lock to its unlock by the same thread, or to the end."""
    spans: list[_Span] = []
    taken: dict[int, list[tuple[str, int]]] = {}
    for index, row in enumerate(rows):
        mine = taken.setdefault(row.thread, [])
        name = names.get((row.thread, row.lock), row.lock)
        if row.what is What.LOCK:
            mine.append((name, index))
        elif row.what is What.UNLOCK:
            match = next((one for one in reversed(mine) if one[0] == name), None)
            if match is not None:
                spans.append(_Span(row.thread, name, mine.index(match), match[1], index))
                mine.remove(match)
    for thread, mine in taken.items():
        spans += [_Span(thread, n, depth, at, None) for depth, (n, at) in enumerate(mine)]
    return spans


def _lock_names(
    rows: tuple[Row, ...], held: dict[int, tuple[str, ...]]
) -> dict[tuple[int, str], str]:
    """What a thread's `self->lock` is, if the thread holds as many locks in the end as it was seen
    to take."""
    open_ = [span for span in _spans(rows, {}) if span.last is None]
    names: dict[tuple[int, str], str] = {}
    for thread, known in held.items():
        mine = sorted((s for s in open_ if s.thread == thread), key=lambda s: s.first)
        if len(mine) == len(known):
            names |= {(thread, s.lock): name for s, name in zip(mine, known, strict=True)}
    return names


def _draw_bars(
    drawn: Picture,
    spans: list[_Span],
    heights: list[int],
    place: dict[int, int],
    bottom: int,
) -> None:
    colours: dict[str, int] = {}
    for span in sorted(spans, key=lambda s: (s.last is not None, s.first)):
        is_over = span.last is not None and span.last < drawn.left_out
        if is_over or span.thread not in place:
            continue
        colour = colours.setdefault(span.lock, len(colours) % COLOURS)
        top = heights[span.first - drawn.left_out] if span.first >= drawn.left_out else TOP
        end = bottom if span.last is None else heights[span.last - drawn.left_out]
        fits = int((end - top - 8) / _BAR_LETTER)
        label = span.lock if len(span.lock) <= fits else span.lock[: fits - 1] + "…"
        x = place[span.thread] - (span.depth + 1) * _BAR - 6
        drawn.bars.append(Bar(span.lock, label if fits > 2 else "", colour, x, top, end))
    drawn.locks = list(colours.items())
