"""Which calls never throw: an `invoke` of such a function is a plain call.

Clang writes an `invoke`, with a way to a landing pad, for every call in a scope with something to
clean up, even where the callee cannot throw:

    std::thread t(work);    // pthread_create, wrapped; on the landing pad the argument is destroyed

A way that cannot be taken would look like a race between the clean-up and the new thread. A
function may unwind if it calls one that may, outside of any `invoke`, or resumes what an `invoke`
caught. What is only declared may unwind unless the compiler says `nounwind`. This is a least
fixpoint over the call graph; calls through pointers may always unwind.
"""

from __future__ import annotations

import re

from raceproof.frontend.module_text import FunctionText, ModuleText

_SYMBOL = re.compile(r'@("[^"]*"|[-\w.$]+)\(')
_GROUP = re.compile(r"#\d+")
_INVOKE = re.compile(r"^  (?:%\S+ = )?invoke ")
_CALL = re.compile(r"^  (?:%\S+ = )?(?:tail |musttail |notail )?call ")
_WAYS = re.compile(r'^ +to label (%"[^"]*"|%[-\w.$]+) unwind label \S+?(, !.*)?$')
_ANY = ""
"""An unknown callee."""


def without_idle_invokes(module: ModuleText) -> None:
    """Rewrite the module's functions: calls instead of invokes of what never unwinds."""
    with_invokes = [f for f in module.functions if any(map(_INVOKE.match, f.lines))]
    if not with_invokes:
        return
    unwinding = _Unwinding(module)
    for function in with_invokes:
        function.lines = _rewritten(function.lines, unwinding)


def _rewritten(lines: list[str], unwinding: _Unwinding) -> list[str]:
    found: list[str] = []
    for line in lines:
        ways = _WAYS.match(line)
        if ways and not unwinding.may_unwind(found[-1]):
            found[-1] = found[-1].replace("invoke ", "call ", 1) + (ways[2] or "")
            found.append(f"  br label {ways[1]}")
        else:
            found.append(line)
    return found


class _Unwinding:
    """What may unwind in one module."""

    def __init__(self, module: ModuleText) -> None:
        self._quiet = frozenset(
            key for key, text in module.attributes.items() if "nounwind" in text.split()
        )
        self._may: set[str] = {_ANY}
        for header in module.declarations:
            name = _name(header)
            if not self._is_quiet(header) and not name.startswith("llvm."):
                self._may.add(name)
        causes = {
            _name(f.header): self._causes(f)
            for f in module.functions
            if not self._is_quiet(f.header)
        }
        self._close({name: callees for name, callees in causes.items() if callees})

    def may_unwind(self, call: str) -> bool:
        """Whether the call on this line may unwind."""
        return not self._is_quiet(call) and _name(call) in self._may

    def _is_quiet(self, line: str) -> bool:
        tail = line[line.rfind(")") :]
        return any(group in self._quiet for group in _GROUP.findall(tail)) or "nounwind" in tail

    def _causes(self, function: FunctionText) -> set[str]:
        """The callees that would make the function unwind."""
        called: set[str] = set()
        invoked: set[str] = set()
        resumes = False
        for line in function.lines:
            if _CALL.match(line):
                if not self._is_quiet(line):
                    called.add(_name(line))
            elif _INVOKE.match(line):
                if not self._is_quiet(line):
                    invoked.add(_name(line))
            elif line.startswith("  resume "):
                resumes = True
        return called | invoked if resumes else called

    def _close(self, causes: dict[str, set[str]]) -> None:
        callers: dict[str, list[str]] = {}
        for name, callees in causes.items():
            for callee in callees:
                callers.setdefault(callee, []).append(name)
        work = list(self._may)
        while work:
            for caller in callers.get(work.pop(), ()):
                if caller not in self._may:
                    self._may.add(caller)
                    work.append(caller)


def _name(line: str) -> str:
    """The function that a header or a call names (only a callee's name stands before `(`)."""
    match = _SYMBOL.search(line)
    return match[1].strip('"') if match else _ANY
