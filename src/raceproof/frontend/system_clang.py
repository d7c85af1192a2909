"""The system's Clang, for installations without the bundled one.

It must write the LLVM that we read: its major version is that of llvmlite's LLVM.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from raceproof.errors import UserError

_SECONDS = 10.0
_VERSION = re.compile(r"clang version (\d+)")


def llvm_version() -> int:
    """The major version of LLVM that we read."""
    import llvmlite.binding as llvm

    return int(llvm.llvm_version_info[0])


@lru_cache(maxsize=1)
def system_clang() -> Path:
    """A Clang of the right version; `UserError` if there is none."""
    wanted = llvm_version()
    seen = []
    for name in (f"clang-{wanted}", "clang"):
        path = shutil.which(name)
        version = version_of(path) if path is not None else None
        if path is not None and version == wanted:
            return Path(path)
        if version is not None:
            seen.append(f"{path} is version {version}")
    because = f" ({', '.join(seen)})" if seen else ""
    raise UserError(
        f"no compiler: Clang {wanted} is needed{because}; install it with your system, or the "
        "bundled one with pip install 'raceproof[clang]', or name one with --clang PATH"
    )


def version_of(clang: str) -> int | None:
    """What it says of itself; None if it cannot be asked."""
    try:
        asked = subprocess.run(
            [clang, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(asked.stdout)
    return int(found[1]) if found else None
