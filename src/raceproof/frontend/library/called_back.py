"""Functions of the C library whose address is taken, as functions of the program.

    pthread_key_create(&key, free);
    pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &lock);
    qsort(words, n, sizeof *words, (int (*)(const void *, const void *))strcoll);

Whoever calls such a pointer (the library, at the end of a thread or while it sorts; the program)
calls a function without a body: an engine that enters functions has nothing to enter. So the
address becomes that of a function that does nothing but call the library's:

    void raceproof_call_free(void *p) { free(p); }

Each use of the address is replaced, in every module, so that comparisons of addresses stay true. A
variadic function keeps its own address, as its arguments cannot be handed on, and so does a weak
one, which may be null.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_DECLARED = re.compile(
    r"^declare (?P<head>[^@\n]*?)(?P<type>void|i\d+|ptr|double|float)"
    r" @(?P<name>[A-Za-z_]\w*)\((?P<parameters>[^\n]*)\)[^()\n]*$",
    re.M,
)
_PARAMETER = re.compile(r"(?:i\d+|ptr|double|float)\b")
_ADDRESS = re.compile(r"@([A-Za-z_]\w*)(?![-\w.$(])")
CALLER = "raceproof_call_"


def with_callers(text: str, is_known: Callable[[str], bool]) -> str:
    """The module with a function for each of the library's whose address it takes."""
    declared = {match["name"]: match for match in _DECLARED.finditer(text)}
    taken = {name for name in _ADDRESS.findall(text) if name in declared and is_known(name)}
    made = ((name, _caller(declared[name])) for name in sorted(taken))
    callers = {name: caller for name, caller in made if caller is not None}
    if not callers:
        return text

    def replaced(match: re.Match[str]) -> str:
        return f"@{CALLER}{match[1]}" if match[1] in callers else match[0]

    text = _ADDRESS.sub(replaced, text)
    at = text.index("\ndeclare ") + 1
    return text[:at] + "".join(f"{one}\n\n" for one in callers.values()) + text[at:]


def _caller(match: re.Match[str]) -> str | None:
    if "extern_weak" in match["head"]:
        return None
    types = []
    for parameter in _parts(match["parameters"]):
        type_ = _PARAMETER.match(parameter)
        if type_ is None:
            return None
        types.append(type_[0])
    given = ", ".join(f"{type_} %{number}" for number, type_ in enumerate(types))
    result, name = match["type"], match["name"]
    call = f"call {result} @{name}({given})"
    if result == "void":
        body = f"  {call}\n  ret void"
    else:
        body = f"  %result = {call}\n  ret {result} %result"
    return f"define linkonce_odr {result} @{CALLER}{name}({given}) {{\n{body}\n}}"


def _parts(parameters: str) -> list[str]:
    """The parameters, split at commas outside of parentheses."""
    found, depth, begin = [], 0, 0
    for at, character in enumerate(parameters):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            found.append(parameters[begin:at].strip())
            begin = at + 1
    last = parameters[begin:].strip()
    return [*found, last] if last else found
