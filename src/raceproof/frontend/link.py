"""Several LLVM modules to one, and reading what others compiled (`.ll`, `.bc`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.compiler import check_source

_PRODUCER = re.compile(r'!"(?:.* )?clang version (\d+)')
_TWICE = re.compile(r"symbol multiply defined[:!]? *'?([^'\n]*)'?", re.I)


def read_llvm(path: Path) -> str:
    """The text of a module in a `.ll` or `.bc` file, checked by LLVM."""
    import llvmlite.binding as llvm

    check_source(path)
    try:
        if path.suffix == ".bc":
            module = llvm.parse_bitcode(path.read_bytes())
        else:
            module = llvm.parse_assembly(path.read_text("utf-8", "replace"))
        module.verify()
    except RuntimeError as error:
        raise UserError(f"{path}: not a valid LLVM module: {_first_line(error)}") from error
    return str(module)


def link_modules(texts: Sequence[str], names: Sequence[str]) -> str:
    """One module out of many; two definitions of one function are the user's error."""
    if len(texts) == 1:
        return texts[0]
    import llvmlite.binding as llvm

    _check_versions(texts[0], llvm.llvm_version_info[0])
    linked = None
    for text, name in zip(texts, names, strict=True):
        try:
            module = llvm.parse_assembly(text)
        except RuntimeError as error:
            raise UserError(f"{name}: cannot be linked: {_first_line(error)}") from error
        if linked is None:
            linked = module
            continue
        _check_twice(linked, module, name)
        try:
            linked.link_in(module)
        except RuntimeError as error:
            raise UserError(f"{name}: cannot be linked: {_first_line(error)}") from error
    return str(linked)


def _check_twice(linked: object, module: object, name: str) -> None:
    import llvmlite.binding as llvm

    assert isinstance(linked, llvm.ModuleRef) and isinstance(module, llvm.ModuleRef)
    strong = {"external"}
    defined = {
        f.name for f in linked.functions if not f.is_declaration and f.linkage.name in strong
    }
    for function in module.functions:
        if function.is_declaration or function.linkage.name not in strong:
            continue
        if function.name in defined:
            raise UserError(
                f"{name}: `{function.name}` is defined a second time; "
                "check the files of one program only, or pick them with --target"
            )


def _check_versions(text: str, reader: int) -> None:
    writer = _PRODUCER.search(text)
    if writer and int(writer[1]) > reader:
        raise UserError(
            f"the compiler writes LLVM {writer[1]} but llvmlite reads LLVM {reader}: install "
            "versions of ziglang and llvmlite that belong together (pip install -U raceproof)"
        )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else "unknown error"
