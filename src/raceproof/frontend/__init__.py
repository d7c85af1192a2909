"""C, C++ and LLVM files to a `Program`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.errors import UserError
from raceproof.frontend.compiler import Translation, compile_source
from raceproof.frontend.selection import Selection, select
from raceproof.frontend.source import LLVM_SUFFIXES, Source
from raceproof.frontend.toolchain import Toolchain
from raceproof.options import MemoryModel, Options

if TYPE_CHECKING:
    from raceproof.frontend.assembling import Assembly
    from raceproof.ir import Function, Origin, Program, UnitOrigin

__all__ = ["Selection", "Source", "compile_text", "load_program", "load_selection"]


def load_program(files: Sequence[Path], options: Options) -> Program:
    """The program that these files, or one program of a build, make."""
    return load_selection(select(files, options), options)


def load_selection(selection: Selection, options: Options) -> Program:
    """The program that these translation units make."""
    from raceproof.frontend.assembling import assemble
    from raceproof.frontend.library import inlined, library_for
    from raceproof.frontend.link import link_modules
    from raceproof.frontend.lower_module import lower_module

    assembly = assemble(selection, options, compile_text)
    names = [str(source.path) for source in assembly.modules]
    texts, library = library_for([made.text for made in assembly.modules.values()], options)
    extra, said = ([library], ["the C library"]) if library else ([], [])
    text = link_modules([*texts, *extra], [*names, *said], is_lenient=selection.is_build)
    if library:
        text = inlined(text, library)
    text = _without_library_calls(text, assembly, options)
    program = lower_module(text, names, options.entry or "main")
    _check_entry(program, options)
    origin = _origin(selection, assembly, options)
    thrown = _thrown_from_outside(text)
    program = replace(program, origin=replace(origin, left_out=(*origin.left_out, *thrown)))
    return with_orders(program, options)


def _thrown_from_outside(text: str) -> tuple[str, ...]:
    """Which exceptions nobody has looked at, as phrases."""
    if "@raceproof_thrown" not in text:
        return ()
    from raceproof.frontend.cplusplus.exceptions import foreign_throwers
    from raceproof.frontend.declarations import scoped

    names = ["::".join(scoped(name)) or name for name in foreign_throwers(text)]
    return (f"exceptions that `{'`, `'.join(names[:4])}` may throw",) if names else ()


def _without_library_calls(text: str, assembly: Assembly, options: Options) -> str:
    """With the inline functions of the C++ library inlined, if the program uses any."""
    from raceproof.frontend.cplusplus.inlining import inline_library, is_cxx

    if not is_cxx(text):
        return text
    from raceproof.frontend.cplusplus.overridden import overridden

    return inline_library(text, _system_places(assembly, options), overridden(options.models))


def _system_places(assembly: Assembly, options: Options) -> tuple[str, ...]:
    """Folders of headers that are not the project's."""
    toolchain = Toolchain(options)
    return tuple(
        os.path.join(folder, "")
        for source in assembly.modules
        for folder in toolchain.system_folders(source)
    )


def with_orders(program: Program, options: Options) -> Program:
    """The program with what its memory orders leave open, under the memory model asked for."""
    from raceproof.ir.memory_order import has_weak_orders, unordered_reads

    if options.memory_model is MemoryModel.SC or not has_weak_orders(program):
        return program
    assumed = "atomic operations are seen in the order in which they are executed"
    return replace(
        program,
        unordered=unordered_reads(program),
        assumptions=(*program.assumptions, assumed),
    )


def _origin(selection: Selection, assembly: Assembly, options: Options) -> Origin:
    from raceproof.ir import Origin

    toolchain = Toolchain(options)
    folders = (f for source in assembly.modules for f in toolchain.system_folders(source))
    return Origin(
        selection.is_build,
        tuple(_units(assembly)),
        tuple(dict.fromkeys(folders)),
        len(assembly.failed),
        (
            *selection.left_out,
            *(f"{source.path}, which does not compile" for source in assembly.failed),
        ),
        (*selection.notices, *toolchain.notices(assembly.modules), *assembly.notices()),
    )


def _units(assembly: Assembly) -> Iterator[UnitOrigin]:
    from raceproof.frontend.symbols import defined_functions, undefined_functions
    from raceproof.ir import UnitOrigin

    texts = [made.text for made in assembly.modules.values()]
    defined = frozenset(name for text in texts for name in defined_functions(text))
    for source, made in assembly.modules.items():
        yield UnitOrigin(
            str(source.folder or Path.cwd()),
            made.preprocess,
            frozenset(undefined_functions(made.text) - defined),
            source.is_cxx,
        )


def compile_text(source: Source, toolchain: Toolchain, *extra: str) -> Translation:
    """The LLVM text of one translation unit, whatever its kind; `extra` are further flags."""
    if source.path.suffix in LLVM_SUFFIXES:
        from raceproof.frontend.link import read_llvm

        return Translation(read_llvm(source.path))
    return compile_source(source, toolchain, *extra)


def _check_entry(program: Program, options: Options) -> None:
    entry = program.functions.get(program.entry)
    if entry is not None and entry.is_defined:
        return
    if options.engine == "summary" and not options.entry:
        return  # a library: this engine takes every visible function for a thread
    possible = _possible_entries(program)
    hint = f"; possible entries: {', '.join(possible)}" if possible else ""
    if options.entry:
        raise UserError(f"--entry {options.entry}: the program defines no such function{hint}")
    raise UserError(
        "the program has no `main`: name the function it starts with --entry, "
        f"or check it as a library with --engine summary{hint}"
    )


def _possible_entries(program: Program) -> list[str]:
    """Functions that are not called by name, those visible from outside first."""
    from raceproof.ir.cfg import direct_calls

    called = {name for f in program.defined for _, name in direct_calls(f)}
    uncalled = [f for f in program.defined if f.name not in called] or list(program.defined)

    def order(function: Function) -> tuple[bool, str]:
        return not function.is_external, function.name

    names = [f.name for f in sorted(uncalled, key=order)]
    return names[:8] + (["..."] if len(names) > 8 else [])
