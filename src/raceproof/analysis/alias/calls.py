"""Constraints of calls: arguments, results, and what the models say of library functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raceproof.analysis.alias.generate import Generator
from raceproof.analysis.alias.shapes import Shape
from raceproof.analysis.alias.wrappers import allocation_wrappers
from raceproof.concurrency import effects as fx
from raceproof.concurrency import events as ev
from raceproof.concurrency.accesses import Events
from raceproof.concurrency.model import CallbackValue, ReturnKind, Returns
from raceproof.ir import (
    Call,
    FloatType,
    Function,
    FunctionAddress,
    IntConstant,
    IntType,
    PointerType,
    Type,
    Value,
)
from raceproof.verdict import BaseKind


class PointsToCalls:
    def __init__(self, generator: Generator, events: Events) -> None:
        self.generator = generator
        self.solver = generator.solver
        self.cells = generator.cells
        self.program = generator.program
        self.events = events
        self.frames = generator.frames
        self.callees: dict[int, dict[str, None]] = {}
        """Call -> the functions it may mean, models and unknown ones among them."""
        self.entries: dict[int, dict[str, None]] = {}
        """Call that creates a thread, or has a function called -> what it runs."""
        self.handed_over: list[int] = []
        """Nodes of what threads were given."""
        self.thread_result = self.solver.node()
        self._specific = self.solver.node()
        self._wrappers = allocation_wrappers(self.program, events)
        self._done: set[tuple[str, int, str]] = set()
        """Frame, call and what it means, if its constraints are there."""
        self._pending: list[tuple[Function, str]] = []
        """Frames without constraints so far."""
        self._handlers: dict[type[ev.Event], Callable[[Call, Any], None]] = {
            ev.ThreadCreate: self._create,
            ev.ThreadJoin: self._join,
            ev.ThreadExit: self._exit,
            ev.ThreadSelf: self._self,
            ev.Allocate: self._allocate,
            ev.Reallocate: self._reallocate,
            ev.AtomicOperation: self._atomic,
            ev.AtomicFunction: self._atomic_function,
            ev.SpecificGet: self._specific_get,
            ev.SpecificSet: self._specific_set,
            ev.SpecificCreate: self._specific_create,
            ev.CleanupPush: self._cleanup,
            ev.Once: self._once,
        }

    def settle(self) -> None:
        """Solves, with the frames that are found on the way."""
        while True:
            while self._pending:
                self.generator.body(*self._pending.pop(), self.call)
            self.solver.solve()
            if not self._pending:
                return

    def own_frame(self, function: Function) -> str:
        """The frame of all calls without a frame of their own."""
        if self.frames.own(function.name) and function.is_defined:
            self._pending.append((function, function.name))
        return function.name

    def _frame(self, call: Call, function: Function) -> str:
        frame, is_new = self.frames.entered(self.generator.frame, call, function)
        if is_new:
            self._pending.append((function, frame))
        return frame

    def call(self, call: Call) -> None:
        frame = self.generator.frame
        if isinstance(call.callee, FunctionAddress):
            self._means(call, call.callee.name)
            return
        node = self.generator.value(call.callee)
        if node is None:
            return
        self.callees.setdefault(call.number, {})

        def met(address: int) -> None:
            name = self._function_at(address)
            if name is not None and self._fits(name, call):
                self._inside(frame, lambda: self._means(call, name))
            elif self.cells.addresses[address][0].descriptor[0] == "external":
                self._inside(frame, lambda: self._unknown(call))

        self.solver.each(node, met)

    def _inside(self, frame: str, action: Callable[[], None]) -> None:
        """Later on, registers are those of the frame where the call stands."""
        before, self.generator.frame = self.generator.frame, frame
        action()
        self.generator.frame = before

    def _function_at(self, address: int) -> str | None:
        descriptor = self.cells.addresses[address][0].descriptor
        return str(descriptor[1]) if descriptor[0] == "function" else None

    def _fits(self, name: str, call: Call) -> bool:
        """Could a call with these arguments mean this function? Else it is undefined."""
        function = self.program.functions.get(name)
        if function is None:
            return True
        wanted, given = function.type.parameters, [value.type for value in call.arguments]
        if function.type.variadic or call.function_type.variadic:
            return True
        if len(wanted) > len(given):
            return False
        word = self.generator.word * 8
        return not any(_are_different(a, b, word) for a, b in zip(wanted, given, strict=False))

    def _means(self, call: Call, name: str) -> None:
        self.callees.setdefault(call.number, {})[name] = None
        key = (self.generator.frame, call.number, name)
        if key in self._done:
            return
        self._done.add(key)
        event = self.events.of(call, name)
        if event is not None:
            handler = self._handlers.get(type(event))
            if handler is None:
                self._library(call, event)
            else:
                handler(call, event)
            return
        function = self.program.functions.get(name)
        if function is None or not function.is_defined:
            self._unknown(call)
            return
        self._enter(call, function)

    # --- the program's own functions -----------------------------------------------------------

    def _enter(self, call: Call, function: Function) -> None:
        generator = self.generator
        frame = self._frame(call, function)
        copied = dict(call.by_value)
        for index, value in enumerate(call.arguments):
            if index in copied and index < len(function.parameters):
                self._by_value(call, function, index)
            elif index < len(function.parameters):
                parameter = function.parameters[index]
                if generator.carries(parameter.type):
                    generator.flow(value, generator.register(frame, parameter.index))
            elif function.type.variadic:
                thing = generator.variable_arguments(function.name)
                generator.flow(value, self.cells.content(thing, 0))
        node = generator.result(call)
        if node is None:
            return
        if function.name in self._wrappers:
            generator.add_address(node, generator.heap_thing(call.number, None))
        else:
            self.solver.copy(generator.return_node(frame), node)

    def _by_value(self, call: Call, function: Function, index: int) -> None:
        """The callee has a copy of the struct."""
        from raceproof.analysis.alias import shapes

        generator = self.generator
        type_ = dict(call.by_value)[index]
        shape = shapes.of_type(type_, generator.layout, 1)
        thing = self.cells.thing(("copy", function.name, index), BaseKind.STACK, shape)
        parameter = function.parameters[index]
        generator.add_address(generator.register(function.name, parameter.index), thing)
        target = self.cells.address(thing)
        size = generator.layout.size(type_)
        source = generator.value(call.arguments[index])
        if source is not None:
            self.solver.each(source, lambda a: self.cells.copy_memory(target, a, size))

    def _run(self, call: Call, function: Value, arguments: list[int | None]) -> None:
        """The functions that a value may mean are called with these nodes."""
        node = self.generator.value(function)
        if node is not None:
            self._run_node(call, node, arguments)

    def _run_node(self, call: Call, node: int, arguments: list[int | None]) -> None:
        def met(address: int) -> None:
            name = self._function_at(address)
            target = self.program.functions.get(name) if name is not None else None
            if target is None:
                return
            self.entries.setdefault(call.number, {})[target.name] = None
            frame = self.own_frame(target)
            self.frames.note(call.number, target.name, frame)
            for index, parameter in enumerate(target.parameters):
                given = arguments[index] if index < len(arguments) else self.generator.outside()
                if given is not None and self.generator.carries(parameter.type):
                    register = self.generator.register(frame, parameter.index)
                    self.solver.copy(given, register)

        self.solver.each(node, met)

    # --- unknown functions ------------------------------------------------------------

    def _unknown(self, call: Call) -> None:
        """May write what its arguments point to, call them, and return anything, perhaps a
        pointer into what it was given."""
        node = self.generator.result(call)
        if node is not None and not isinstance(call.function_type.result, IntType):
            self.solver.copy(self.generator.outside(), node)
        for argument in call.arguments:
            if isinstance(argument.type, PointerType):
                self.generator.havoc(argument)
                self._run(call, argument, [])
                if node is not None:
                    self.generator.mix(argument, node)

    # --- modelled functions ------------------------------------------------------------

    def _library(self, call: Call, event: ev.Event) -> None:
        for copy in event.copies:
            self.generator.copy_between(copy.target, copy.source, None)
        for store in event.stores:
            node = self.solver.node()
            self._returned(call, event, store.value, node)
            pointer = self.generator.value(store.pointer)
            if pointer is not None:
                self.solver.store(pointer, node)
        for callback in event.callbacks:
            arguments = [self._passed(event, operand) for operand in callback.arguments]
            function = self.generator.value(callback.function)
            if function is not None and callback.is_indirect:
                loaded = self.solver.node()
                self.solver.load(function, loaded)
                function = loaded
            if function is not None:
                self._run_node(call, function, arguments)
            self._reordered(event, callback)
        result = self.generator.result(call)
        if result is not None:
            self._returned(call, event, event.returns, result)

    def _reordered(self, event: ev.Event, callback: ev.Callback) -> None:
        """`qsort`: what is compared and written lies anywhere in its array after that."""
        compared = [o.value for o in callback.arguments if o.how is CallbackValue.INTO]
        for effect in event.effects:
            node = self.generator.value(effect.pointer)
            if effect.is_write and effect.pointer in compared and node is not None:
                self.solver.each(node, lambda a: self.cells.fold(self.cells.addresses[a][0], 1))

    def _passed(self, event: ev.Event, operand: ev.CallbackOperand) -> int | None:
        if operand.value is None or operand.how is CallbackValue.ANY:
            return self.generator.outside(event.model.name)
        node = self.generator.value(operand.value)
        if node is None or operand.how is CallbackValue.ITSELF:
            return node
        found = self.solver.node()
        if operand.how is CallbackValue.POINTEE:
            self.solver.load(node, found)
        else:
            self._into(node, found)
        return found

    def _into(self, source: int, target: int) -> None:
        """A pointer somewhere into the same object."""
        cells, solver = self.cells, self.solver

        def met(address: int) -> None:
            thing, offset = cells.addresses[address]
            if offset is not None and thing.shape.holds_index(thing.shape.canonical(offset), 1):
                solver.add(target, 1 << address)
            else:
                solver.add(target, 1 << cells.address(thing, None))

        solver.each(source, met)

    def _returned(self, call: Call, event: ev.Event, returns: Returns, target: int) -> None:
        argument = call.arguments[returns.index] if returns.index < len(call.arguments) else None
        source = None if argument is None else self.generator.value(argument)
        match returns.kind:
            case ReturnKind.CONSTANT:
                return
            case ReturnKind.ARGUMENT:
                if source is not None:
                    self.solver.copy(source, target)
            case ReturnKind.INTO:
                if source is not None:
                    self._into(source, target)
            case ReturnKind.POINTEE:
                if source is not None:
                    loaded = self.solver.node()
                    self.solver.load(source, loaded)
                    self._into(loaded, target)
            case ReturnKind.REACHABLE:
                if source is not None:
                    self._into(source, target)
                    loaded = self.solver.node()
                    self.solver.load(target, loaded)
                    self._into(loaded, target)
            case ReturnKind.FRESH:
                self.generator.add_address(target, self.generator.heap_thing(call.number, None))
            case ReturnKind.STATIC | ReturnKind.THREAD_LOCAL:
                kind = BaseKind.EXTERNAL
                if returns.kind is ReturnKind.THREAD_LOCAL:
                    kind = BaseKind.THREAD_LOCAL
                thing = self.cells.thing(("library", returns.name), kind, Shape())
                self.cells.fold(thing, 1)
                self.generator.add_address(target, thing)
            case _:
                if call.result is None or isinstance(call.result.type, PointerType):
                    self.solver.copy(self.generator.outside(event.model.name), target)

    # --- threads ------------------------------------------------------------

    def _create(self, call: Call, event: ev.ThreadCreate) -> None:
        generator = self.generator
        argument = None if event.argument is None else generator.value(event.argument)
        entry = generator.value(event.entry)
        if event.virtual_slot is not None and entry is not None:
            argument, table, slot = (self.solver.node() for _ in range(3))
            self.solver.load(entry, argument)
            self.solver.load(argument, table)
            self.solver.load(table, slot, event.virtual_slot * generator.word)
            entry = slot
        if entry is not None:
            self._run_node(call, entry, [argument])
        if argument is not None:
            self.handed_over.append(argument)
        identity = self.cells.thing(("thread", call.number), BaseKind.EXTERNAL, Shape(1))
        node = self.solver.node()
        generator.add_address(node, identity)
        if event.id_pointer is not None:
            pointer = generator.value(event.id_pointer)
            if pointer is not None:
                self.solver.store(pointer, node)
        result = generator.result(call)
        if result is not None and event.id_is_result:
            self.solver.copy(node, result)

    def _self(self, call: Call, event: ev.ThreadSelf) -> None:
        """Some thread's id: `main`'s, or one that a creation has stored, too."""
        result = self.generator.result(call)
        if result is not None:
            identity = self.cells.thing(("self",), BaseKind.EXTERNAL, Shape(1))
            self.generator.add_address(result, identity)

    def _join(self, call: Call, event: ev.ThreadJoin) -> None:
        if event.result_pointer is not None:
            pointer = self.generator.value(event.result_pointer)
            if pointer is not None:
                self.solver.store(pointer, self.thread_result)

    def _exit(self, call: Call, event: ev.ThreadExit) -> None:
        if event.value is not None:
            self.generator.flow(event.value, self.thread_result)

    def _once(self, call: Call, event: ev.Once) -> None:
        argument = None if event.argument is None else self.generator.value(event.argument)
        self._run(call, event.routine, [argument])

    def _cleanup(self, call: Call, event: ev.CleanupPush) -> None:
        argument = None if event.argument is None else self.generator.value(event.argument)
        self._run(call, event.routine, [argument])

    def _atomic_function(self, call: Call, event: ev.AtomicFunction) -> None:
        self._enter(call, event.function)

    # --- memory ------------------------------------------------------------

    def _size(self, size: fx.Size) -> int | None:
        if isinstance(size, fx.Product):
            product = size.scale
            for factor in size.factors:
                if not isinstance(factor, IntConstant):
                    return None
                product *= factor.value
            return product
        if isinstance(size, IntConstant):
            return size.value
        return size if isinstance(size, int) else None

    def _allocate(self, call: Call, event: ev.Allocate) -> None:
        thing = self.generator.heap_thing(call.number, self._size(event.size))
        if event.pointer_to is not None:
            node = self.solver.node()
            self.generator.add_address(node, thing)
            pointer = self.generator.value(event.pointer_to)
            if pointer is not None:
                self.solver.store(pointer, node)
            return
        result = self.generator.result(call)
        if result is not None:
            self.generator.add_address(result, thing)

    def _reallocate(self, call: Call, event: ev.Reallocate) -> None:
        thing = self.generator.heap_thing(call.number, self._size(event.size))
        target = self.cells.address(thing)
        old = self.generator.value(event.pointer)
        if old is not None:
            self.solver.each(old, lambda a: self.cells.copy_memory(target, a, None))
        result = self.generator.result(call)
        if result is not None:
            self.generator.add_address(result, thing)

    def _atomic(self, call: Call, event: ev.AtomicOperation) -> None:
        generator, solver = self.generator, self.solver
        pointer = generator.value(event.pointer)
        if pointer is None:
            return
        value = None if event.value is None else generator.value(event.value)
        for place in (event.value_pointer,):
            node = None if place is None else generator.value(place)
            if node is not None:
                value = solver.node()
                solver.load(node, value)
        if value is not None:
            solver.store(pointer, value)
        targets = [generator.result(call)]
        for place in (event.result_pointer, event.expected_pointer):
            node = None if place is None else generator.value(place)
            if node is not None:
                loaded = solver.node()
                solver.store(node, loaded)
                targets.append(loaded)
        for place in (event.value_pointer, event.result_pointer, event.expected_pointer):
            if place is not None:  # A struct may hold addresses behind its first word.
                generator.copy_between(event.pointer, place, None)
                generator.copy_between(place, event.pointer, None)
        for target in targets:
            if target is not None:
                solver.load(pointer, target)
                if value is not None:
                    solver.copy(value, target)

    def _specific_create(self, call: Call, event: ev.SpecificCreate) -> None:
        if event.destructor is not None:
            self._run(call, event.destructor, [self._specific])

    def _specific_get(self, call: Call, event: ev.SpecificGet) -> None:
        result = self.generator.result(call)
        if result is not None:
            self.solver.copy(self._specific, result)

    def _specific_set(self, call: Call, event: ev.SpecificSet) -> None:
        self.generator.flow(event.value, self._specific)


def _are_different(a: Type, b: Type, word: int) -> bool:
    """Is one an address and the other a number that cannot hold one? Calling a function with such
    an argument is undefined."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, PointerType):
            if isinstance(other, FloatType):
                return True
            if isinstance(other, IntType) and other.bits < word:
                return True
    return False
