"""The C++ library's inline code put into the functions of the program that call it.

    threads.emplace_back(work, i);      // 60 functions of the library, four calls deep in templates

Compiled without optimisation, a program of thirty lines is a hundred functions of the library that
hand references to temporaries to each other. Every analysis would have to follow these, in contexts
of their own, to learn that `work` runs with `i`. So functions defined in headers of the system are
inlined, and the temporaries, which then nobody else can see, become registers. What is left are the
program's functions, with the library's accesses of shared objects in them; each of these has the
position of the user's call (`Positions`), which is where a report should point.

Why this changes no race. Inlining moves no instruction before another. LLVM's SROA replaces stack
slots whose address goes nowhere; no other thread can access those. Copies between such a slot and
memory become loads and stores of its parts: the same bytes without padding, which nobody can
observe. SROA may load both sides of a `select` between addresses where the program loads one; Clang
writes a branch there when it does not optimise, and a module that has such a `select` is left
unpromoted. A slot of an inlined function is one object for all calls in a loop, whereas each call
has a fresh one; where a thread keeps the address of a slot longer than the call lasts, that is an
error of the library, and then they are the same memory in fact.

Functions that call themselves or that are large and called often stay; one that a model overrides
becomes a declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from raceproof.frontend.cplusplus.several_locks import lock_each

_FILE = re.compile(r'^(![0-9]+) = !DIFile\(filename: "([^"]*)"(?:, directory: "([^"]*)")?', re.M)
_SUBPROGRAM = re.compile(r"^(![0-9]+) = distinct !DISubprogram\([^\n]*?\bfile: (![0-9]+)", re.M)
_DEFINITION = re.compile(r'^define [^@\n]*@("[^"]*"|[-\w.$]+)\([^\n]*\{$', re.M)
_LINKAGE = re.compile(
    r"^define (?:(?:linkonce_odr|weak_odr|linkonce|weak|internal|private|dso_local|hidden) )*"
)
_DEBUG = re.compile(r"!dbg (![0-9]+)")
_CALLED = re.compile(r'\b(?:call|invoke) [^@\n]*?@("[^"]*"|[-\w.$]+)\(')
_NOINLINE = re.compile(r"^(attributes #\d+ = \{[^\n]*?) ?\bnoinline\b", re.M)
_GROUP = re.compile(r" (#\d+)(?= |$)")
_CHOICE_OF_ADDRESSES = re.compile(r"^  %\S+ = select i1 [^,\n]*, ptr ", re.M)
_LIFETIME = re.compile(r"^  call void @llvm\.lifetime\.[^\n]*\n", re.M)
_COPIED_SCOPE = re.compile(r"^  (?:tail )?call void @llvm\.experimental\.noalias[^\n]*\n", re.M)

_CREATE = re.compile(
    r"^  (?P<result>%\d+) = call i32 @pthread_create\([^\n]*\n"
    r"(?:(?!\}).*\n)*?  ret i32 (?P=result)",
    re.M,
)
"""In a function that only hands on what pthread_create returned."""

_LARGE = 1500
"""Lines of a function, with what is inlined into it, from which on it stays if called often."""
_OFTEN = 4
_LARGEST = 20000


@dataclass(slots=True)
class _Definition:
    start: int
    """Of the header in the text."""
    end: int
    lines: int
    is_library: bool
    callees: list[str] = field(default_factory=list)


def is_cxx(text: str) -> bool:
    """Does the module use C++'s library?"""
    return "@_ZNSt" in text or "@_ZSt" in text or "@_ZNKSt" in text


def inline_library(text: str, places: Sequence[str], is_overridden: Callable[[str], bool]) -> str:
    """The module with the functions that headers in `places` define inlined."""
    text = lock_each(_without_overridden(text, is_overridden))
    definitions = _definitions(text, tuple(places))
    chosen = _chosen(definitions)
    if not chosen:
        return text
    marked = "".join(_marked(text, [definitions[name] for name in chosen]))
    return _run_passes(_CREATE.sub(_succeeding, marked))


def _succeeding(function: re.Match[str]) -> str:
    """A thread can be created: the library need not clean up and throw (`returns` in the model)."""
    return re.sub(rf"{function['result']}(?!\d)", "0", function[0]).replace(
        "  0 = call", f"  {function['result']} = call", 1
    )


def _without_overridden(text: str, is_overridden: Callable[[str], bool]) -> str:
    """Functions whose models count, whatever they do, become declarations."""
    found: list[str] = []
    position = 0
    for match in _DEFINITION.finditer(text):
        if match.start() >= position and is_overridden(match[1].strip('"')):
            end = text.index("\n}\n", match.end()) + 3
            header = _LINKAGE.sub("declare ", match[0], count=1)
            cut = _after_parameters(header, header.index(f"@{match[1]}(") + len(match[1]) + 1)
            found += [text[position : match.start()], header[:cut], "\n"]
            position = end
    return "".join(found) + text[position:]


def _after_parameters(header: str, at: int) -> int:
    depth = 0
    for index in range(at, len(header)):
        depth += (header[index] == "(") - (header[index] == ")")
        if depth == 0:
            return index + 1
    return len(header)


def _definitions(text: str, places: tuple[str, ...]) -> dict[str, _Definition]:
    files = {
        key for key, name, folder in _FILE.findall(text) if _path(name, folder).startswith(places)
    }
    inside = {key for key, file in _SUBPROGRAM.findall(text) if file in files}
    found: dict[str, _Definition] = {}
    for match in _DEFINITION.finditer(text):
        end = text.index("\n}", match.end())
        body = text[match.end() : end]
        debug = _DEBUG.search(match[0])
        is_library = debug[1] in inside if debug else match[1] == "__clang_call_terminate"
        found[match[1]] = _Definition(
            match.start(), match.end(), body.count("\n"), is_library, _CALLED.findall(body)
        )
    return found


def _path(name: str, folder: str) -> str:
    return name if name.startswith("/") or not folder else f"{folder}/{name}"


def _chosen(definitions: dict[str, _Definition]) -> list[str]:
    """What to inline: no circle of calls is inlined as a whole, and no large function often."""
    calls: dict[str, int] = {}
    for one in definitions.values():
        for callee in one.callees:
            calls[callee] = calls.get(callee, 0) + 1
    sizes: dict[str, int] = {}
    chosen: list[str] = []
    for name, is_recursive in _callees_first(definitions):
        one = definitions[name]
        size = one.lines + sum(sizes.get(callee, 0) for callee in one.callees)
        if not one.is_library or is_recursive or size > _LARGEST or name not in calls:
            continue
        if size > _LARGE and calls[name] > _OFTEN:
            continue
        sizes[name] = size
        chosen.append(name)
    return chosen


def _callees_first(definitions: dict[str, _Definition]) -> Iterator[tuple[str, bool]]:
    """All functions, callees before callers; with whether a callee of theirs may call them."""
    done: set[str] = set()
    recursive: set[str] = set()
    for root in definitions:
        if root in done:
            continue
        on_stack = {root}
        stack = [(root, iter(definitions[root].callees))]
        while stack:
            name, callees = stack[-1]
            for callee in callees:
                if callee in on_stack:
                    recursive.add(callee)
                elif callee in definitions and callee not in done:
                    on_stack.add(callee)
                    stack.append((callee, iter(definitions[callee].callees)))
                    break
            else:
                stack.pop()
                on_stack.discard(name)
                done.add(name)
                yield name, name in recursive


def _marked(text: str, chosen: Sequence[_Definition]) -> Iterator[str]:
    position = 0
    for one in sorted(chosen, key=lambda one: one.start):
        yield text[position : one.start]
        yield _GROUP.sub(r" alwaysinline \1", text[one.start : one.end], count=1)
        position = one.end
    yield text[position:]


def _run_passes(text: str) -> str:
    import llvmlite.binding as llvm

    from raceproof.frontend.library import target_machine

    module = llvm.parse_assembly(_NOINLINE.sub(r"\1", text))
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    if not _CHOICE_OF_ADDRESSES.search(text):
        passes.add_sroa_pass()
        passes.add_sccp_pass()
    passes.add_strip_dead_prototype_pass()
    builder = llvm.create_pass_builder(
        target_machine(module.triple), llvm.create_pipeline_tuning_options()
    )
    passes.run(module, builder)
    return _COPIED_SCOPE.sub("", _LIFETIME.sub("", str(module)))
