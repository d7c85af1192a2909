"""How many tasks are solved within how much time: a cactus plot as SVG, drawn by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

from raceproof.bench.results import Result

_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 40, 56
_COLOURS = ("#1f6feb", "#d1602f", "#2da44e", "#8250df", "#bf3989", "#6e7781")
_LEAST = 0.1
_Scale = Callable[[float], float]


def cactus(runs: Mapping[str, Sequence[Result]]) -> str:
    """One line for each run: x tasks solved correctly, y CPU seconds of the slowest of them."""
    times = {name: sorted(r.cpu for r in run if r.is_correct) for name, run in runs.items()}
    most_tasks = max((len(line) for line in times.values()), default=0) or 1
    slowest = max((line[-1] for line in times.values() if line), default=1.0)
    top = max(10 ** math.ceil(math.log10(max(slowest, 1.0))), 1.0)

    def x(number: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * number / most_tasks

    def y(seconds: float) -> float:
        span = math.log10(top) - math.log10(_LEAST)
        part = (math.log10(max(seconds, _LEAST)) - math.log10(_LEAST)) / span
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * part

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    parts += _grid(x, y, most_tasks, top)
    for index, (name, line) in enumerate(times.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        points = " ".join(f"{x(i):.1f},{y(t):.1f}" for i, t in enumerate(line, 1))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        label_y = _TOP + 16 * index
        parts.append(f'<rect x="{_LEFT + 12}" y="{label_y - 9}" width="18" height="3" '
                     f'fill="{colour}"/>')  # fmt: skip
        parts.append(f'<text x="{_LEFT + 36}" y="{label_y - 3}">{escape(name)}: {len(line)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _grid(x: _Scale, y: _Scale, most_tasks: int, top: float) -> list[str]:
    parts = []
    seconds = _LEAST
    while seconds <= top * 1.001:
        height = y(seconds)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}" '
            'stroke="#d8dee4"/>'
        )
        parts.append(
            f'<text x="{_LEFT - 8}" y="{height + 4:.1f}" text-anchor="end">{seconds:g} s</text>'
        )
        seconds *= 10
    step = max(1, 10 ** int(math.log10(most_tasks)) // 2)
    for number in range(0, most_tasks + 1, step):
        place = x(number)
        parts.append(
            f'<text x="{place:.1f}" y="{_HEIGHT - _BOTTOM + 20}" text-anchor="middle">'
            f"{number}</text>"
        )
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 12}" text-anchor="middle">'
        "tasks solved</text>"
    )
    return parts
