"""Cutting the text of an LLVM module into its parts: globals, functions, metadata.

Nothing is understood here beyond where each part begins and ends; `lower_module` reads them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOP = re.compile(r'^(?P<name>@"[^"]*"|@[-\w.$]+) = ', re.M)
_METADATA = re.compile(r"^(![\w.$-]+) = (?:distinct )?(.*)$", re.M)
_LAYOUT = re.compile(r'^target datalayout = "([^"]*)"', re.M)
_ATTRIBUTES = re.compile(r"^attributes (#\d+) = \{(.*)\}$", re.M)
_STRUCT = re.compile(r'^(%"[^"]*"|%[-\w.$]+) = type (.*)$', re.M)
_ASSEMBLY = re.compile(r'^module asm "(.*)"$', re.M)


@dataclass
class FunctionText:
    header: str
    lines: list[str]


@dataclass
class ModuleText:
    layout: str = ""
    structs: dict[str, str] = field(default_factory=dict)
    globals: list[tuple[str, str]] = field(default_factory=list)
    """(symbol token, the rest of the line)."""
    declarations: list[str] = field(default_factory=list)
    functions: list[FunctionText] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    assembly: str = ""


def split_module(text: str) -> ModuleText:
    """The parts of a module, in their order."""
    module = ModuleText()
    end = text.find("\n!")
    code, tail = (text[: end + 1], text[end + 1 :]) if end >= 0 else (text, "")
    module.metadata = dict(_METADATA.findall(tail))
    position = 0
    rest: list[str] = []
    while True:
        start = code.find("\ndefine ", position)
        if start < 0:
            rest.append(code[position:])
            break
        rest.append(code[position : start + 1])
        close = code.index("\n}", start)
        body = code[start + 1 : close]
        header, _, lines = body.partition("\n")
        module.functions.append(FunctionText(header, lines.split("\n") if lines else []))
        position = close + 2
    top = "".join(rest)
    if match := _LAYOUT.search(top):
        module.layout = match[1]
    module.structs = dict(_STRUCT.findall(top))
    module.attributes = dict(_ATTRIBUTES.findall(top))
    module.assembly = "\n".join(_ASSEMBLY.findall(top))
    for line in top.split("\n"):
        if line.startswith("@"):
            name = _TOP.match(line)
            if name:
                module.globals.append((name["name"], line[name.end() :]))
        elif line.startswith("declare "):
            module.declarations.append(line)
    return module
