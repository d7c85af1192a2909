"""The calls that libraries make, written into the program.

For `event_set(&c->event, fd, EV_READ, on_read, c)` in `accept_client`, and for a thread that calls
`event_base_loop(base, 0)`, the program gets

    struct node { struct node *next; int fd; void *argument; } *handlers;   // atomic

    event_set_in_accept_client(event, fd, what, function, argument) {
        event_set(event, fd, what, function, argument);    // the call itself, by its model
        node = new node; node->fd = fd; node->argument = argument;
        node->next = handlers; handlers = node;
    }
    event_base_loop(base, flags) {
        while (choice())
            switch (choice()) {
            case 0:
                for (node = handlers; node && choice(); node = node->next);
                if (node) on_read(node->fd, any(), node->argument);
                break;
            ...
            }
    }

A list holds what was registered at one place in the source, so the arguments of different handlers
are not mixed up. What is constant at that place needs no list, only a flag. Nothing is ever taken
off a list: a handler may run until the end, also after `event_del`. Two threads that register at
once may lose a node; there is also the execution in which they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from raceproof.concurrency.callbacks.building import FunctionBuilder, int_constant
from raceproof.concurrency.callbacks.kept import Entry, Kept, KeptValues, Source
from raceproof.concurrency.callbacks.sites import PREFIX, Registration
from raceproof.concurrency.model import CallbackTime
from raceproof.ir import (
    I32,
    I64,
    POINTER,
    VOID,
    Block,
    Call,
    Constant,
    Function,
    FunctionAddress,
    FunctionType,
    Global,
    GlobalAddress,
    Instruction,
    IntConstant,
    IntType,
    NullPointer,
    PointerType,
    Program,
    Register,
    StructType,
    Type,
    Undefined,
    Value,
)

_CHOICE = FunctionType(I32, ())


class CallbackLowering:
    """Rewrites one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._layout = program.layout
        self._builders: list[FunctionBuilder] = []
        self._globals: dict[str, Global] = {}
        self._declared: dict[str, Function] = {}
        self._loops: dict[str, list[Entry]] = {}
        self._callees: dict[int, tuple[str, FunctionType]] = {}
        """What calls by number become."""
        self._followers: dict[Entry, Entry] = {}

    # --- registrations ------------------------------------------------------------

    def register(self, site: Registration, runs: Sequence[str] = (), is_own: bool = False) -> None:
        """The call keeps its handlers, and runs these loops."""
        call = site.call
        name = f"{PREFIX}{site.callee}${site.caller.name}${site.number}"
        kept = KeptValues(call, self._layout.pointer_size)
        parts = [(kept.function(one), *kept.arguments(one)) for one in site.handlers]
        node = StructType((POINTER, *kept.types))
        entries = [
            Entry(site, handler, *part, f"{name}${number}", node, is_own)
            for number, (handler, part) in enumerate(zip(site.handlers, parts, strict=True))
        ]
        for before, entry in pairwise(entries):
            if entry.handler.model.after:
                self._followers[before] = entry
        builder = self._wrapper(name, site)
        result = self._original(builder, site)
        after = self._if_wanted(builder, site)
        pointer: Value = NullPointer()
        if kept.types:
            pointer = self._node(builder, node, kept)
        for entry in entries:
            self._hand_over(builder, entry, pointer)
        if after is not None:
            builder.jump(after)
            builder.at(after)
        for loop in runs:
            builder.call(self.loop_name(loop), (), FunctionType(VOID, ()))
        builder.ret(result)
        self._replace(site, builder)

    def _if_wanted(self, builder: FunctionBuilder, site: Registration) -> int | None:
        """Where the function goes on if what is stored behind an argument says that nothing is
        handed over (`sigev_notify` is not `SIGEV_THREAD`); None if it always is."""
        conditions = {handler.model.when for handler in site.handlers}
        condition = conditions.pop()
        if conditions or condition is None or not condition.argument.indirect:
            return None
        where = condition.argument
        offset = where.offset.of(self._layout.pointer_size) if where.offset is not None else 0
        place = builder.offset(builder.parameters[where.index], offset)
        value = builder.load(I32, place, atomic="")
        wanted, after = builder.block(), builder.block()
        builder.select(value, dict.fromkeys(condition.values, wanted), after)
        builder.at(wanted)
        return after

    def _hand_over(self, builder: FunctionBuilder, entry: Entry, pointer: Value) -> None:
        model = entry.handler.model
        if model.time is CallbackTime.LOOP:
            self._globals[entry.variable] = self._list(entry)
            self._loop(model.loop).append(entry)
        if model.after:
            return
        if model.time is CallbackTime.LOOP:
            self._push(builder, entry, pointer)
        elif model.time is CallbackTime.THREAD:
            self._start(builder, entry, pointer)
        else:
            self._repeat(builder, entry, pointer, once=model.once)

    def run(self, site: Registration, loops: Sequence[str]) -> None:
        """The call runs loops and registers nothing: one function for all such calls."""
        types = tuple(argument.type for argument in site.call.arguments)
        shape = "$".join(str(type_) for type_ in (site.call.function_type.result, *types))
        name = f"{PREFIX}{site.callee}${shape}"
        builder = next((one for one in self._builders if one.name == name), None)
        if builder is None:
            builder = self._wrapper(name, site)
            builder.position = None
            result = self._original(builder, site)
            for loop in loops:
                builder.call(self.loop_name(loop), (), FunctionType(VOID, ()))
            builder.ret(result)
            self._builders.append(builder)
        self._callees[site.call.number] = (name, builder.type)

    def loop_name(self, loop: str) -> str:
        self._loop(loop)
        return f"{PREFIX}loop${loop}"

    def _loop(self, loop: str) -> list[Entry]:
        return self._loops.setdefault(loop, [])

    def _wrapper(self, name: str, site: Registration) -> FunctionBuilder:
        call = site.call
        types = tuple(argument.type for argument in call.arguments)
        type_ = FunctionType(call.function_type.result, types)
        display = self._display(site.callee)
        return FunctionBuilder(name, display, type_, call.position, call.by_value)

    def _display(self, name: str) -> str:
        function = self._program.functions.get(name)
        return function.display if function is not None else name

    def _original(self, builder: FunctionBuilder, site: Registration) -> Value | None:
        """The call as it stands in the program, in the function that takes its place."""
        call = site.call
        return builder.call(
            call.callee,
            builder.parameters,
            call.function_type,
            call.position,
            call.by_value,
            call.no_return,
        )

    def _replace(self, site: Registration, builder: FunctionBuilder) -> None:
        self._builders.append(builder)
        self._callees[site.call.number] = (builder.name, builder.type)

    # --- what the library keeps ------------------------------------------------------------

    def _list(self, entry: Entry) -> Global:
        type_: Type = POINTER if len(entry.node.fields) > 1 else I32
        zero: Constant = NullPointer() if type_ == POINTER else IntConstant(I32, 0)
        return Global(
            entry.variable,
            f"handlers of {self._display(entry.site.callee)}",
            type_,
            self._layout.size(type_),
            zero,
            is_thread_local=entry.is_own,
            is_external=False,
            position=entry.site.call.position,
        )

    def _node(self, builder: FunctionBuilder, node: StructType, kept: KeptValues) -> Value:
        values = kept.values(builder, lambda type_: self._any(builder, type_))
        self._declare("raceproof_new", FunctionType(POINTER, (I64,)))
        size = IntConstant(I64, self._layout.size(node))
        pointer = builder.call("raceproof_new", (size,), FunctionType(POINTER, (I64,)))
        assert pointer is not None
        for place, value in zip(self._layout.offsets(node)[1:], values, strict=True):
            builder.store(value, builder.offset(pointer, place))
        return pointer

    def _push(self, builder: FunctionBuilder, entry: Entry, pointer: Value) -> None:
        """From now on the handler may be called."""
        variable = GlobalAddress(POINTER, entry.variable)
        if len(entry.node.fields) == 1:
            builder.store(int_constant(1), variable)
            return
        builder.store(builder.load(POINTER, variable), pointer)
        builder.store(pointer, variable)

    # --- calling ------------------------------------------------------------

    def _invoke(self, builder: FunctionBuilder, entry: Entry, pointer: Value) -> None:
        """One call of the handler, with what the node at `pointer` keeps."""
        offsets = self._layout.offsets(entry.node)

        def fetch(source: Source, type_: Type) -> Value:
            if isinstance(source, Kept):
                wanted = entry.node.fields[source.field + 1]
                place = builder.offset(pointer, offsets[source.field + 1])
                return self._adapted(builder, builder.load(wanted, place), type_)
            if source is None:
                return self._any(builder, type_)
            return self._adapted(builder, source, type_)

        type_ = self._type(entry)
        arguments = []
        for number, parameter in enumerate(type_.parameters):
            source = entry.arguments[number] if number < len(entry.arguments) else None
            if source is None and entry.choices and isinstance(parameter, PointerType):
                arguments.append(self._one_of(builder, entry.choices, fetch))
            else:
                arguments.append(fetch(source, parameter))
        function: Value
        if isinstance(entry.function, Kept):
            function = fetch(entry.function, POINTER)
            call, after = builder.block(), builder.block()
            builder.branch(builder.is_null(function), after, call)
            builder.at(call)
            builder.call(function, arguments, type_)
            builder.jump(after)
            builder.at(after)
        else:
            builder.call(entry.function, arguments, type_, entry.site.call.position)
        follower = self._followers.get(entry)
        if follower is not None:
            if follower.handler.model.time is CallbackTime.LOOP:
                self._push(builder, follower, pointer)
            else:
                self._start(builder, follower, pointer)

    def _one_of(
        self,
        builder: FunctionBuilder,
        choices: Sequence[Source],
        fetch: Callable[[Source, Type], Value],
    ) -> Value:
        """One of the pointers that were handed over, or something unknown."""
        join = builder.block()
        blocks = [builder.block() for _ in (*choices, None)]
        builder.switch(self._choice(builder), blocks[:-1], blocks[-1])
        incoming: list[tuple[int, Value]] = []
        for block, source in zip(blocks, (*choices, None), strict=True):
            builder.at(block)
            value = fetch(source, POINTER)
            incoming.append((builder.current, value))
            builder.jump(join)
        builder.at(join)
        result = builder.phi(POINTER, *incoming).result
        assert result is not None
        return result

    def _repeat(
        self, builder: FunctionBuilder, entry: Entry, pointer: Value, once: bool = False
    ) -> None:
        """Calls the handler any number of times, or once at most."""
        head, body, after = builder.block(), builder.block(), builder.block()
        builder.jump(head)
        builder.at(head)
        builder.branch(self._chosen(builder), body, after)
        builder.at(body)
        self._invoke(builder, entry, pointer)
        builder.jump(after if once else head)
        builder.at(after)

    def _start(self, builder: FunctionBuilder, entry: Entry, pointer: Value) -> None:
        """The handler runs on a new thread, or on any number of them."""
        type_ = FunctionType(POINTER, (POINTER,))
        name = f"{entry.variable}$thread"
        runner = FunctionBuilder(
            name, self._display(_name_of(entry)), type_, entry.site.call.position
        )
        self._builders.append(runner)
        self._repeat(runner, entry, runner.parameters[0], once=True)
        runner.ret(NullPointer())
        starting = FunctionType(VOID, (POINTER, POINTER))
        self._declare("raceproof_start", starting)
        function = FunctionAddress(POINTER, name)
        if entry.handler.model.once:
            builder.call("raceproof_start", (function, pointer), starting)
            return
        head, body, after = builder.block(), builder.block(), builder.block()
        builder.jump(head)
        builder.at(head)
        builder.branch(self._chosen(builder), body, after)
        builder.at(body)
        builder.call("raceproof_start", (function, pointer), starting)
        builder.jump(head)
        builder.at(after)

    def _dispatch(self, loop: str) -> None:
        """The function that runs a loop."""
        entries = self._loops[loop]
        builder = FunctionBuilder(self.loop_name(loop), loop, FunctionType(VOID, ()), None)
        self._builders.append(builder)
        head, pick, after = builder.block(), builder.block(), builder.block()
        builder.jump(head)
        builder.at(head)
        builder.branch(self._chosen(builder), pick, after)
        cases = [builder.block() for _ in entries]
        builder.at(pick)
        builder.switch(self._choice(builder), cases, head)
        for case, entry in zip(cases, entries, strict=True):
            builder.at(case)
            builder.position = entry.site.call.position
            self._from_list(builder, entry, head)
        builder.position = None
        builder.at(after)
        builder.ret(None)

    def _from_list(self, builder: FunctionBuilder, entry: Entry, back: int) -> None:
        """Calls a handler with what one of the nodes keeps."""
        variable = GlobalAddress(POINTER, entry.variable)
        use = builder.block()
        if len(entry.node.fields) == 1:
            flag = builder.load(I32, variable)
            skip = builder.block()
            builder.switch(flag, [skip], use)
            builder.at(skip)
            builder.jump(back)
            builder.at(use)
            self._invoke(builder, entry, NullPointer())
            builder.jump(back)
            return
        first = builder.load(POINTER, variable)
        start, look, stay, step = builder.current, builder.block(), builder.block(), builder.block()
        builder.jump(look)
        builder.at(look)
        phi = builder.phi(POINTER, (start, first))
        assert phi.result is not None
        builder.branch(builder.is_null(phi.result), back, stay)
        builder.at(stay)
        builder.branch(self._chosen(builder), step, use)
        builder.at(step)
        following = builder.load(POINTER, phi.result)
        builder.jump(look)
        builder.feed(phi, (step, following))
        builder.at(use)
        self._invoke(builder, entry, phi.result)
        builder.jump(back)

    # --- values ------------------------------------------------------------

    def _choice(self, builder: FunctionBuilder) -> Value:
        self._declare("raceproof_choice", _CHOICE)
        chosen = builder.call("raceproof_choice", (), _CHOICE)
        assert chosen is not None
        return chosen

    def _chosen(self, builder: FunctionBuilder) -> Value:
        chosen = self._choice(builder)
        return builder.is_equal(chosen, int_constant(0))

    def _any(self, builder: FunctionBuilder, type_: Type) -> Value:
        if not isinstance(type_, IntType | PointerType):
            return Undefined(type_)
        name = "raceproof_any_" + ("pointer" if isinstance(type_, PointerType) else str(type_))
        self._declare(name, FunctionType(type_, ()))
        value = builder.call(name, (), FunctionType(type_, ()))
        assert value is not None
        return value

    def _adapted(self, builder: FunctionBuilder, value: Value, type_: Type) -> Value:
        """The value as the handler wants it; compilers promote and programs lie."""
        if value.type == type_:
            return value
        if isinstance(value.type, IntType) and isinstance(type_, IntType):
            operation = "trunc" if value.type.bits > type_.bits else "sext"
            return builder.cast(operation, value, type_)
        if isinstance(value.type, PointerType) and isinstance(type_, IntType):
            return builder.cast("ptrtoint", value, type_)
        if isinstance(value.type, IntType) and isinstance(type_, PointerType):
            return builder.cast("inttoptr", value, type_)
        return self._any(builder, type_)

    def _type(self, entry: Entry) -> FunctionType:
        """How the handler is called: as it is defined, or as most functions are that it may be."""
        if isinstance(entry.function, FunctionAddress):
            function = self._program.functions.get(entry.function.name)
            if function is not None and (function.is_defined or function.type.parameters):
                return replace(function.type, variadic=False)
        count = len(entry.arguments)
        counts: dict[FunctionType, int] = {}
        for function in self._program.defined:
            if len(function.type.parameters) == count and not function.type.variadic:
                fits = all(
                    not isinstance(source, Kept) or entry.node.fields[source.field + 1] == parameter
                    for source, parameter in zip(
                        entry.arguments, function.type.parameters, strict=True
                    )
                )
                counts[function.type] = counts.get(function.type, 0) + (1 if fits else 0)
        best = max(counts, key=lambda type_: counts[type_], default=None)
        if best is not None and counts[best]:
            return best
        return FunctionType(VOID, (POINTER,) * count)

    def _declare(self, name: str, type_: FunctionType) -> None:
        if name not in self._program.functions and name not in self._declared:
            parameters = tuple(Register(p, n) for n, p in enumerate(type_.parameters))
            self._declared[name] = Function(
                name, name, type_, parameters, (), register_count=len(parameters)
            )

    # --- the new program ------------------------------------------------------------

    def program(self, assumptions: tuple[str, ...]) -> Program:
        for loop in list(self._loops):
            self._dispatch(loop)
        functions = {
            name: self._rewritten(function) for name, function in self._program.functions.items()
        }
        functions |= self._declared
        number = self._program.instruction_count
        for builder in self._builders:
            function = builder.function(number)
            functions[function.name] = function
            number += len(function.instructions)
        return replace(
            self._program,
            functions=functions,
            globals={**self._program.globals, **self._globals},
            assumptions=(*self._program.assumptions, *assumptions),
        )

    def _rewritten(self, function: Function) -> Function:
        numbers = range(function.first_number, function.first_number + len(function.instructions))
        if not any(number in self._callees for number in numbers):
            return function
        blocks = tuple(
            Block(block.index, tuple(self._redirected(one) for one in block.instructions))
            if any(one.number in self._callees for one in block.instructions)
            else block
            for block in function.blocks
        )
        return replace(function, blocks=blocks)

    def _redirected(self, instruction: Instruction) -> Instruction:
        target = self._callees.get(instruction.number)
        if target is None or not isinstance(instruction, Call):
            return instruction
        name, type_ = target
        return replace(instruction, callee=FunctionAddress(POINTER, name), function_type=type_)


def _name_of(entry: Entry) -> str:
    """Of the handler if it is known, else of who calls it."""
    if isinstance(entry.function, FunctionAddress):
        return entry.function.name
    return entry.site.callee
