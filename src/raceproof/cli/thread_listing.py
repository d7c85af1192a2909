"""The creation graph as a tree, for Graphviz, as JSON.

0  main
     runs beside 1, 2
1    worker, created at bank.c:68, joined at bank.c:70
       runs beside 0, 2
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from raceproof.engines.modular.creation import ThreadNode
from raceproof.verdict import Site

Paths = Mapping[int, Sequence[str]]
"""Number of a thread -> calls from its entry to the function that was asked for."""


def write_text(nodes: list[ThreadNode], out: TextIO, paths: Paths | None = None) -> None:
    """As a tree; with `paths`, as a list."""
    if paths is not None:
        _write_paths(nodes, out, paths)
        return
    children: dict[int | None, list[ThreadNode]] = {}
    for node in nodes:
        children.setdefault(node.parent, []).append(node)
    width = len(str(len(nodes) - 1))
    stack = [(node, 0) for node in reversed(children.get(None, []))]
    while stack:
        node, depth = stack.pop()
        indent = "  " * depth
        out.write(f"{node.number:>{width}}  {indent}{', '.join(_words(node))}\n")
        out.write(f"{'':>{width}}  {indent}  {_beside(node)}\n")
        if node.handlers:
            out.write(f"{'':>{width}}  {indent}  handles events by {', '.join(node.handlers)}\n")
        stack.extend((child, depth + 1) for child in reversed(children.get(node.number, [])))


def _write_paths(nodes: list[ThreadNode], out: TextIO, paths: Paths) -> None:
    width = max((len(str(node.number)) for node in nodes), default=1)
    for node in nodes:
        out.write(f"{node.number:>{width}}  {', '.join(_words(node))}\n")
        out.write(f"{'':>{width}}    {' > '.join(paths[node.number])}\n")


def _words(node: ThreadNode) -> list[str]:
    words = [node.thread.entry]
    if node.created is not None:
        words.append(f"created at {_place(node.created)}")
    if not node.thread.is_unique:
        words.append("perhaps several at once")
    if node.joined:
        words.append(f"joined at {' and '.join(map(_place, node.joined))}")
    return words


def _beside(node: ThreadNode) -> str:
    others = [str(number) for number in node.beside if number != node.number]
    if node.number in node.beside:
        others.append("others of its kind")
    return f"runs beside {', '.join(others)}" if others else "runs alone"


def _place(site: Site) -> str:
    return str(site.position) if site.position else f"in {site.function}"


def write_dot(nodes: list[ThreadNode], out: TextIO) -> None:
    """Solid edges: creates. Dashed lines: may run at the same time."""
    out.write("digraph threads {\n  node [shape=box];\n")
    for node in nodes:
        lines = [f"{node.number}  {node.thread.entry}"]
        if not node.thread.is_unique:
            lines.append("perhaps several at once")
        lines += [f"joined at {_place(site)}" for site in node.joined]
        several = "" if node.thread.is_unique else ", peripheries=2"
        out.write(f"  t{node.number} [label={_quoted(lines)}{several}];\n")
    for node in nodes:
        if node.parent is not None and node.created is not None:
            label = _quoted([_place(node.created)])
            out.write(f"  t{node.parent} -> t{node.number} [label={label}];\n")
    for node in nodes:
        for other in node.beside:
            if other > node.number:
                out.write(
                    f"  t{node.number} -> t{other} [dir=none, style=dashed, constraint=false];\n"
                )
    out.write("}\n")


def _quoted(lines: list[str]) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'


def write_json(nodes: list[ThreadNode], out: TextIO, paths: Paths | None = None) -> None:
    threads = [_json(node) for node in nodes]
    for one, node in zip(threads, nodes, strict=True):
        if paths is not None:
            one["path"] = list(paths[node.number])
    json.dump({"threads": threads}, out, indent=2)
    out.write("\n")


def _json(node: ThreadNode) -> dict[str, Any]:
    return {
        "number": node.number,
        "entry": node.thread.entry,
        "chain": [_site(site) for site in node.thread.chain],
        "unique": node.thread.is_unique,
        "parent": node.parent,
        "created": None if node.created is None else _site(node.created),
        "joined": [_site(site) for site in node.joined],
        "beside": list(node.beside),
        "handlers": list(node.handlers),
    }


def _site(site: Site) -> dict[str, Any]:
    place = site.position
    return {
        "function": site.function,
        "file": place.file if place else None,
        "line": place.line if place else None,
    }
