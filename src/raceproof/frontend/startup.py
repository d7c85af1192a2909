"""What runs before `main` and after it, and symbols that are bound when the program is loaded.

Put in as code, so that no engine needs to know of it:

- Functions in `.preinit_array`, `.init_array` and `.ctors` are called by a constructor.
- `__attribute__((destructor))`, `.fini_array` and `.dtors` are handed to `atexit` before all else,
  so they run last.
- An `ifunc` is a function that calls what its resolver returned; the resolver is called before all
  constructors.
- A weak symbol that nothing defines is null or not, chosen before all constructors: its address is
  a value that is read where it is used.

    @f = ifunc i32 (i32), ptr @choose             @raceproof_ifunc_f = internal global ptr null
                                                  define i32 @f(i32 %0) { ... load, call ... }
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from raceproof.frontend.module_text import FunctionText, ModuleText

START = "raceproof_load"
"""The function that binds symbols and registers destructors, the first of all constructors."""
INITIALISE = "raceproof_initialise"
"""The function that calls those in `.init_array`, the last of all constructors."""

_MODELS = Path(__file__).parents[1] / "concurrency" / "models"
_SECTION = re.compile(r'section "\.(preinit_array|init_array|ctors|fini_array|dtors)[^"]*"')
_FUNCTION = re.compile(r'ptr (@"[^"]*"|@[-\w.$]+)')
_IFUNC = re.compile(r"\bifunc (?P<result>.*?) \((?P<parameters>.*)\), ptr (?P<resolver>@\S+)")
_NAME = re.compile(r'@("[^"]*"|[-\w.$]+)\(')
_CALLEE = re.compile(r"\b(?:call|invoke)\b")


def add_startup(module: ModuleText) -> None:
    """Puts in the code that the loader and the C library's start files have."""
    first: list[str] = []
    last: list[str] = []
    ends: list[str] = []
    for token, rest in list(module.globals):
        section = _SECTION.search(rest)
        if section is not None:
            names = _FUNCTION.findall(rest)
            if section[1] in ("fini_array", "dtors"):
                ends += names
            else:
                last += names
        elif token == "@llvm.global_dtors":
            ends += [name for name in _FUNCTION.findall(rest) if name != "@null"]
        elif " ifunc " in rest[:200]:
            first += _bind_ifunc(module, token, rest)
    weak = [t for t, rest in module.globals if rest.startswith("extern_weak ")]
    weak += ["@" + _name(d) for d in module.declarations if d.startswith("declare extern_weak ")]
    for token in weak:
        if not _is_modelled(token):
            first += _bind_weak(module, token)
    for name in ends:
        first.append(f"  call i32 @atexit(ptr {name})")
    if ends:
        _declare(module, "declare i32 @atexit(ptr)", "@atexit(")
    if first:
        _define(module, START, first)
    if last:
        _define(module, INITIALISE, [_call(module, name) for name in last])


def _is_modelled(token: str) -> bool:
    """The C library and its kind are there: what has a model is defined."""
    quoted = f'"{_plain(token)}"'
    return any(quoted in path.read_text("utf-8") for path in _MODELS.glob("*.toml"))


def _define(module: ModuleText, name: str, lines: Iterable[str]) -> None:
    module.functions.append(
        FunctionText(f"define internal void @{name}() {{", [*lines, "  ret void"])
    )


def _declare(module: ModuleText, text: str, name: str) -> None:
    known = [f.header for f in module.functions] + module.declarations
    if not any(name in one for one in known):
        module.declarations.append(text)


def _name(header: str) -> str:
    found = _NAME.search(header)
    return found[1] if found is not None else ""


def _call(module: ModuleText, name: str) -> str:
    """The loader hands `argc`, `argv` and `envp` over; most take nothing."""
    header = next((f.header for f in module.functions if f"{name}(" in f.header), f"{name}()")
    types = _parameters(header[header.index(f"{name}(") + len(name) + 1 :])
    return f"  call void {name}({', '.join(f'{type_} undef' for type_ in types)})"


def _parameters(text: str) -> list[str]:
    """The types in a parameter list that is written up to its closing parenthesis."""
    found, depth, begin = [], 0, 0
    for at, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            if depth == 0:
                found.append(text[begin:at])
                break
            depth -= 1
        elif character == "," and depth == 0:
            found.append(text[begin:at])
            begin = at + 1
    else:
        found.append(text[begin:])
    return [part.split()[0] for part in found if part.strip()]


def _plain(token: str) -> str:
    return re.sub(r"\W", "_", token.strip('@"'))


def _bind_ifunc(module: ModuleText, token: str, rest: str) -> list[str]:
    found = _IFUNC.search(rest)
    if found is None:
        return []
    module.globals.remove((token, rest))
    place = f"@raceproof_ifunc_{_plain(token)}"
    module.globals.append((place, "internal global ptr null, align 8"))
    result = found["result"].strip()
    types = _parameters(found["parameters"])
    is_variadic = "..." in types
    types = [type_ for type_ in types if type_ != "..."]
    given = ", ".join(f"{type_} %{number}" for number, type_ in enumerate(types))
    shape = f"{result} ({', '.join([*types, '...'])})" if is_variadic else result
    call = f"call {shape} %f({given})"
    lines = [f"  %f = load ptr, ptr {place}, align 8"]
    lines += [f"  {call}", "  ret void"] if result == "void" else [f"  %r = {call}"]
    if result != "void":
        lines.append(f"  ret {result} %r")
    header = f"define {result} {token}({given}{', ...' if is_variadic else ''}) {{"
    module.functions.append(FunctionText(header, lines))
    resolver, number = found["resolver"], _plain(token)
    return [
        f"  %resolved.{number} = call ptr {resolver}()",
        f"  store ptr %resolved.{number}, ptr {place}, align 8",
    ]


def _bind_weak(module: ModuleText, token: str) -> list[str]:
    """Reads of the address become reads of a value that was chosen; calls stay as they are."""
    place = f"@raceproof_weak_{_plain(token)}"
    use = re.compile(rf"{re.escape(token)}(?![-\w.$])")
    count = 0
    for function in module.functions:
        for at, line in enumerate(function.lines):
            if token not in line or " phi " in line:
                continue
            start = _after_callee(line, token)
            if use.search(line, start) is None:
                continue
            count += 1
            value = f"%weak.{_plain(token)}.{count}"
            changed = line[:start] + use.sub(value, line[start:])
            function.lines[at] = f"  {value} = load ptr, ptr {place}, align 8\n{changed}"
        function.lines = [one for line in function.lines for one in line.split("\n")]
    if not count:
        return []
    module.globals.append((place, "internal global ptr null, align 8"))
    _declare(module, "declare i32 @raceproof_input()", "@raceproof_input(")
    name = _plain(token)
    return [
        f"  %chosen.{name} = call i32 @raceproof_input()",
        f"  %defined.{name} = icmp ne i32 %chosen.{name}, 0",
        f"  %bound.{name} = select i1 %defined.{name}, ptr {token}, ptr null",
        f"  store ptr %bound.{name}, ptr {place}, align 8",
    ]


def _after_callee(line: str, token: str) -> int:
    """Where the arguments of a call of the symbol itself start; else the line's start."""
    if _CALLEE.search(line):
        at = line.find(f"{token}(")
        if at >= 0:
            return at + len(token)
    return 0
