"""Fills the pages of the commands and of the C library with what the code says of itself."""

import io
import os
from contextlib import redirect_stdout
from typing import Any


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by mkdocs for each page."""
    if page.file.src_uri == "library.md":
        return markdown + library_table()
    if page.file.src_uri != "commands.md":
        return markdown
    os.environ["COLUMNS"] = "100"
    from raceproof.cli.registry import COMMANDS
    from raceproof.cli.shell import build_parser

    _, parsers = build_parser(COMMANDS)
    parts = [markdown]
    for name, parser in parsers.items():
        stream = io.StringIO()
        with redirect_stdout(stream):
            parser.print_help()
        parts.append(f"## raceproof {name}\n\n```text\n{stream.getvalue().strip()}\n```\n")
    return "\n".join(parts)


def library_table() -> str:
    """What is known of each function of the C library, as a table."""
    from raceproof.concurrency import Models
    from raceproof.concurrency.catalogue import built_in_names
    from raceproof.frontend.library import PREFIX, body_names
    from raceproof.frontend.library.insertions import errno_by_function
    from raceproof.machine.libc.registry import FUNCTIONS

    models, bodies, errno = Models.load(), body_names(), errno_by_function()
    rows = ["| function | known | sets errno | thread-safe |", "|---|---|---|---|"]
    for name in sorted({*built_in_names(), *bodies}):
        model = models.lookup(name)
        if name.startswith((PREFIX, "_Z")) or (model is None and name not in bodies):
            continue
        if name in bodies:
            known = "exact (body)"
        elif model is not None and model.caveat:
            known = f"unknown: {model.caveat}"
        elif model is not None and model.role is not None:
            known = f"exact ({model.role})"
        elif name in FUNCTIONS:
            known = "exact (computed)"
        else:
            known = "approximated"
        is_safe = model is None or model.thread_safe
        rows.append(f"| `{name}` | {known} | {errno.get(name, '')} | {'' if is_safe else 'no'} |")
    return "\n".join(rows) + "\n"
