"""ThreadSanitizer of GCC as a judge: compile a program with it, run it often, with noise.

That a run has no race says little; that one has is a fact, apart from what ThreadSanitizer does not
know (fences, assembly): programs with those are not judged.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_NOISE = Path(__file__).parent / "noise.c"
_ACCESSES = [f"__tsan_{kind}{size}" for kind in ("read", "write") for size in (1, 2, 4, 8, 16)]
_CALLS = [
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_join",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_create",
]
_RACE = re.compile(r"WARNING: ThreadSanitizer: (data race|heap-use-after-free)")
_UNKNOWN_TO_IT = re.compile(
    r"thread_fence|__sync_synchronize|\b__?asm|getcontext|\bvfork\b"
    r"|__VERIFIER_atomic_(?!begin|end)\w+\("
)
_SETTINGS = (
    "halt_on_error=1 exitcode=66 report_thread_leaks=0 report_mutex_bugs=0 "
    "report_destroy_locked=0 report_signal_unsafe=0 detect_deadlocks=0 atexit_sleep_ms=20 "
    "die_after_fork=0 history_size=4"
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the runs of one program showed."""

    is_racy: bool
    runs: int
    evidence: str = ""
    """The first lines of a report."""


class Judge:
    """Compiles and runs programs in a folder of its own."""

    def __init__(self, folder: Path, *, seconds: float = 5.0) -> None:
        self._folder = folder
        self._seconds = seconds
        self._noise = folder / "noise.o"
        folder.mkdir(parents=True, exist_ok=True)
        self._plain_noise = folder / "plain_noise.o"
        compiler = ["gcc", "-O1", "-c", str(_NOISE), "-o"]
        subprocess.run([*compiler, str(self._noise)], check=True)
        subprocess.run([*compiler, str(self._plain_noise), "-DPLAIN"], check=True)

    def judge(self, program: Path, runs: int) -> Judgement | None:
        """None if it does not compile, or uses what ThreadSanitizer does not know."""
        if _UNKNOWN_TO_IT.search(program.read_text("utf-8")):
            return None
        binary = self._folder / f"{program.stem}.tsan"
        wraps = [f"-Wl,--wrap={name}" for name in (*_ACCESSES, *_CALLS)]
        command = ["gcc", "-w", "-g", "-O0", "-fsanitize=thread", "-pthread", str(program)]
        command += [str(self._noise), *wraps, "-lm", "-o", str(binary)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return None
        try:
            for seed in range(1, runs + 1):
                evidence = self._run(binary, seed)
                if evidence is None:
                    return Judgement(False, seed)
                if evidence:
                    return Judgement(True, seed, evidence)
        finally:
            binary.unlink()
        return Judgement(False, runs)

    def is_undefined(self, program: Path) -> bool:
        """Does AddressSanitizer or UndefinedBehaviorSanitizer complain? Then anything is right."""
        binary = self._folder / f"{program.stem}.asan"
        command = ["gcc", "-w", "-g", "-O0", "-fsanitize=address,undefined", "-pthread"]
        command += [str(program), str(self._plain_noise), "-lm", "-o", str(binary)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return False
        settings = {"ASAN_OPTIONS": "detect_leaks=0 detect_stack_use_after_return=1"}
        try:
            for _ in range(3):
                ended = subprocess.run(
                    ["setarch", "-R", str(binary)],
                    env=settings | {"PATH": "/usr/bin:/bin"},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=self._seconds,
                    check=False,
                    cwd=self._folder,
                )
                if b"AddressSanitizer" in ended.stderr or b"runtime error" in ended.stderr:
                    return True
        except subprocess.TimeoutExpired:
            return False
        finally:
            binary.unlink()
        return False

    def _run(self, binary: Path, seed: int) -> str | None:
        """The report of a race, empty without one, None if the run did not end in time."""
        environment = {"TSAN_OPTIONS": _SETTINGS, "NOISE_SEED": str(seed), "PATH": "/usr/bin:/bin"}
        try:
            ended = subprocess.run(
                ["setarch", "-R", str(binary)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=self._seconds,
                check=False,
                cwd=self._folder,
            )
            report = ended.stderr
            is_late = False
        except subprocess.TimeoutExpired as late:
            report = late.stderr or b""
            is_late = True
        text = report.decode("utf-8", "replace")
        found = _RACE.search(text)
        if found is None:
            return None if is_late else ""
        return text[found.start() : found.start() + 600]
