"""A change inside of one function body: the compiler need not see the other bodies.

    int get(void) { ... }      ->   int get(void) { }        known, left empty for the compiler
    void put(int n)                 void put(int n)
    {                               {
        count += 2;   changed           count += 2;
    }                               }

Such a change is the usual one, and on a large file most of the time goes into compiling what was
known before. Everything outside of the body is letter for letter the same, so all other outlines
hold, only their lines move. Where anything is out of the ordinary (directives or comments among
the changed lines, other private names in use than before, other headers read, a complaint of the
compiler) the whole file is compiled as ever.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from raceproof.concurrency.catalogue import Models
from raceproof.engines.summary.unit import Unit
from raceproof.frontend.source import Source
from raceproof.frontend.toolchain import Toolchain
from raceproof.project.fragments import Fragment, Fragments
from raceproof.project.outlining import outline_some, unit_names
from raceproof.project.sources import Project
from raceproof.project.stamps import read_dependencies

Body: TypeAlias = tuple[int, int, tuple[str, ...]]
"""First line, line of the opening brace, private names of the file that the function uses."""

_DELICATE = re.compile(r"^\s*#|/\*|\*/|\\$|\?\?", re.M)
"""What may change the meaning of lines further down."""
_NOISE = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.S)
"""Where braces do not count."""
_DIRECTIVE = re.compile(r"^\s*#", re.M)


@dataclass(frozen=True, slots=True)
class Record:
    """What is remembered of a translation unit."""

    unit: tuple[Any, ...]
    """`Unit.to_tuple`."""
    modelled: tuple[str, ...]
    """Functions without a body here that a model speaks of."""
    keys: dict[str, bytes]
    """Of the functions with one."""
    bodies: dict[str, Body] = field(default_factory=dict)
    """Of those in the file itself."""
    text: bytes = b""
    """The file, compressed; empty if changes of it are not to be looked at closely."""
    files: tuple[str, ...] = ()
    """What the compiler read."""
    notice: str = ""
    """How it had to be compiled, if not the usual way."""

    def to_tuple(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in fields(self))


@dataclass(frozen=True, slots=True)
class _Change:
    """The function whose body changed, and how the lines below it moved."""

    function: str
    above: int
    """Lines that are the same before the change."""
    below: int
    """The first line after it, as it was."""
    distance: int
    text: str
    """The file as it is now, all other bodies empty."""


def pack_text(source: Source, original: bytes) -> bytes:
    return zlib.compress(original, 1) if source.path.suffix == ".c" else b""


def bodies_of(
    found: Iterable[Fragment], naming: Callable[[str], str], source: Source, project: Project
) -> dict[str, Body]:
    """The functions of the file itself, not those of its headers."""
    file = project.name(source.path)
    bodies = {}
    for one in found:
        if one.scope and project.name(Path.cwd() / one.file) == file:
            bodies[one.name] = (one.start, one.scope, _private(one, naming))
    return bodies


def _private(one: Fragment, naming: Callable[[str], str]) -> tuple[str, ...]:
    """Private functions and variables of the file that it uses, but its own static locals."""
    return tuple(
        sorted(
            name
            for name in one.used
            if "@" in naming(name) and not name.startswith(f"{one.name}.") and name != one.name
        )
    )


def patched(
    source: Source, before: Record, project: Project, toolchain: Toolchain, models: Models
) -> tuple[Record, list[str]] | None:
    """The unit after a change inside of one function; None if it must be compiled as a whole."""
    if not before.text:
        return None
    original = source.path.read_bytes()
    change = _find_change(before, original)
    if change is None:
        return None
    compiled = _compile(source, change.text, toolchain)
    if compiled is None or set(compiled[1]) != set(before.files):
        return None
    record = _merged(source, before, change, compiled[0], project, models)
    if record is None:
        return None
    record = replace(record, text=pack_text(source, original), notice=before.notice)
    return record, list(before.files)


def _find_change(before: Record, original: bytes) -> _Change | None:
    old = zlib.decompress(before.text).decode("utf-8", "surrogateescape").split("\n")
    new = original.decode("utf-8", "surrogateescape").split("\n")
    most = min(len(old), len(new))
    above = next((n for n in range(most) if old[n] != new[n]), most)
    end = next((n for n in range(most - above) if old[-1 - n] != new[-1 - n]), most - above)
    changed = [*old[above : len(old) - end], *new[above : len(new) - end]]
    if _DELICATE.search("\n".join(changed)) or (above and old[above - 1].endswith("\\")):
        return None
    below = len(old) - end + 1
    spans = _spans(before, old)
    name = next((n for n, (first, last) in spans.items() if first <= above and below <= last), None)
    if name is None:
        return None
    distance = len(new) - len(old)
    for other, (first, last) in spans.items():
        if other != name:
            move = distance if first >= below else 0
            new[first + move : last + move - 1] = [""] * (last - first - 1)
    # No caller of a static function is left: something must, or it is left out, too.
    new.append(f"void *raceproof_keeps_it = (void *)&{name};")
    return _Change(name, above, below, distance, "\n".join(new))


def _spans(before: Record, lines: list[str]) -> dict[str, tuple[int, int]]:
    """Functions whose braces open at the end of a line and close on a line of their own."""
    bare = _NOISE.sub(lambda found: "\n" * found[0].count("\n"), "\n".join(lines)).split("\n")
    found = {}
    at = 0
    for name, (_, scope, _) in sorted(before.bodies.items(), key=lambda item: item[1][1]):
        if scope <= at or scope > len(lines) or not lines[scope - 1].rstrip().endswith("{"):
            continue
        depth = 0
        for number in range(scope - 1, len(bare)):
            depth += bare[number].count("{") - bare[number].count("}")
            if depth <= 0:
                break
        at = number + 1
        is_plain = lines[number].strip() == "}" and not _DIRECTIVE.search(
            "\n".join(lines[scope:number])
        )
        if depth == 0 and is_plain:
            found[name] = (scope, number + 1)
    return found


def _compile(source: Source, text: str, toolchain: Toolchain) -> tuple[str, list[str]] | None:
    folder = source.folder or Path.cwd()
    with tempfile.TemporaryDirectory(prefix="raceproof-") as scratch:
        rule = Path(scratch) / "files.d"
        command = [*toolchain.command, *toolchain.flags_for(source)]
        command += ["-iquote", str(source.path.parent), "-MD", "-MF", str(rule)]
        command += ["-S", "-emit-llvm", "-o", "-", "-x", "c", "-"]
        marked = f'# 1 "{source.path}"\n{text}'.encode("utf-8", "surrogateescape")
        done = subprocess.run(command, input=marked, capture_output=True, check=False, cwd=folder)
        if done.returncode or not rule.exists():
            return None
        listed = rule.read_text("utf-8", "surrogateescape")
    files = read_dependencies(listed, folder, toolchain.own_folders)
    return done.stdout.decode("utf-8", "surrogateescape"), [
        str(source.path),
        *(file for file in files if Path(file).is_file()),
    ]


def _merged(
    source: Source,
    before: Record,
    change: _Change,
    text: str,
    project: Project,
    models: Models,
) -> Record | None:
    """The unit as it was, with the changed function put in and all below it moved."""
    from raceproof.frontend.lower_module import read_parts

    file = project.name(source.path)
    module = read_parts(text)
    naming = unit_names(module, file)
    fragments = Fragments(module)
    found = {one.name: one for one in map(fragments.read, module.functions)}
    one = found.get(change.function)
    if one is None or any(name not in before.keys for name in found) or "blockaddress(" in text:
        return None
    body = before.bodies[change.function]
    if _private(one, naming) != body[2] or (one.start, one.scope) != body[:2]:
        return None
    fresh, modelled = outline_some(module, {one.name}, file, project, models, naming)
    unit = Unit.from_tuple(before.unit)
    own = naming(one.name)
    if fresh.outlines[own].file != file or not _take_locals(unit, fresh, one.name):
        return None
    for name, outline in unit.outlines.items():
        if outline.file == file and outline.line >= change.below:
            unit.outlines[name] = outline.moved(outline.line + change.distance)
    unit.outlines[own] = fresh.outlines[own]
    for name, facts in unit.globals.items():
        if facts[5] == file and facts[6] >= change.below:
            unit.globals[name] = (*facts[:6], facts[6] + change.distance)
    unit.globals |= {n: f for n, f in fresh.globals.items() if _is_local_of(n, one.name)}
    unit.types |= fresh.types
    bodies = {
        name: (
            (start + change.distance, scope + change.distance, used)
            if start >= change.below
            else (start, scope, used)
        )
        for name, (start, scope, used) in before.bodies.items()
    }
    return Record(
        unit.to_tuple(),
        tuple(dict.fromkeys((*before.modelled, *modelled))),
        {**before.keys, one.name: one.key},
        bodies,
        files=before.files,
    )


def _take_locals(unit: Unit, fresh: Unit, function: str) -> bool:
    """Forgets the static locals of the function as it was; False if they held addresses."""
    stores = [*unit.stores, *fresh.stores]
    if any(_is_local_of(address[0][1], function) for address, _ in stores):
        return False
    unit.globals = {n: f for n, f in unit.globals.items() if not _is_local_of(n, function)}
    return True


def _is_local_of(name: Any, function: str) -> bool:
    return isinstance(name, str) and name.startswith(f"{function}.")
