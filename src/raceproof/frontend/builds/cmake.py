"""Link steps out of the `link.txt` files that CMake's makefiles run."""

from __future__ import annotations

import os
from pathlib import Path

from raceproof.frontend.builds.command_line import split_command
from raceproof.frontend.builds.links import Link, read_archive_command, read_link_command


def cmake_links(folder: Path) -> list[Link]:
    """Of all targets below the folder that CMake wrote its makefiles into."""
    found: list[Link] = []
    if not (folder / "CMakeCache.txt").is_file():
        return found
    for where, folders, files in os.walk(folder):
        folders.sort()
        if "link.txt" in files and where.endswith(".dir"):
            # FOLDER/CMakeFiles/NAME.dir/link.txt is run in FOLDER.
            found += _links(Path(where) / "link.txt", Path(where).parent.parent)
    return found


def _links(file: Path, folder: Path) -> list[Link]:
    found = []
    try:
        text = file.read_text("utf-8", "surrogateescape")
    except OSError:
        return []
    for line in text.splitlines():
        words = split_command(line)
        if not words:
            continue
        tool = os.path.basename(words[0])
        if tool.split("-")[-1].startswith("ar") or "-ar" in tool:
            link = read_archive_command(words, folder)
        elif "ranlib" in tool:
            link = None
        else:
            link = read_link_command(words, folder)
        if link is not None:
            found.append(link)
    return found
