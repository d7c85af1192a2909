"""Output to a buffer; what goes to the standard error is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.machine.formatting import format_text
from raceproof.machine.libc.registry import library, writes
from raceproof.machine.libc.variadic import variable_arguments

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine


@library("printf")
def _printf(m: Machine, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    m.output += text
    return len(text)


def _formatted(m: Machine, arguments: tuple[Any, ...]) -> bytes:
    template = m.memory.string(arguments[0])
    return format_text(m.memory, template, arguments[1:], 8 * m.program.layout.pointer_size)


@library("fprintf", "dprintf")
def _fprintf(m: Machine, stream: int, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    _emit(m, stream, text)
    return len(text)


def _emit(m: Machine, stream: int, text: bytes) -> None:
    if stream != m.standard_error():
        m.output += text


@library("vprintf")
def _vprintf(m: Machine, template: int, arguments: int) -> int:
    return _printf(m, template, *variable_arguments(m, template, arguments))


@library("vfprintf")
def _vfprintf(m: Machine, stream: int, template: int, arguments: int) -> int:
    return _fprintf(m, stream, template, *variable_arguments(m, template, arguments))


@library("__printf_chk")
def _printf_chk(m: Machine, _: int, *arguments: Any) -> int:
    return _printf(m, *arguments)


@library("vsprintf")
def _vsprintf(m: Machine, target: int, template: int, arguments: int) -> int:
    return _sprintf(m, target, template, *variable_arguments(m, template, arguments))


@library("sprintf")
def _sprintf(m: Machine, target: int, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    m.memory.write(target, text + b"\0")
    return len(text)


@writes("sprintf")
def _sprintf_place(m: Machine, target: int, *arguments: Any) -> tuple[int, int]:
    return target, len(_formatted(m, arguments)) + 1


@writes("vsprintf")
def _vsprintf_place(m: Machine, target: int, template: int, arguments: int) -> tuple[int, int]:
    return _sprintf_place(m, target, template, *variable_arguments(m, template, arguments))


@library("snprintf")
def _snprintf(m: Machine, target: int, size: int, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    if size:
        m.memory.write(target, text[: size - 1] + b"\0")
    return len(text)


@library("vsnprintf")
def _vsnprintf(m: Machine, target: int, size: int, template: int, arguments: int) -> int:
    return _snprintf(m, target, size, template, *variable_arguments(m, template, arguments))


@library("puts")
def _puts(m: Machine, text: int) -> int:
    m.output += m.memory.string(text) + b"\n"
    return 1


@library("putchar", "putchar_unlocked")
def _putchar(m: Machine, byte: int) -> int:
    m.output.append(byte & 0xFF)
    return byte


@library("putc", "fputc", "_IO_putc")
def _putc(m: Machine, byte: int, stream: int) -> int:
    _emit(m, stream, bytes([byte & 0xFF]))
    return byte


@library("fputs")
def _fputs(m: Machine, text: int, stream: int) -> int:
    _emit(m, stream, m.memory.string(text))
    return 1


@library("fwrite")
def _fwrite(m: Machine, data: int, size: int, count: int, stream: int) -> int:
    _emit(m, stream, m.memory.read(data, size * count))
    return count


@library("sched_yield", "setbuf", "setvbuf", "srand")
def _nothing(m: Machine, *_: Any) -> int:
    return 0


@library("fflush", "usleep", "sleep", "nanosleep", "fclose", "close")
def _success(m: Machine, *_: Any) -> Any:
    """It seldom fails, but it may."""
    return m.undefined()
