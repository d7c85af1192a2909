"""Exceptions as plain control flow, so that no engine needs to know of them.

    invoke void @f() to label %on unwind label %pad      call void @f()
                                                         %t = load ptr, ptr @raceproof_thrown
                                                         br (%t is not null), %pad, %on

A function that throws stores the exception's record in a variable of the thread and returns; a
caller that has nothing to do returns, too, and one with a landing pad goes there. The pad takes the
record, compares its type with those that are caught, and gives a number to the code behind it, as
the C++ runtime would. `resume` stores the record again and returns. An exception that leaves `main`
or a thread's first function ends the process. The runtime's functions have bodies
(`library/cxx_exceptions.c`).

Only calls that may throw are looked at. A function throws if it calls one that does, outside of an
`invoke`, or resumes what an `invoke` caught: a least fixpoint that starts at the functions of the
runtime. A call through a pointer throws if a function does whose address is taken. Functions that
are only declared do not throw: what is in the C library does not, and `new` succeeds as `malloc`
does. In a program that throws nothing itself, invokes of functions that nobody knows stay what they
are, for the engines to take both ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from raceproof.frontend.cplusplus.type_information import Hierarchy
from raceproof.frontend.module_text import FunctionText, ModuleText, split_module

THROWN = "@raceproof_thrown"
_STARTS = re.compile(
    r"__cxa_throw|__cxa_rethrow|_ZSt17rethrow_exception\w*|_ZN?St\w*__throw_system_error\w*"
)
_FOREIGN = re.compile(r"_Z(?!N?K?S[tabsiod]|n[wa]|d[la]|T)")
_SYMBOL = re.compile(r'@("[^"]*"|[-\w.$]+)\(')
_ADDRESS = re.compile(r'@("[^"]*"|[-\w.$]+)(?!["\w.$(-])')
_CALL = re.compile(r"^  (?:%\S+ = )?(?:tail |musttail |notail )?call ")
_INVOKE = re.compile(r"^  (?:%\S+ = )?invoke ")
_WAYS = re.compile(r'^ +to label (%"[^"]*"|%[-\w.$]+) unwind label (%"[^"]*"|%[-\w.$]+)(, !.*)?$')
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_PAD = re.compile(r"^  (%\S+) = landingpad ")
_CLAUSE = re.compile(r"^ +(cleanup|catch ptr (\S+?)|filter .*?)(?:, !dbg.*)?$")
_TYPE_NUMBER = re.compile(
    r"^  (%\S+) = (?:tail )?call i32 @llvm\.eh\.typeid\.for(?:\.p0)?\(ptr (@\S+)\)"
)
_RESUME = re.compile(r"^  resume \{ ptr, i32 \} ([^,\s]+)")
_RESULT = re.compile(r'(\{[^{}]*\}|\[[^\]]*\]|<[^>]*>|\S+) @(?:"[^"]*"|[-\w.$]+)\(')
_GROUP = re.compile(r" #\d+(?=,|$| )")
_INCOMING = re.compile(r'(\[ [^\[\]]*?, )(%"[^"]*"|%[-\w.$]+)( \])')
_THREAD = re.compile(
    r'@(?:pthread_create|thrd_create)\([^\n]*?ptr (?:noundef )?@("[^"]*"|[-\w.$]+)'
)
_DEBUG = re.compile(r", !dbg ![0-9]+")
_ANY = ""


def has_exceptions(module: ModuleText) -> bool:
    """Was the runtime's body linked in?"""
    return any(token == THROWN for token, _ in module.globals)


def may_be_thrown(module: ModuleText) -> bool:
    """May something throw, although the runtime's body was not linked in?

    A function of the runtime, or one that is neither the library's nor has a body.
    """
    return any(
        _STARTS.fullmatch(name) or (_FOREIGN.match(name) and not _is_quiet(header, module))
        for header in module.declarations
        for name in (_name(header),)
    )


def foreign_throwers(text: str) -> tuple[str, ...]:
    """Functions without a body that may throw into a program whose exceptions are branches.

    They are taken not to, so a proof must not rest on handlers that only they lead to.
    """
    if THROWN not in text:
        return ()
    module = split_module(text)
    return tuple(
        name
        for header in module.declarations
        for name in (_name(header),)
        if _FOREIGN.match(name) and not _is_quiet(header, module)
    )


def lower_exceptions(module: ModuleText) -> None:
    """Rewrites all functions that may throw, catch or clean up."""
    throwing = _throwing(module)
    hierarchy = Hierarchy(module)
    entries = {"main"} | {name for f in module.functions for name in _thread_entries(f)}
    for function in module.functions:
        name = _name(function.header)
        if name in throwing or any(map(_INVOKE.match, function.lines)):
            if _STARTS.fullmatch(name) and not any(map(_INVOKE.match, function.lines)):
                function.header = _returning(function.header)
                if not any(_throws(line, throwing) for line in function.lines):
                    continue  # the runtime's own
            _Rewriting(function, throwing, hierarchy, name in entries).run()
    if not any("@_ZSt9terminatev(" in f.header for f in module.functions) and not any(
        "@_ZSt9terminatev(" in one for one in module.declarations
    ):
        module.declarations.append("declare void @_ZSt9terminatev()")


def _thread_entries(function: FunctionText) -> Iterator[str]:
    for line in function.lines:
        if "_create(" in line:
            yield from (name.strip('"') for name in _THREAD.findall(line))


# --- what may throw ---------------------------------------------------------


def _throwing(module: ModuleText) -> frozenset[str]:
    calls = {_name(f.header): frozenset(_escaping(f)) for f in module.functions}
    found = {name for name in calls if _STARTS.fullmatch(name)}
    _close(found, calls)
    if not found.isdisjoint(_addresses(module)):
        found.add(_ANY)
        _close(found, calls)
    quiet = {_name(f.header) for f in module.functions if _is_quiet(f.header, module)}
    starts = {name for name in found if _STARTS.fullmatch(name)}
    return frozenset(found - (quiet - starts))


def _is_quiet(header: str, module: ModuleText) -> bool:
    groups = re.findall(r"#\d+", header[header.rfind(")") :])
    return any("nounwind" in module.attributes.get(group, "").split() for group in groups)


def _escaping(function: FunctionText) -> Iterator[str]:
    """The callees whose exceptions leave the function."""
    invoked: list[str] = []
    resumes = False
    for line in function.lines:
        if _CALL.match(line):
            yield _name(line)
        elif _INVOKE.match(line):
            invoked.append(_name(line))
        elif line.startswith("  resume "):
            resumes = True
    if resumes:
        yield from invoked


def _close(found: set[str], calls: dict[str, frozenset[str]]) -> None:
    callers: dict[str, list[str]] = {}
    for name, callees in calls.items():
        for callee in callees:
            callers.setdefault(callee, []).append(name)
    work = list(found)
    while work:
        for caller in callers.get(work.pop(), ()):
            if caller not in found:
                found.add(caller)
                work.append(caller)


def _addresses(module: ModuleText) -> set[str]:
    found = {name.strip('"') for _, rest in module.globals for name in _ADDRESS.findall(rest)}
    for function in module.functions:
        for line in function.lines:
            if "@" in line:
                found.update(name.strip('"') for name in _ADDRESS.findall(line))
    return found


def _name(line: str) -> str:
    match = _SYMBOL.search(line)
    return match[1].strip('"') if match else _ANY


def _throws(line: str, throwing: frozenset[str]) -> bool:
    if not (_CALL.match(line) or _INVOKE.match(line)) or " asm " in line:
        return False
    return _name(line) in throwing and "@llvm." not in line


def _returning(line: str) -> str:
    """Without attributes that say that a call does not return."""
    head, parenthesis, tail = line.rpartition(")")
    if _name(line) == _ANY and not parenthesis:
        return line
    return head + parenthesis + _GROUP.sub("", tail)


# --- one function -----------------------------------------------------------


class _Rewriting:
    def __init__(
        self,
        function: FunctionText,
        throwing: frozenset[str],
        hierarchy: Hierarchy,
        is_entry: bool,
    ) -> None:
        self._function = function
        self._throwing = throwing
        self._hierarchy = hierarchy
        self._is_entry = is_entry
        self._lines: list[str] = []
        self._count = 0
        self._block = _entry_label(function)
        self._ends: dict[str, str] = {}
        """For each block of the old function the label of its last part."""
        self._part = self._block
        self._leaves = False
        self._debug = ""

    def run(self) -> None:
        function = self._function
        if _name(function.header) in self._throwing:
            function.header = _returning(function.header)
        lines = iter(_whole(function.lines))
        for line in lines:
            self._line(line)
        self._ends[self._block] = self._part
        if self._leaves:
            self._lines += self._exit()
        function.lines = [self._with_parts(line) for line in self._lines]

    def _line(self, line: str) -> None:
        label = _LABEL.match(line)
        if label:
            self._ends[self._block] = self._part
            self._block = self._part = "%" + label[1]
            self._lines.append(line)
            return
        debug = _DEBUG.search(line)
        self._debug = debug[0] if debug else ""
        if _INVOKE.match(line):
            self._invoke(line)
        elif _throws(line, self._throwing):
            self._call(line)
        elif _PAD.match(line):
            self._pad(line)
        elif match := _TYPE_NUMBER.match(line):
            number = self._hierarchy.number(match[2])
            self._lines.append(f"  {match[1]} = add i32 0, {number}")
        elif match := _RESUME.match(line):
            record = self._fresh("resumed")
            self._lines += [
                f"  {record} = extractvalue {{ ptr, i32 }} {match[1]}, 0{self._debug}",
                f"  store ptr {record}, ptr {THROWN}, align 8{self._debug}",
                f"  br label {self._exit_label()}{self._debug}",
            ]
        else:
            self._lines.append(line)

    def _fresh(self, word: str) -> str:
        self._count += 1
        return f"%{word}.{self._count}"

    def _exit_label(self) -> str:
        self._leaves = True
        return "%raceproof.unwound"

    def _test(self, thrown: str, normal: str) -> None:
        record, is_thrown = self._fresh("thrown"), self._fresh("is.thrown")
        self._lines += [
            f"  {record} = load ptr, ptr {THROWN}, align 8{self._debug}",
            f"  {is_thrown} = icmp ne ptr {record}, null{self._debug}",
            f"  br i1 {is_thrown}, label {thrown}, label {normal}{self._debug}",
        ]

    def _invoke(self, line: str) -> None:
        call, _, ways = line.partition("\n")
        match = _WAYS.match(ways)
        assert match is not None, ways
        call = call.replace("invoke ", "call ", 1)
        if _throws(call, self._throwing):
            self._lines.append(_returning(call) + self._debug)
            self._test(match[2], match[1])
        else:
            self._lines.append(call + self._debug)
            self._lines.append(f"  br label {match[1]}{self._debug}")

    def _call(self, line: str) -> None:
        self._lines.append(_returning(line))
        following = self._fresh("after.call")
        self._test(self._exit_label(), following)
        self._lines.append(f"{following[1:]}:")
        self._part = following

    def _pad(self, text: str) -> None:
        match = _PAD.match(text)
        assert match is not None
        record = self._fresh("record")
        lines = [
            f"  {record} = load ptr, ptr {THROWN}, align 8",
            f"  store ptr null, ptr {THROWN}, align 8",
        ]
        place, type_ = self._fresh("place"), self._fresh("type")
        number = "0"
        clauses = [c for line in text.split("\n")[1:] if (c := _CLAUSE.match(line))]
        if any(clause[2] or clause[1].startswith("filter") for clause in clauses):
            lines.append(f"  {place} = getelementptr i8, ptr {record}, i64 8")
            lines.append(f"  {type_} = load ptr, ptr {place}, align 8")
            offset_at = self._fresh("place")
            offset = "0"
            for clause in reversed(clauses):
                if clause[1].startswith("filter"):
                    number = "-1"
                elif clause[2] == "null":
                    number, offset = str(self._hierarchy.number("null")), "0"
                elif clause[2]:
                    number, offset = self._clause(lines, clause[2], type_, number, offset)
            if offset != "0":
                lines.append(f"  {offset_at} = getelementptr i8, ptr {record}, i64 40")
                lines.append(f"  store i64 {offset}, ptr {offset_at}, align 8")
        first = self._fresh("pair")
        lines.append(f"  {first} = insertvalue {{ ptr, i32 }} undef, ptr {record}, 0")
        lines.append(f"  {match[1]} = insertvalue {{ ptr, i32 }} {first}, i32 {number}, 1")
        self._lines += [line + self._debug for line in lines]

    def _clause(
        self, lines: list[str], caught: str, type_: str, number: str, offset: str
    ) -> tuple[str, str]:
        """Behind all comparisons with the types that the clause catches."""
        own = self._hierarchy.number(caught)
        for derived, base_offset in self._hierarchy.derived(caught):
            same, chosen = self._fresh("same"), self._fresh("number")
            lines.append(f"  {same} = icmp eq ptr {type_}, {derived}")
            lines.append(f"  {chosen} = select i1 {same}, i32 {own}, i32 {number}")
            if offset != "0" or base_offset:
                moved = self._fresh("offset")
                lines.append(f"  {moved} = select i1 {same}, i64 {base_offset}, i64 {offset}")
                offset = moved
            number = chosen
        return number, offset

    def _exit(self) -> Iterable[str]:
        yield "raceproof.unwound:"
        if self._is_entry:
            yield f"  call void @_ZSt9terminatev(){self._debug}"
            yield "  unreachable"
            return
        match = _RESULT.search(self._function.header)
        result = match[1] if match else "void"
        yield "  ret void" if result == "void" else f"  ret {result} undef"

    def _with_parts(self, line: str) -> str:
        if " = phi " not in line:
            return line
        return _INCOMING.sub(lambda m: m[1] + self._ends.get(m[2], m[2]) + m[3], line)


def _entry_label(function: FunctionText) -> str:
    """Of the first block, which may be implicit: then it is numbered after the parameters."""
    header = function.header
    for line in function.lines:
        if line and line[0] != " ":
            if label := _LABEL.match(line):
                return "%" + label[1]
            continue
        break
    inside = header[header.index("(", header.index("@")) :]
    return f"%{sum(1 for _ in re.finditer(r'(?:^|[ (])%[0-9]+(?=[,)])', inside))}"


def _whole(lines: Iterable[str]) -> Iterator[str]:
    """Instructions, those over several lines as one text; without debug records."""
    pending: list[str] = []
    for line in lines:
        if not line or line.startswith(("    #dbg_", "  ;")):
            continue
        if pending and line.startswith("          "):
            pending.append(line)
            continue
        if pending:
            yield "\n".join(pending)
            pending = []
        if _INVOKE.match(line) or _PAD.match(line):
            pending = [line]
        else:
            yield line
    if pending:
        yield "\n".join(pending)
