"""Fills the page of the commands with what they say of themselves."""

import io
import os
from contextlib import redirect_stdout
from typing import Any


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by mkdocs for each page."""
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
