"""Bodies of C library functions, linked to the programs that call them.

    for (char *s = strtok(text, " "); s; s = strtok(NULL, " ")) ...

What `strtok` does depends on what it kept at the call before. No list of reads and writes says
that, and each engine would have to know it for itself. So such functions have bodies, written in C
beside this file, and the program is analysed together with them: whatever an engine can say about
a program's own code it can say about them, and the values that they keep, the pointers that they
hand out and the hidden objects that they race on are followed like any others.

A function that only computes (`ffs`, `htons`, `toupper`) has a body, too, so that every engine
knows its value.

A body file starts with comments that say what it is for and when it is linked:

    // when: putenv setenv        the program mentions one of these
    // not: setlocale             and none of these
    // define: MASKS if sigmask   this macro is set if it mentions one of those

A function that the program defines itself stays as it is (the bodies are weak). The bodies are
compiled without debug information and inlined, so that an access has the position of the call.

A body may ask `raceproof_unspecified()` for what the standards leave open: a value that no thread
chooses. A race that depends on one is possible, never confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.frontend.compiler import compile_source
from raceproof.frontend.library.called_back import with_callers
from raceproof.frontend.library.insertions import (
    check_arguments,
    compare_addresses,
    insert_after,
    kept_pointers,
    model_insertions,
    model_texts,
    slug,
    touches_once_controls,
)
from raceproof.frontend.source import Source
from raceproof.options import DataModel, Options

if TYPE_CHECKING:
    from llvmlite.binding import TargetMachine

PREFIX = "raceproof_"
"""Of names that stand for no function or object of the C library itself."""

_FOLDER = Path(__file__).parent
_KEPT = _FOLDER / "kept.c"
_WHEN = re.compile(r"^// when: (.*)$", re.M)
_NOT = re.compile(r"^// not: (.*)$", re.M)
_DEFINE = re.compile(r"^// define: (\w+) if (.*)$", re.M)
_UNDEFINED = re.compile(
    r'^(?:declare [^@\n]*@|@)("[^"]*"|[-\w.$]+)(?:\(| = (?:external|extern_weak) )', re.M
)
_FREES = re.compile(r"@(?:free|cfree|realloc|reallocarray|munmap|g_free|xfree|_ZdlPv\w*)\(")
_DEFINED = re.compile(r'^define [^@\n]*@("[^"]*"|[-\w.$]+)\(', re.M)
_LIFETIME = re.compile(r"^  call void @llvm\.lifetime\.[^\n]*\n", re.M)
_POINTER_32 = re.compile(r'^target datalayout = "[^"]*\bp:32:', re.M)


@dataclass(frozen=True, slots=True)
class Body:
    """A file of bodies, and the names whose mention asks for it."""

    path: Path
    when: frozenset[str]
    unless: frozenset[str] = frozenset()
    """Names whose mention leaves open what the functions do."""
    defines: tuple[tuple[str, frozenset[str]], ...] = ()
    """Macros, each with the names whose mention defines it."""

    def macros(self, mentioned: frozenset[str]) -> tuple[str, ...]:
        return tuple(f"-D{macro}" for macro, names in self.defines if names & mentioned)


@cache
def body_files() -> tuple[Body, ...]:
    """All files of bodies."""
    return tuple(_body(path) for path in sorted(_FOLDER.glob("*.c")) if path != _KEPT)


def _body(path: Path) -> Body:
    text = path.read_text("utf-8")
    return Body(
        path,
        frozenset(word for line in _WHEN.findall(text) for word in line.split()),
        frozenset(word for line in _NOT.findall(text) for word in line.split()),
        tuple((macro, frozenset(names.split())) for macro, names in _DEFINE.findall(text)),
    )


@cache
def body_names() -> frozenset[str]:
    """All functions that some file has a body for."""
    pattern = re.compile(r"^LIBRARY\b[^(;]*?\b(\w+)\(", re.M)
    return frozenset(
        name
        for body in body_files()
        for name in pattern.findall(body.path.read_text("utf-8"))
        if not name.startswith(PREFIX)
    )


def _is_modelled(name: str) -> bool:
    return name in body_names() or f'"{name}"' in model_texts()


def library_for(texts: Sequence[str], options: Options) -> tuple[list[str], str]:
    """The modules with the calls that the bodies need put in, and the module of the bodies.

    The latter is empty if the program needs none.
    """
    texts = [with_callers(text, _is_modelled) for text in texts]
    texts = [check_arguments(text) for text in texts]
    if any(_FREES.search(text) for text in texts):
        texts = [compare_addresses(text) for text in texts]
    mentioned = frozenset(name.strip('"') for text in texts for name in _UNDEFINED.findall(text))
    if touches_once_controls(texts):
        mentioned |= {f"{PREFIX}once"}
    wanted = [
        Source(body.path, body.macros(mentioned))
        for body in body_files()
        if body.when & mentioned and not body.unless & mentioned
    ]
    insertions = model_insertions(mentioned, options.models)
    kept = {name for one in insertions.values() for _, name in one.keeps}
    wanted += [Source(_KEPT, (f"-DKEPT={slug(name)}",)) for name in sorted(kept)]
    if not wanted:
        return list(texts), ""
    stems = {source.path.stem for source in wanted}
    kept |= {one.name for one in kept_pointers() if one.body in stems}
    if "errno" not in stems:
        insertions = {name: replace(one, errno="") for name, one in insertions.items()}
    return [insert_after(text, insertions, frozenset(kept)) for text in texts], _compiled(
        wanted, options, texts[0]
    )


def _compiled(wanted: Sequence[Source], options: Options, text: str) -> str:
    from raceproof.frontend.link import link_modules
    from raceproof.frontend.toolchain import Toolchain

    model = DataModel.ILP32 if _POINTER_32.search(text) else DataModel.LP64
    plain = replace(options, data_model=model, include_dirs=(), defines=(), clang_args=(), std=None)
    toolchain = Toolchain(plain)
    always = ("-g0", "-include", str(_FOLDER / "bodies.h"))
    modules = [
        compile_source(replace(source, flags=(*always, *source.flags)), toolchain).text
        for source in wanted
    ]
    linked = link_modules(modules, [str(source.path) for source in wanted])
    return re.sub(r"^define weak ", "define weak_odr ", linked, flags=re.M)


def inlined(linked: str, library: str) -> str:
    """The linked module with the bodies of `library` at their calls, and none left over."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(linked)
    machine = target_machine(module.triple)
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    text = _LIFETIME.sub("", str(module))
    names = frozenset(_DEFINED.findall(library))
    return _without_unused(text, names)


def target_machine(triple: str) -> TargetMachine:
    """What passes are run for."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    return llvm.Target.from_triple(triple or llvm.get_default_triple()).create_target_machine()


def _without_unused(text: str, names: frozenset[str]) -> str:
    """Drops the bodies that nothing refers to, and then what only they referred to."""
    while True:
        unused = {name for name in names if _mentions(text, name) == 1}
        if not unused:
            return text
        names -= unused
        text = "".join(_kept(text, unused))


def _mentions(text: str, name: str) -> int:
    return len(re.findall(rf"@{re.escape(name)}(?![-\w.$])", text))


def _kept(text: str, unused: set[str]) -> Iterator[str]:
    position = 0
    for match in _DEFINED.finditer(text):
        if match[1] in unused:
            yield text[position : match.start()]
            position = text.index("\n}", match.start()) + 3
    yield text[position:]
