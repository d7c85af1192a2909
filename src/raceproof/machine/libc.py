"""A small C library: what its functions compute. What they access is said by their models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from raceproof.concurrency.model import FunctionModel, ReturnKind
from raceproof.machine.formatting import format_text
from raceproof.machine.operation import Operation
from raceproof.machine.operators import to_signed
from raceproof.machine.segments import AccessRange
from raceproof.machine.unknown import Unknown

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

_FUNCTIONS: dict[str, Callable[..., Any]] = {}
_F = TypeVar("_F", bound=Callable[..., Any])


def _library(*names: str) -> Callable[[_F], _F]:
    def register(function: _F) -> _F:
        for name in names:
            _FUNCTIONS[name] = function
        return function

    return register


class LibraryCall(Operation):
    """A function that threads do not meet in: it reads, writes and returns."""

    is_sync = False

    def __init__(self, name: str, model: FunctionModel | None, bits: int) -> None:
        super().__init__(name, model)
        self._function = _FUNCTIONS.get(name)
        self._bits = bits
        self._is_known = model is not None or self._function is not None

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        return machine.effects(self.model, arguments)

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        if self.model.callbacks:
            machine.left_out.add(f"the calls that {self.name} makes")
        if self._function is not None and not any(
            isinstance(argument, Unknown) for argument in arguments
        ):
            return self._function(machine, *arguments)
        if not self._is_known:
            machine.assume(f"{self.name} has no effect on threads, locks and memory")
        for first, end, flags in machine.effects(self.model, arguments):
            if flags & 1:
                machine.forget(first, end - first)
        return self._returned(machine, thread, arguments)

    def _returned(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> Any:
        returns = self.model.returns
        match returns.kind:
            case ReturnKind.CONSTANT:
                return returns.constant & ((1 << (self._bits or 32)) - 1)
            case ReturnKind.ARGUMENT | ReturnKind.INTO:
                return arguments[returns.index]
            case ReturnKind.FRESH:
                block = machine.memory.allocate(thread.arena, 256, self.name, f"call:{self.name}")
                return block.base
            case ReturnKind.STATIC | ReturnKind.THREAD_LOCAL:
                return machine.library_object(thread, returns)
        if not self._bits:
            return 0
        return machine.input(self._bits, None)


@_library("memcpy", "memmove", "__memcpy_chk", "__memmove_chk")
def _memcpy(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    m.memory.copy(target, source, size)
    return target


@_library("memset", "__memset_chk")
def _memset(m: Machine, target: int, byte: int, size: int, *_: Any) -> int:
    m.memory.write(target, bytes([byte & 0xFF]) * size)
    return target


@_library("memcmp", "bcmp")
def _memcmp(m: Machine, first: int, second: int, size: int) -> int:
    return _order(m.memory.read(first, size), m.memory.read(second, size))


def _order(first: bytes, second: bytes) -> int:
    if first == second:
        return 0
    return 1 if first > second else (1 << 32) - 1


@_library("strlen")
def _strlen(m: Machine, text: int) -> int:
    return len(m.memory.string(text))


@_library("strnlen")
def _strnlen(m: Machine, text: int, limit: int) -> int:
    return len(_bounded(m, text, limit))


def _bounded(m: Machine, text: int, limit: int) -> bytes:
    """The string, but never looking further than `limit` bytes."""
    found = m.memory.find(text, 0)
    offset = text - found.base
    part = bytes(found.data[offset : offset + limit])
    return part.split(b"\0", 1)[0]


@_library("strcmp", "strcoll")
def _strcmp(m: Machine, first: int, second: int) -> int:
    return _order(m.memory.string(first), m.memory.string(second))


@_library("strncmp")
def _strncmp(m: Machine, first: int, second: int, limit: int) -> int:
    return _order(_bounded(m, first, limit), _bounded(m, second, limit))


@_library("strcpy", "__strcpy_chk")
def _strcpy(m: Machine, target: int, source: int, *_: Any) -> int:
    m.memory.write(target, m.memory.string(source) + b"\0")
    return target


@_library("strncpy", "__strncpy_chk")
def _strncpy(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    m.memory.write(target, _bounded(m, source, size).ljust(size, b"\0"))
    return target


@_library("strcat", "__strcat_chk")
def _strcat(m: Machine, target: int, source: int, *_: Any) -> int:
    end = target + len(m.memory.string(target))
    m.memory.write(end, m.memory.string(source) + b"\0")
    return target


@_library("strncat", "__strncat_chk")
def _strncat(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    end = target + len(m.memory.string(target))
    m.memory.write(end, _bounded(m, source, size) + b"\0")
    return target


@_library("strchr", "index")
def _strchr(m: Machine, text: int, byte: int) -> int:
    place = (m.memory.string(text) + b"\0").find(byte & 0xFF)
    return 0 if place < 0 else text + place


@_library("strrchr", "rindex")
def _strrchr(m: Machine, text: int, byte: int) -> int:
    place = (m.memory.string(text) + b"\0").rfind(byte & 0xFF)
    return 0 if place < 0 else text + place


@_library("strstr")
def _strstr(m: Machine, text: int, wanted: int) -> int:
    place = m.memory.string(text).find(m.memory.string(wanted))
    return 0 if place < 0 else text + place


@_library("memchr")
def _memchr(m: Machine, data: int, byte: int, size: int) -> int:
    place = m.memory.read(data, size).find(byte & 0xFF)
    return 0 if place < 0 else data + place


@_library("atoi", "atol")
def _atoi(m: Machine, text: int) -> int:
    return _strtol(m, text, 0, 10) & 0xFFFF_FFFF


@_library("strtol", "strtoul")
def _strtol(m: Machine, text: int, end: int, base: int) -> int:
    data = m.memory.string(text)
    digits = data.lstrip()
    length = 1 if digits[:1] in (b"+", b"-") else 0
    while digits[length : length + 1].isdigit():
        length += 1
    value = int(digits[:length]) if digits[:length].lstrip(b"+-") else 0
    if end:
        m.write_pointer(end, text + len(data) - len(digits) + length)
    return value & ((1 << 8 * m.program.layout.pointer_size) - 1)


@_library("abs", "labs")
def _abs(m: Machine, value: int) -> int:
    return abs(to_signed(value, 32))


@_library("printf", "__printf_chk")
def _printf(m: Machine, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    m.output += text
    return len(text)


def _formatted(m: Machine, arguments: tuple[Any, ...]) -> bytes:
    template = m.memory.string(arguments[0])
    return format_text(m.memory, template, arguments[1:], 8 * m.program.layout.pointer_size)


@_library("fprintf", "dprintf")
def _fprintf(m: Machine, stream: int, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    _emit(m, stream, text)
    return len(text)


def _emit(m: Machine, stream: int, text: bytes) -> None:
    if stream != m.standard_error():
        m.output += text


@_library("vprintf")
def _vprintf(m: Machine, template: int, arguments: int) -> int:
    return _printf(m, template, *m.variable_arguments(template, arguments))


@_library("vfprintf")
def _vfprintf(m: Machine, stream: int, template: int, arguments: int) -> int:
    return _fprintf(m, stream, template, *m.variable_arguments(template, arguments))


@_library("sprintf")
def _sprintf(m: Machine, target: int, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    m.memory.write(target, text + b"\0")
    return len(text)


@_library("snprintf")
def _snprintf(m: Machine, target: int, size: int, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    if size:
        m.memory.write(target, text[: size - 1] + b"\0")
    return len(text)


@_library("vsnprintf")
def _vsnprintf(m: Machine, target: int, size: int, template: int, arguments: int) -> int:
    return _snprintf(m, target, size, template, *m.variable_arguments(template, arguments))


@_library("puts")
def _puts(m: Machine, text: int) -> int:
    m.output += m.memory.string(text) + b"\n"
    return 1


@_library("putchar", "putchar_unlocked")
def _putchar(m: Machine, byte: int) -> int:
    m.output.append(byte & 0xFF)
    return byte


@_library("putc", "fputc", "_IO_putc")
def _putc(m: Machine, byte: int, stream: int) -> int:
    _emit(m, stream, bytes([byte & 0xFF]))
    return byte


@_library("fputs")
def _fputs(m: Machine, text: int, stream: int) -> int:
    _emit(m, stream, m.memory.string(text))
    return 1


@_library("fwrite")
def _fwrite(m: Machine, data: int, size: int, count: int, stream: int) -> int:
    _emit(m, stream, m.memory.read(data, size * count))
    return count


@_library(
    "fflush",
    "sched_yield",
    "usleep",
    "sleep",
    "nanosleep",
    "setbuf",
    "setvbuf",
    "srand",
    "fclose",
    "close",
    "atexit",
)
def _nothing(m: Machine, *_: Any) -> int:
    return 0


@_library("isdigit")
def _isdigit(m: Machine, c: int) -> int:
    return int(48 <= c <= 57)


@_library("isspace")
def _isspace(m: Machine, c: int) -> int:
    return int(c in (32, 9, 10, 11, 12, 13))


@_library("toupper")
def _toupper(m: Machine, c: int) -> int:
    return c - 32 if 97 <= c <= 122 else c


@_library("tolower")
def _tolower(m: Machine, c: int) -> int:
    return c + 32 if 65 <= c <= 90 else c
