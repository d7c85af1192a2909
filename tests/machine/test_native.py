"""Sequential and deterministic programs do the same on our machine as natively."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raceproof.options import DataModel, Options
from tests.machine.native import ON_X86, compile_native, run_native, run_on_machine

pytestmark = ON_X86

FOLDER = Path(__file__).parent / "programs"
_TARGETS = re.compile(r"// .*Targets: (.*)")


def cases() -> list[tuple[Path, DataModel]]:
    found = []
    for path in sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.cpp")]):
        named = _TARGETS.match(path.read_text().splitlines()[0])
        models = named[1].split() if named else [model.value for model in DataModel]
        found += [(path, DataModel(model)) for model in models]
    return found


@pytest.mark.parametrize(
    ("path", "model"), cases(), ids=[f"{path.name}-{model}" for path, model in cases()]
)
def test_agrees_with_native_execution(path: Path, model: DataModel, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    compile_native(path, binary, model)
    expected = run_native(binary)
    found = run_on_machine(path, Options(data_model=model))
    assert found.output.decode() == expected.output.decode(), found.why
    assert found.code == expected.code, found.why
