"""Prints one thread: the function it starts in, with calls inlined and loops unrolled."""

from __future__ import annotations

import heapq

from raceproof.analysis.unrolling import CopyName
from raceproof.errors import UserError
from raceproof.ir import (
    AfterInvoke,
    Block,
    Branch,
    Function,
    IndirectJump,
    IntType,
    Jump,
    Phi,
    PointerType,
    Register,
    Return,
    StackSlot,
    Switch,
    Type,
)
from raceproof.machine.constants import BLOCK_ADDRESSES
from raceproof.sequentialize.c_text import c_type, identifier, leaves
from raceproof.sequentialize.context import ProgramContext
from raceproof.sequentialize.endings import (
    end_process,
    end_thread,
    write_endings,
)
from raceproof.sequentialize.expressions import converted
from raceproof.sequentialize.frames import Given, PrintedFrame
from raceproof.sequentialize.instructions import write_instruction
from raceproof.sequentialize.writer import END, CWriter

_DEEPEST = 60
"""Calls inlined into each other at most."""


class ThreadPrinter:
    """Prints the thread that starts in `entry`."""

    def __init__(self, context: ProgramContext, entry: Function) -> None:
        self.context = context
        self.writer = CWriter(context.bounds.lines)
        self.name = f"thread_{identifier(entry.display)}"
        self._entry = entry
        self._layout = context.program.layout
        self._prefixes: dict[tuple[int, ...], str] = {(): ""}
        self._taken = {""}

    def print(self) -> str:
        """The thread's variables and its function."""
        is_main = self._entry.name == self.context.program.entry
        if is_main:
            for number, name in enumerate(self.context.program.constructors):
                self.inline(None, -2 - number, self.context.program.functions[name], (), None)
        frame = self._frame(None, (), self._entry, None)
        self._enter(frame, self._arguments_of_main() if is_main else self._argument())
        self._body(frame)
        write_endings(self, frame)
        return self._function_text()

    def _argument(self) -> tuple[Given, ...]:
        return (Given(PointerType(), ("thread[t].argument",)),)

    def _arguments_of_main(self) -> tuple[Given, ...]:
        count = len(self._entry.parameters)
        if count < 2:
            return tuple(Given(p.type, ("1",)) for p in self._entry.parameters)
        size = self._layout.pointer_size
        name = self.writer.field("argv_0", "address")
        vector = self.writer.field("argv", "address")
        self.writer.line(f"{name} = slot(t, 8, 0);")
        self.writer.line(f'put({name}, 0x6d6172676f7270ull, 8); /* the string "program" */')
        self.writer.line(f"{vector} = slot(t, {3 * size}, 0);")
        self.writer.line(f"put({vector}, {name}, {size});")
        given = [Given(self._entry.parameters[0].type, ("1",)), Given(PointerType(), (vector,))]
        if count > 2:
            given.append(Given(PointerType(), (f"(address)({vector} + {size})",)))
        return tuple(given)

    def _function_text(self) -> str:
        fields = "".join(f"    {type_} {name};\n" for name, type_ in self.writer.fields.items())
        struct = ""
        local = "    (void)t;\n"
        if fields:
            struct = f"static struct {self.name} {{\n{fields}}} {self.name}_locals[THREADS];\n\n"
            local = f"    struct {self.name} *const l = &{self.name}_locals[t];\n"
        first = "v1" if self.writer.labels else END
        where = f", {self._entry.position}" if self._entry.position else ""
        return (
            f"/* {self._entry.display}{where} */\n{struct}"
            f"static void {self.name}(unsigned t)\n{{\n{local}"
            f"    const unsigned pc = thread[t].pc;\n"
            f"    if (pc > 0) goto {first};\n{self.writer.text()}\n{END}:;\n}}\n"
        )

    # --- calls ------------------------------------------------------------

    def inline(
        self,
        caller: PrintedFrame | None,
        number: int,
        function: Function,
        arguments: tuple[Given, ...],
        result: Register | None,
        by_value: tuple[tuple[int, int], ...] = (),
    ) -> None:
        """Print a call's body in place; `by_value` are arguments to copy: index and size."""
        functions = caller.functions if caller is not None else ()
        if functions.count(function.name) > self.context.bounds.unwind:
            self.writer.line(f"stuck(t); /* recursion bound: {function.display} */")
            self.writer.goto(END)
            return
        if len(functions) >= _DEEPEST:
            raise UserError(f"calls are nested more than {_DEEPEST} deep at {function.display}")
        calls = (*(caller.calls if caller is not None else ()), number)
        frame = self._frame(caller, calls, function, result)
        frame.done = self.writer.fresh("r")
        frame.needs_stack |= bool(by_value)
        self._enter(frame, arguments, dict(by_value))
        self._body(frame)
        self.writer.label(frame.done)

    def _frame(
        self,
        caller: PrintedFrame | None,
        calls: tuple[int, ...],
        function: Function,
        result: Register | None,
    ) -> PrintedFrame:
        facts = self.context.facts(function)
        return PrintedFrame(
            self.context,
            self.writer,
            function,
            facts,
            self._prefix(calls, function),
            calls,
            (*(caller.functions if caller is not None else ()), function.name),
            result=None if caller is None or result is None else (caller, result),
            needs_stack=bool(calls)
            and (
                function.type.variadic
                or any(isinstance(i, StackSlot) for i in function.instructions)
            ),
        )

    def _prefix(self, calls: tuple[int, ...], function: Function) -> str:
        found = self._prefixes.get(calls)
        if found is None:
            plain = found = f"{identifier(function.display)}_"
            count = 1
            while found in self._taken:
                count += 1
                found = f"{plain}{count}_"
            self._taken.add(found)
            self._prefixes[calls] = found
        return found

    def _enter(
        self,
        frame: PrintedFrame,
        arguments: tuple[Given, ...],
        by_value: dict[int, int] | None = None,
    ) -> None:
        if frame.needs_stack:
            saved = self.writer.field(f"{frame.prefix}stack", "address")
            self.writer.line(f"{saved} = thread[t].stack;")
        parameters = frame.function.parameters
        for index, parameter in enumerate(parameters):
            names = frame.registers(parameter)
            if by_value and index in by_value and index < len(arguments):
                self.writer.line(f"{names[0]} = slot(t, {by_value[index]}, PRIVATE);")
                self.writer.line(
                    f"copy({names[0]}, {arguments[index].texts[0]}, {by_value[index]});"
                )
                continue
            given = self._passed(arguments, index, parameter, len(names))
            for name, text in zip(names, given, strict=True):
                self.writer.line(f"{name} = {text};")
        frame.variadic = arguments[len(parameters) :]

    def _passed(
        self, arguments: tuple[Given, ...], index: int, parameter: Register, count: int
    ) -> list[str]:
        if index >= len(arguments) or len(arguments[index].texts) != count:
            return ["0"] * count
        given = arguments[index]
        wanted = [type_ for type_, _ in leaves(parameter.type, self._layout)]
        have = [type_ for type_, _ in leaves(given.type, self._layout)]
        return [
            converted(source, target, text, self._layout)
            for source, target, text in zip(have, wanted, given.texts, strict=True)
        ]

    # --- blocks ------------------------------------------------------------

    def _body(self, frame: PrintedFrame) -> None:
        """All copies of the function's blocks, each after those that lead to it."""
        first = frame.facts.loops.order.first()
        labels: dict[CopyName, str] = {first: self.writer.fresh("b")}
        work = [first]
        while work:
            copy = heapq.heappop(work)
            self.writer.label(labels[copy])
            block = frame.function.blocks[copy[-1]]
            edges = _Edges(self, frame, copy, labels, work)
            for instruction in block.instructions[:-1]:
                self.writer.at(instruction.position)
                if not isinstance(instruction, Phi):
                    write_instruction(self, frame, instruction)
            self.writer.at(block.terminator.position)
            self._terminator(frame, block, edges)

    def _terminator(self, frame: PrintedFrame, block: Block, edges: _Edges) -> None:
        match block.terminator:
            case Jump(target=target) | AfterInvoke(normal=target):
                edges.go(target)
            case Branch(condition=condition, if_true=yes, if_false=no):
                edges.go_if(frame.value(condition), yes)
                edges.go(no)
            case Switch(value=value, default=default, cases=cases):
                text = frame.value(value)
                for number, target in cases:
                    edges.go_if(f"{text} == {number}u{'ll' if number >> 32 else ''}", target)
                edges.go(default)
            case IndirectJump(address=address, possible=possible):
                text = frame.value(address)
                for target in possible:
                    edges.go_if(f"{text} == {BLOCK_ADDRESSES + target}u", target)
                self.writer.line("must(0); /* a jump to nowhere */")
            case Return():
                self._return(frame, block.terminator)
            case _:
                self.writer.line("must(0); /* not reached */")

    def _return(self, frame: PrintedFrame, instruction: Return) -> None:
        value = instruction.value
        if not frame.calls:
            if frame.function.name == self.context.program.entry:
                self.writer.visible((), is_sync=True)
                end_process(self, frame, "the end of main ends every thread")
                return
            texts = frame.values(value) if value is not None else []
            is_number = len(texts) == 1 and value is not None and _is_integer(value.type)
            end_thread(self, frame, texts[0] if is_number else "0", cleans_up=False)
            return
        if frame.result is not None and value is not None:
            caller, register = frame.result
            given = (frame.given(value),)
            names = caller.registers(register)
            for name, text in zip(names, self._passed(given, 0, register, len(names)), strict=True):
                self.writer.line(f"{name} = {text};")
        if frame.needs_stack:
            self.writer.line(f"leave(t, l->{frame.prefix}stack);")
        self.writer.goto(frame.done)


class _Edges:
    """The ways on from one copy of a block."""

    def __init__(
        self,
        printer: ThreadPrinter,
        frame: PrintedFrame,
        copy: CopyName,
        labels: dict[CopyName, str],
        work: list[CopyName],
    ) -> None:
        self._writer = printer.writer
        self._frame = frame
        self._copy = copy
        self._labels = labels
        self._work = work

    def go(self, target: int) -> None:
        label, lines = self._way(target)
        for line in lines:
            self._writer.line(line)
        self._writer.goto(label)

    def go_if(self, condition: str, target: int) -> None:
        label, lines = self._way(target)
        self._writer.line(f"if ({condition}) {{ {' '.join([*lines, self._writer.jump(label)])} }}")

    def _way(self, target: int) -> tuple[str, list[str]]:
        """The label of the target's copy (the end, beyond the bounds), and what to do before."""
        loops = self._frame.facts.loops
        copy, is_cut, is_back = loops.follow(self._copy, target)
        if is_cut:
            return END, ["stuck(t); /* unwinding bound */"]
        lines = self._phis(target)
        if is_back:
            lines.append("must(++silent < SILENT);")
        label = self._labels.get(copy)
        if label is None:
            label = self._labels[copy] = self._writer.fresh("b")
            heapq.heappush(self._work, copy)
        return label, lines

    def _phis(self, target: int) -> list[str]:
        """What the target's phis become, all at once."""
        moves: list[tuple[str, str, str]] = []
        for phi in self._frame.function.blocks[target].phis:
            assert phi.result is not None
            for source, value in phi.incoming:
                if source == self._copy[-1]:
                    names = self._frame.registers(phi.result)
                    types = [t for t, _ in leaves(phi.result.type, self._frame.layout)]
                    texts = self._frame.values(value)
                    moves += [
                        (name, text, c_type(type_))
                        for name, text, type_ in zip(names, texts, types, strict=True)
                        if name != text
                    ]
                    break
        changed = {name for name, _, _ in moves}
        if not any(text in changed for _, text, _ in moves):
            return [f"{name} = {text};" for name, text, _ in moves]
        saved = [f"{type_} x{index} = {text};" for index, (_, text, type_) in enumerate(moves)]
        sets = [f"{name} = x{index};" for index, (name, _, _) in enumerate(moves)]
        return [f"{{ {' '.join([*saved, *sets])} }}"]


def _is_integer(type_: Type) -> bool:
    return isinstance(type_, PointerType | IntType)
