"""Functions that nobody defines: whose they are decides whether a proof may rest on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raceproof.cli import main
from raceproof.frontend.builds import drivers

PROGRAM = """\
#include <pthread.h>
{include}
static void *worker(void *argument) {{ {call}; return argument; }}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    {call};
    pthread_join(thread, 0);
    return 0;
}}
"""


class Project:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def missing(self, *words: str) -> str:
        """Those named as missing; empty for a proof."""
        main(["check", *words, "--format", "json"])
        found = json.loads(self._capsys.readouterr().out)
        if found["verdict"] == "race-free":
            return ""
        assert found["verdict"] == "unknown"
        assert found["findings"] == []
        (said,) = [a for a in found["assumptions"] if a.startswith("not seen: functions of the")]
        return str(said.partition("defines: ")[2])

    def write(self, include: str, call: str, header: str = "", *flags: str) -> None:
        (self.folder / "own").mkdir(exist_ok=True)
        (self.folder / "own" / "part.h").write_text(header)
        (self.folder / "safe.c").write_text(PROGRAM.format(include=include, call=call))
        command = ["cc", *(flags or ("-Iown",)), "-c", "safe.c", "-o", "safe.o"]
        entry = {"directory": str(self.folder), "file": "safe.c", "arguments": command}
        (self.folder / "compile_commands.json").write_text(json.dumps([entry]))
        target = {"output": "safe", "kind": "program", "inputs": [str(self.folder / "safe.o")]}
        (self.folder / "link_commands.json").write_text(json.dumps([target]))


@pytest.fixture
def project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)


@pytest.mark.parametrize("name", ["sched_priority", "key", "timespec"])
def test_a_header_of_the_system_mentions_the_name(project: Project, name: str) -> None:
    """As a member, a parameter, a tag: that is no declaration of the function."""
    project.write('#include "part.h"', f"{name}()", f"void {name}(void);\n")
    assert project.missing() == f"`{name}`"
    assert project.missing("safe.c", "--clang-arg=-Iown") == f"`{name}`"


def test_declared_by_a_file_itself(project: Project) -> None:
    project.write("void sched_priority(void);", "sched_priority()")
    assert project.missing() == "`sched_priority`"
    assert project.missing("safe.c") == "", "it may be anybody's: an assumption"


def test_not_declared_at_all(project: Project) -> None:
    project.write("", "sched_priority()")
    assert project.missing() == "`sched_priority`"


def test_declared_by_the_system_too(project: Project) -> None:
    """The linker takes the definition of the project."""
    include = '#include <unistd.h>\n#include "part.h"'
    project.write(include, "vhangup()", "extern int vhangup(void);\n")
    assert project.missing() == "`vhangup`"
    project.write("#include <unistd.h>", "vhangup()")
    assert project.missing() == ""


def test_a_name_that_has_a_model(project: Project) -> None:
    project.write('#include "part.h"', "spin_lock(0)", "void spin_lock(void *lock);\n")
    assert project.missing() == "`spin_lock`"
    (project.folder / "m.toml").write_text('[[function]]\nname = "spin_lock"\n')
    assert project.missing("--model", "m.toml") == ""


def test_a_name_that_has_a_body_of_ours(project: Project) -> None:
    project.write('#include "part.h"', "ffs(4)", "int ffs(int set);\n")
    assert project.missing() == "`ffs`"
    project.write("#include <strings.h>", "ffs(4)")
    assert project.missing() == ""


def test_headers_that_are_only_called_the_systems(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "void touch(void);\n"
    project.write("#include <part.h>", "touch()", header, "-isystem", "own")
    assert project.missing() == "`touch`"
    monkeypatch.setenv("CPATH", str(project.folder / "own"))
    drivers._answer.cache_clear()
    project.write("#include <part.h>", "touch()", header, "-DX")
    assert project.missing() == "`touch`"
    monkeypatch.undo()
    drivers._answer.cache_clear()


@pytest.mark.parametrize(
    ("include", "call"),
    [
        ("<unistd.h>", "nice(0)"),
        ("<math.h>", "logbf(1)"),
        ("<sys/klog.h>", "klogctl(0, 0, 0)"),
        ("<sys/statvfs.h>", "{ struct statvfs s; statvfs(0, &s); }"),
    ],
)
def test_functions_of_the_system(project: Project, include: str, call: str) -> None:
    project.write(f"#include {include}", call, "", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64")
    assert project.missing() == ""
