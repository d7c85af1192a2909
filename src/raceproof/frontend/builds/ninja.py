"""Link steps out of a `build.ninja`, as CMake and Meson write it.

Only the edges that make programs and libraries matter: what they make and of what. Variables are
followed as far as paths need them; rules are told by what goes in and what comes out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from raceproof.frontend.builds.command_line import OBJECT_SUFFIXES, SHARED_LIBRARY
from raceproof.frontend.builds.links import Link, LinkKind

FILE = "build.ninja"
_VARIABLE = re.compile(r"\$(?:\{([\w.-]+)\}|([\w-]+)|(.))", re.S)
_TOKEN = re.compile(r"(?:\$.|[^\s|:])+|\|\||\||:", re.S)
_NOT_LINKING = re.compile(r"custom|command|phony|compile|compiler|depend|scan|symbol|strip", re.I)
_MOST_FILES = 64


def ninja_links(file: Path) -> list[Link]:
    """All link steps, with absolute paths."""
    found: list[Link] = []
    folder = file.parent
    variables: dict[str, str] = {}
    waiting = [file]
    for _ in range(_MOST_FILES):
        if not waiting:
            break
        path = waiting.pop()
        try:
            text = path.read_text("utf-8", "surrogateescape")
        except OSError:
            continue
        for line in _lines(text):
            word, _, rest = line.partition(" ")
            if word in {"include", "subninja"}:
                waiting.append(folder / _expanded(rest.strip(), variables))
            elif word == "build":
                link = _link(rest, variables, folder)
                if link is not None:
                    found.append(link)
            elif "=" in line and not line[0].isspace():
                name, _, value = line.partition("=")
                variables[name.strip()] = _expanded(value.strip(), variables)
    return found


def _lines(text: str) -> Iterator[str]:
    for line in text.replace("$\r\n", "").replace("$\n", "").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line


def _expanded(text: str, variables: dict[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return variables.get(name, "") if name else found[3]

    return _VARIABLE.sub(value, text)


def _link(rest: str, variables: dict[str, str], folder: Path) -> Link | None:
    tokens = _TOKEN.findall(rest)
    if ":" not in tokens:
        return None
    colon = tokens.index(":")
    outputs = [token for token in tokens[:colon] if token != "|"]
    if not outputs or colon + 1 >= len(tokens) or _NOT_LINKING.search(tokens[colon + 1]):
        return None
    inputs = tokens[colon + 2 :]
    if "||" in inputs:
        inputs = inputs[: inputs.index("||")]
    paths = [
        os.path.abspath(folder / _expanded(token, variables)) for token in inputs if token != "|"
    ]
    kinds = {os.path.splitext(path)[1] for path in paths}
    output = os.path.abspath(folder / _expanded(outputs[0], variables))
    kind = _kind(output)
    if kind is None or not kinds & (OBJECT_SUFFIXES | {".a", ".so"}):
        return None
    return Link(output, kind, tuple(_real(path) for path in paths))


def _real(path: str) -> str:
    """Meson waits for `libx.so.p/libx.so.symbols` where it links `libx.so`."""
    if path.endswith(".symbols"):
        return os.path.join(os.path.dirname(os.path.dirname(path)), os.path.basename(path)[:-8])
    return path


def _kind(output: str) -> LinkKind | None:
    suffix = os.path.splitext(output)[1]
    if suffix == ".a":
        return LinkKind.STATIC
    if SHARED_LIBRARY.search(output):
        return LinkKind.SHARED
    return None if suffix in OBJECT_SUFFIXES else LinkKind.PROGRAM
