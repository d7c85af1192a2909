"""How BenchExec runs raceproof: ``<benchmark tool="raceproof.bench.toolinfo">``."""

from __future__ import annotations

from typing import Any

import benchexec.result as result
from benchexec.tools.sv_benchmarks_util import ILP32, get_data_model_from_task
from benchexec.tools.template import BaseTool2

_VERDICTS = {
    "true": result.RESULT_TRUE_PROP,
    "false(no-data-race)": f"{result.RESULT_FALSE_PROP}(no-data-race)",
    "unknown": result.RESULT_UNKNOWN,
}


class Tool(BaseTool2):  # type: ignore[misc]
    """Static data race detector for C."""

    def name(self) -> str:
        return "raceproof"

    def executable(self, tool_locator: Any) -> Any:
        return tool_locator.find_executable("raceproof", subdir="bin")

    def version(self, executable: str) -> Any:
        return self._version_from_tool(executable, line_prefix="raceproof")

    def cmdline(self, executable: str, options: list[str], task: Any, rlimits: Any) -> list[str]:
        words = [executable, "svcomp", *options]
        if task.property_file:
            words += ["--property", task.property_file]
        model = get_data_model_from_task(task, {ILP32: "ILP32", "LP64": "LP64"})
        if model:
            words += ["--data-model", model]
        if rlimits.cputime and "--timeout" not in options:
            words += ["--timeout", str(int(rlimits.cputime * 0.95))]
        return [*words, *task.input_files_or_identifier]

    def determine_result(self, run: Any) -> Any:
        for line in reversed(list(run.output)):
            if line.startswith("verdict: "):
                said = line.removeprefix("verdict: ").strip()
                return _VERDICTS.get(said, result.RESULT_ERROR)
        return result.RESULT_ERROR
