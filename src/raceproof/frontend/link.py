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


def link_modules(texts: Sequence[str], names: Sequence[str], *, is_lenient: bool = False) -> str:
    """One module out of many; two definitions of one function are the user's error.

    `is_lenient`: or they come from a library of which the linker takes only what it needs; the
    first one counts, as it does there.
    """
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
        twice = _defined_twice(linked, module)
        if twice and is_lenient and "main" not in twice:
            module = llvm.parse_assembly(_weakened(text, twice))
        elif twice:
            raise UserError(
                f"{name}: `{min(twice)}` is defined a second time; "
                "check the files of one program only, or pick them with --target"
            )
        try:
            linked.link_in(module)
        except RuntimeError as error:
            raise UserError(f"{name}: cannot be linked: {_first_line(error)}") from error
    return str(linked)


def _defined_twice(linked: object, module: object) -> set[str]:
    """The names that both define; of variables those only that have a value."""
    import llvmlite.binding as llvm

    assert isinstance(linked, llvm.ModuleRef)
    assert isinstance(module, llvm.ModuleRef)
    first, second = (
        {
            one.name
            for many in (m.functions, m.global_variables)
            for one in many
            if not one.is_declaration and one.linkage.name == "external"
        }
        for m in (linked, module)
    )
    return first & second


def _weakened(text: str, names: set[str]) -> str:
    """The module with definitions that give way to others of the same name."""
    found = "|".join(re.escape(name) for name in sorted(names))
    text = re.sub(rf'^define (?=[^@\n]*@"?(?:{found})"?\()', "define weak ", text, flags=re.M)
    return re.sub(rf'^(@"?(?:{found})"? = )', r"\1weak ", text, flags=re.M)


def _check_versions(text: str, reader: int) -> None:
    writer = _PRODUCER.search(text)
    if writer and int(writer[1]) > reader:
        raise UserError(
            f"the compiler writes LLVM {writer[1]} but llvmlite reads LLVM {reader}: install "
            "versions of ziglang and llvmlite that belong together (pip install -U raceproof)"
        )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else "unknown error"
