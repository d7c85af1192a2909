"""A whole LLVM module to a `Program`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from raceproof.frontend.cplusplus.exceptions import has_exceptions, lower_exceptions, may_be_thrown
from raceproof.frontend.function_text import Signature, cut_blocks, read_signature
from raceproof.frontend.heap_types import HeapTypes
from raceproof.frontend.library import PREFIX
from raceproof.frontend.llvm_text import LlvmSyntaxError, Names, Reader, symbol, tokenize
from raceproof.frontend.lower_function import FunctionLowering
from raceproof.frontend.module_text import FunctionText, ModuleText, split_module
from raceproof.frontend.positions import Positions
from raceproof.frontend.startup import INITIALISE, START, add_startup
from raceproof.frontend.unwinding import without_idle_invokes
from raceproof.ir import (
    AggregateConstant,
    Constant,
    DebugInfo,
    Function,
    FunctionAddress,
    Global,
    Layout,
    Position,
    Program,
    Type,
)
from raceproof.ir.cfg import reverse_post_order

_SYMBOL = re.compile(r'@("[^"]*"|[-\w.$]+)\(')
_DEBUG = re.compile(r"!dbg (![0-9]+)")


class FrontendBug(Exception):
    """LLVM that we cannot read: our mistake, said with the line."""


def lower_module(text: str, files: Sequence[str] = (), entry: str = "main") -> Program:
    """The program in LLVM's textual form."""
    return lower_parts(read_parts(text, is_whole=True), files, entry)


def read_parts(text: str, is_whole: bool = False) -> ModuleText:
    """The parts of a module, as `lower_parts` takes them; `is_whole`: of a program."""
    module = split_module(text)
    if has_exceptions(module) or (is_whole and " invoke " in text and not may_be_thrown(module)):
        lower_exceptions(module)
    elif " invoke " in text:
        without_idle_invokes(module)
    add_startup(module)
    return module


def lower_parts(module: ModuleText, files: Sequence[str] = (), entry: str = "main") -> Program:
    """The program that the parts make; those left out are missing in it."""
    return _ModuleLowering(module).program(tuple(files), entry)


class _ModuleLowering:
    def __init__(self, module: ModuleText) -> None:
        self.module = module
        self.debug = DebugInfo(module.metadata)
        self.positions = Positions(self.debug)
        self.names = Names(Layout.parse(module.layout), definitions=module.structs)
        self.names.block_index = self._block_index
        self._bodies: dict[str, FunctionText] = {}
        self._labels: dict[str, dict[str, int]] = {}
        self._signatures: dict[str, Signature] = {}
        self._variable_types: dict[str, dict[int, str]] = {}
        self._within_ranges: set[int] = set()
        self._no_return = frozenset(
            key for key, text in module.attributes.items() if "noreturn" in text.split()
        )

    def program(self, files: tuple[str, ...], entry: str) -> Program:
        headers = [f.header for f in self.module.functions] + self.module.declarations
        for header in headers:
            self.names.functions.add(_symbol_of(header))
        self._read_aliases()
        functions: dict[str, Function] = {}
        number = 0
        for text in self.module.functions:
            signature = self._signature(text.header)
            self._signatures[signature.name] = signature
            self._bodies[signature.name] = text
        for name, text in self._bodies.items():
            function = self._function(self._signatures[name], text, number)
            number += len(function.instructions)
            functions[name] = function
        for header in self.module.declarations:
            signature = self._signature(header)
            if not signature.name.startswith("llvm."):
                functions[signature.name] = _declared(signature)
        globals_ = {}
        for token, rest in self.module.globals:
            found = self._global(symbol(token), rest)
            if found is not None:
                globals_[found.name] = found
        return Program(
            functions,
            globals_,
            self.names.layout,
            self.debug,
            files,
            entry,
            _constructors(globals_.get("llvm.global_ctors"), functions),
            self.module.assembly,
            self._heap_types(functions, globals_),
            variable_types=self._variable_types,
            within_ranges=frozenset(self._within_ranges),
        )

    def _heap_types(
        self, functions: Mapping[str, Function], globals_: Mapping[str, Global]
    ) -> dict[int, str]:
        types = HeapTypes(globals_, self.debug)
        found: dict[int, str] = {}
        for name, variables in self._variable_types.items():
            found |= types.of(functions[name], variables)
        return found

    def _signature(self, header: str) -> Signature:
        try:
            return read_signature(header, self.names, self.module.attributes, self.positions)
        except (LlvmSyntaxError, IndexError) as error:
            raise FrontendBug(f"{error} in: {header.strip()}") from error

    def _function(self, signature: Signature, text: FunctionText, number: int) -> Function:
        lowering = FunctionLowering(signature, self.names, self.positions, self._no_return, number)
        try:
            function = lowering.lower(text.lines)
        except (LlvmSyntaxError, IndexError, KeyError) as error:
            raise FrontendBug(f"{error!r} in function {signature.name}") from error
        self._variable_types[signature.name] = lowering.variable_types
        self._within_ranges |= lowering.within_ranges
        return function

    def _block_index(self, function: str, label: str) -> int:
        """Where a label ends up among its function's blocks (they are put in order)."""
        labels = self._labels.get(function)
        if labels is None:
            blocks = cut_blocks(self._bodies[function].lines, self._signatures[function])
            index = {block.label: i for i, block in enumerate(blocks)}
            order = reverse_post_order([[index[t] for t in block.targets()] for block in blocks])
            labels = {blocks[old].label: new for new, old in enumerate(order)}
            self._labels[function] = labels
        return labels.get(label, 0)

    def _read_aliases(self) -> None:
        pending = []
        for token, rest in self.module.globals:
            # Not the word in the text of a string.
            words = rest.partition('"')[0].split(" ", 8)[:8]
            if "alias" in words:
                pending.append((symbol(token), rest))
        for name, rest in pending:
            tokens = tokenize(rest)
            at = tokens.index("alias") + 1
            reader = Reader(tokens, self.names, at)
            type_ = reader.type()
            if reader.peek() == "(":
                reader.function_type(type_)
            reader.expect(",")
            self.names.aliases[name] = reader.constant(reader.type())

    def _global(self, name: str, rest: str) -> Global | None:
        if name in self.names.aliases:
            return None
        tokens = tokenize(rest)
        reader = Reader(tokens, self.names)
        words: set[str] = set()
        while (word := reader.next()) not in ("global", "constant"):
            words.add(word)
            if reader.peek() == "(":
                reader.skip_parentheses()
        try:
            type_ = reader.type()
            initializer = self._initializer(reader, type_, words)
        except (LlvmSyntaxError, IndexError) as error:
            raise FrontendBug(f"{error} in global {name}") from error
        debug = _DEBUG.search(rest, rest.rfind('"') + 1)
        display, debug_type, position = "", "", None
        if debug:
            display, debug_type, position = self._global_debug(debug[1])
        return Global(
            name,
            display or _library_object(name) or name,
            type_,
            self.names.layout.size(type_),
            initializer,
            word == "constant",
            "thread_local" in words,
            not words & {"internal", "private"},
            "private" in words and word == "constant",
            position,
            debug_type,
        )

    def _global_debug(self, key: str) -> tuple[str, str, Position | None]:
        return self.positions.global_variable(key)

    def _initializer(self, reader: Reader, type_: Type, words: set[str]) -> Constant | None:
        if words & {"external", "extern_weak"}:
            return None
        return reader.constant(type_)


def _library_object(name: str) -> str:
    """What people call an object that the body of a library function keeps; else nothing."""
    if not name.startswith(PREFIX):
        return ""
    words = re.sub(r"\.\d+$", "", name.removeprefix(PREFIX)).replace("_", " ")
    return f"{words} of the C library"


def _symbol_of(header: str) -> str:
    match = _SYMBOL.search(header)
    if match is None:
        raise FrontendBug(f"no name in: {header}")
    return match[1].strip('"')


def _declared(signature: Signature) -> Function:
    return Function(
        signature.name,
        signature.display,
        signature.type,
        (),
        (),
        signature.position,
        True,
        signature.no_return,
        by_value=signature.by_value,
    )


def _constructors(table: Global | None, functions: Mapping[str, Function]) -> tuple[str, ...]:
    """What runs before `main`: the functions in `llvm.global_ctors` by priority, and `startup`."""
    entries = [(-1, START)] if START in functions else []
    if INITIALISE in functions:
        entries.append((65536, INITIALISE))
    elements: tuple[Constant, ...] = ()
    if table is not None and isinstance(table.initializer, AggregateConstant):
        elements = table.initializer.elements
    for entry in elements:
        if isinstance(entry, AggregateConstant):
            priority, function = entry.elements[0], entry.elements[1]
            if isinstance(function, FunctionAddress):
                entries.append((getattr(priority, "value", 65535), function.name))
    return tuple(name for _, name in sorted(entries, key=lambda entry: entry[0]))
