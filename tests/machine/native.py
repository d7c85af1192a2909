"""The same program on our machine and, compiled with the bundled Clang, on the real one."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from raceproof.frontend import load_program
from raceproof.machine.faults import ProgramExit
from raceproof.machine.machine import Machine
from raceproof.options import DataModel, Options

_TARGETS = {DataModel.LP64: (), DataModel.ILP32: ("-target", "x86-linux-musl")}
"""This machine's own library for 64 bits; for 32 bits one that needs none of this machine."""

ON_X86 = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="the machine computes as x86 does"
)
UNFINISHED = "more steps than we wait for"


@dataclass(frozen=True, slots=True)
class Run:
    output: bytes
    code: int
    """The exit code; -1 if the execution ended otherwise, then `why` says how."""
    why: str = ""


def zig() -> str:
    spec = importlib.util.find_spec("ziglang")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "zig")


def compile_native(path: Path, binary: Path, model: DataModel, flags: Sequence[str] = ()) -> None:
    """As our own front end compiles: without optimisation, with its language standard."""
    language = ["-std=gnu17", "-fgnu89-inline"]
    if path.suffix == ".cpp":
        language = ["-std=gnu++20", "-fno-exceptions", "-fno-rtti"]
    command = [zig(), "cc", *_TARGETS[model], *language, "-O0", "-w", "-fno-sanitize=undefined"]
    command += ["-Wno-error=incompatible-pointer-types", "-pthread", "-lm", *flags]
    subprocess.run([*command, str(path), "-o", str(binary)], check=True, capture_output=True)


def run_native(binary: Path, seconds: float = 10.0) -> Run:
    """Raises `subprocess.TimeoutExpired`; skips the test where such programs cannot run."""
    try:
        ended = subprocess.run(
            [str(binary)],
            capture_output=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        pytest.skip(f"this machine does not run such programs: {error}")
    return Run(ended.stdout, ended.returncode if ended.returncode >= 0 else -1)


def run_on_machine(path: Path, options: Options, most_steps: int = 100_000) -> Run:
    """With the simplest schedule: the first thread that can go on does."""
    machine = Machine(load_program([path], options))
    machine.reset()
    for _ in range(most_steps):
        enabled = machine.enabled()
        if not enabled:
            break
        machine.step(enabled[0])
    else:
        return Run(bytes(machine.output), -1, UNFINISHED)
    ended = machine.ended
    if isinstance(ended, ProgramExit):
        return Run(bytes(machine.output), ended.code)
    return Run(bytes(machine.output), -1, "stuck" if ended is None else f"{ended.kind}: {ended}")
