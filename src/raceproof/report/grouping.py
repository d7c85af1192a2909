"""Long lists of like sentences, shortened: one for all functions or places that they speak of.

`crc32` (defined nowhere, no model) starts no threads ...
`deflate` (defined nowhere, no model) starts no threads ...
-> `crc32`, `deflate` (defined nowhere, no model) starts no threads ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MOST_NAMED = 3
_NAME = re.compile(r"`[^`]+`")
_PLACE = re.compile(r" at (\S+:\d+(?::\d+)?)$")
_BARE = re.compile(r"^([A-Za-z_]\w*)(?= has no effect on )")


def grouped(sentences: Iterable[str]) -> list[str]:
    """Sentences that differ in one name, or in the place at the end, become one."""
    groups: dict[str, list[str]] = {}
    for sentence in sentences:
        key, word = _template(sentence)
        groups.setdefault(key, []).append(word)
    return [key.replace("\0", _listed(words)) for key, words in groups.items()]


def _template(sentence: str) -> tuple[str, str]:
    """The sentence with a hole, and what stood there."""
    place = _PLACE.search(sentence)
    if place is not None:
        return sentence[: place.start(1)] + "\0", place[1]
    names = _NAME.findall(sentence)
    if len(names) == 1:
        return sentence.replace(names[0], "\0"), names[0]
    bare = _BARE.match(sentence)
    if bare is not None:
        return "\0" + sentence[bare.end() :], bare[1]
    return sentence, ""


def _listed(words: list[str]) -> str:
    named = ", ".join(words[:_MOST_NAMED])
    more = len(words) - _MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named
