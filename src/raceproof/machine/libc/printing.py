"""Output. What goes to the standard error is dropped; every function may fail to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.machine.formatting import format_text
from raceproof.machine.libc.registry import library
from raceproof.machine.libc.variadic import variable_arguments

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_FAILED = -1


def _formatted(m: Machine, arguments: tuple[Any, ...]) -> bytes:
    template = m.memory.string(arguments[0])
    return format_text(m.memory, template, arguments[1:], 8 * m.program.layout.pointer_size)


def _emit(m: Machine, stream: int, text: bytes) -> None:
    if stream != m.standard_error():
        m.output += text


def _succeeds(m: Machine) -> bool:
    """Whether the output could be written: an input, if it is looked at."""
    return not m.wants_result() or not m.input_fails()


def _count(m: Machine, text: bytes) -> int:
    return len(text) if _succeeds(m) else _FAILED


@library("printf")
def _printf(m: Machine, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    result = _count(m, text)
    m.output += text
    return result


@library("fprintf", "dprintf")
def _fprintf(m: Machine, stream: int, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    result = _count(m, text)
    _emit(m, stream, text)
    return result


@library("__printf_chk")
def _printf_chk(m: Machine, _: int, *arguments: Any) -> int:
    return _printf(m, *arguments)


@library("__fprintf_chk", "__dprintf_chk")
def _fprintf_chk(m: Machine, stream: int, _: int, *arguments: Any) -> int:
    return _fprintf(m, stream, *arguments)


@library("vprintf")
def _vprintf(m: Machine, template: int, arguments: int) -> int:
    return _printf(m, template, *variable_arguments(m, template, arguments))


@library("vfprintf", "vdprintf")
def _vfprintf(m: Machine, stream: int, template: int, arguments: int) -> int:
    return _fprintf(m, stream, template, *variable_arguments(m, template, arguments))


# --- into a buffer ---


@library("sprintf")
def _sprintf(m: Machine, target: int, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    m.memory.write(target, text + b"\0")
    return len(text)


@library("__sprintf_chk")
def _sprintf_chk(m: Machine, target: int, _: int, __: int, *arguments: Any) -> int:
    return _sprintf(m, target, *arguments)


@library("vsprintf")
def _vsprintf(m: Machine, target: int, template: int, arguments: int) -> int:
    return _sprintf(m, target, template, *variable_arguments(m, template, arguments))


@library("snprintf")
def _snprintf(m: Machine, target: int, size: int, *arguments: Any) -> int:
    text = _formatted(m, arguments)
    if size:
        m.memory.write(target, text[: size - 1] + b"\0")
    return len(text)


@library("__snprintf_chk")
def _snprintf_chk(m: Machine, target: int, size: int, _: int, __: int, *arguments: Any) -> int:
    return _snprintf(m, target, size, *arguments)


@library("vsnprintf")
def _vsnprintf(m: Machine, target: int, size: int, template: int, arguments: int) -> int:
    return _snprintf(m, target, size, template, *variable_arguments(m, template, arguments))


# --- characters and strings ---


@library("puts")
def _puts(m: Machine, text: int) -> int:
    data = m.memory.string(text) + b"\n"
    result = _count(m, data)
    m.output += data
    return result


@library("putchar", "putchar_unlocked")
def _putchar(m: Machine, byte: int) -> int:
    result = byte & 0xFF if _succeeds(m) else _FAILED
    m.output.append(byte & 0xFF)
    return result


@library("putc", "fputc", "_IO_putc", "putc_unlocked", "fputc_unlocked")
def _putc(m: Machine, byte: int, stream: int) -> int:
    result = byte & 0xFF if _succeeds(m) else _FAILED
    _emit(m, stream, bytes([byte & 0xFF]))
    return result


@library("fputs", "fputs_unlocked")
def _fputs(m: Machine, text: int, stream: int) -> int:
    data = m.memory.string(text)
    result = 1 if _succeeds(m) else _FAILED
    _emit(m, stream, data)
    return result


@library("fwrite", "fwrite_unlocked")
def _fwrite(m: Machine, data: int, size: int, count: int, stream: int) -> int:
    text = m.memory.read(data, size * count)
    written = count
    if m.wants_result():
        written = m.input(8 * m.program.layout.pointer_size, (0, count))
    _emit(m, stream, text)
    return written


@library("sched_yield", "setbuf", "setvbuf", "srand", "srandom", "srand48", "pthread_yield")
def _nothing(m: Machine, *_: Any) -> int:
    return 0
