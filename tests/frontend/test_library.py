"""Bodies of library functions: when they are linked, and what is put in for models."""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from raceproof.concurrency import Models
from raceproof.errors import UserError
from raceproof.frontend import load_program
from raceproof.frontend.library import Body, body_files, body_names
from raceproof.frontend.library.insertions import (
    check_arguments,
    compare_addresses,
    errno_by_function,
    insert_after,
    model_insertions,
    touches_once_controls,
)
from raceproof.ir import Call, FunctionAddress, Program
from raceproof.options import DataModel, Options

DOCS = Path(__file__).parents[2] / "docs"


def program_of(text: str, folder: Path, **options: object) -> Program:
    path = folder / "program.c"
    path.write_text(text)
    return load_program([path], Options(**options))  # type: ignore[arg-type]  # as given


def called(program: Program) -> set[str]:
    return {
        i.callee.name
        for _, i in program.all_instructions()
        if isinstance(i, Call) and isinstance(i.callee, FunctionAddress)
    }


@pytest.mark.parametrize("model", DataModel)
@pytest.mark.parametrize("body", body_files(), ids=lambda body: body.path.stem)
def test_every_body_compiles_and_is_linked(body: Body, model: DataModel, tmp_path: Path) -> None:
    names = sorted(n for n in body.when if not n.startswith("raceproof_"))
    if not names:
        pytest.skip("linked for what is put in, not for a name")
    uses = "".join(f"extern char {name}[]; " for name in names)
    text = f"{uses}\nvoid *keep[] = {{{', '.join(names)}}};\nint main(void) {{ return 0; }}\n"
    program = program_of(text, tmp_path, data_model=model, clang_args=("-fno-builtin",))
    defined = {function.name for function in program.defined} | {
        name for name, one in program.globals.items() if one.initializer is not None
    }
    assert set(names) - {"environ", "__environ"} <= defined


def test_a_program_that_needs_no_body_gets_none(tmp_path: Path) -> None:
    program = program_of("int strlen(char *); int main(void) { return strlen(0); }", tmp_path)
    assert {function.name for function in program.defined} == {"main"}


def test_a_body_of_the_program_counts(tmp_path: Path) -> None:
    text = "char *strtok(char *s, const char *d) { return s; }\n"
    text += "char *strtok_r(char *, const char *, char **);\n"
    text += "int main(void) { char *r; strtok_r(0, 0, &r); return strtok(0, 0) != 0; }\n"
    program = program_of(text, tmp_path)
    assert len(program.functions["strtok"].instructions) == 1


def test_errno_is_set_by_what_fails(tmp_path: Path) -> None:
    text = "int close(int); int *__errno_location(void);\n"
    silent = program_of(text + "int main(void) { return close(3); }", tmp_path)
    assert "raceproof_error_number" not in called(silent)
    asking = program_of(text + "int main(void) { close(3); return *__errno_location(); }", tmp_path)
    assert "raceproof_error_number" in called(asking)


CALL = "define i32 @f() {\n  %1 = call i64 @read(i32 0, ptr %b, i64 1), !dbg !7\n  ret i32 0\n}\n"


def test_the_call_goes_behind_with_the_result() -> None:
    found = insert_after(CALL, model_insertions(frozenset({"read"}), ()), frozenset())
    assert "call void @raceproof_errno_minus_one_64(i64 %1), !dbg !7" in found
    assert "declare void @raceproof_errno_minus_one_64(i64)" in found


def test_a_function_whose_address_is_taken_may_be_called_anywhere() -> None:
    text = "@p = global ptr @read\ndefine void @f() {\n  call void %q()\n  ret void\n}\n"
    found = insert_after(text, model_insertions(frozenset({"read"}), ()), frozenset())
    assert "call void %q()\n  call void @raceproof_errno_any()" in found


def test_what_a_users_model_keeps_is_used(tmp_path: Path) -> None:
    model = tmp_path / "log.toml"
    model.write_text(
        '[[function]]\nname = "log_to"\nkeeps = [{ argument = 0, as = "log buffer" }]\n'
        '[[function]]\nname = "log_line"\nuses = ["log buffer"]\nerrno = "any"\n'
    )
    text = "void log_to(char *); void log_line(int); char b[8];\n"
    text += "int main(void) { log_to(b); log_line(1); return 0; }\n"
    program = program_of(text, tmp_path, models=(model,))
    assert "raceproof_may_write" in called(program)
    assert program.globals["raceproof_log_buffer"].display == "log buffer of the C library"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('errno = "-2"', "unknown errno when '-2'"),
        ('keeps = [{ argument = 0, as = "a-b" }]', "keeps: 'a-b' is no name"),
        ('keeps = [{ as = "a" }]', "keeps: 'argument' is missing"),
        ('uses = "a"', "uses: 'a' is no list of texts"),
        ('reads = ["might 0"]', "does not say what is accessed"),
    ],
)
def test_a_mistake_in_a_model_is_one_line(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(f'[[function]]\nname = "f"\n{line}\n')
    with pytest.raises(UserError, match=re.escape(message)) as caught:
        Models.load([path])
    assert str(caught.value).startswith(f"{path}:3: ")
    assert "\n" not in str(caught.value)


def test_arguments_out_of_range_are_checked() -> None:
    inside = "  %1 = call i32 @sem_init(ptr @s, i32 0, i32 1)\n"
    assert check_arguments(inside) == inside
    outside = inside.replace("i32 1)", "i32 -2147483648)")
    assert "@raceproof_checked_sem_init(ptr @s" in check_arguments(outside)
    assert "@raceproof_checked_sem_init(ptr @s" in check_arguments(inside.replace("1)", "%n)"))


def test_a_once_control_that_is_more_than_an_operand() -> None:
    use = "\n@c = global i32 0\n  %1 = call i32 @pthread_once(ptr noundef @c, ptr @f)\n"
    assert not touches_once_controls([use])
    assert touches_once_controls([use + "  store i32 0, ptr @c, align 4\n"])
    assert touches_once_controls([use.replace("ptr noundef @c", "ptr noundef %c")])


def test_pointers_are_compared_by_a_body_but_not_with_null() -> None:
    text = "  %3 = icmp eq ptr %1, %2\n  %4 = icmp ne ptr %1, null\n"
    found = compare_addresses(text)
    assert "%3 = call zeroext i1 @raceproof_same_address(ptr %1, ptr %2)" in found
    assert "%4 = icmp ne ptr %1, null" in found


def test_functions_that_set_errno_have_models() -> None:
    models = Models.load()
    unknown = [name for name in errno_by_function() if models.lookup(name) is None]
    assert set(unknown) <= body_names() | {"mq_notify", "wcsxfrm"}


def test_the_table_of_the_library_is_made() -> None:
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="library.md"))
    text = hooks.on_page_markdown((DOCS / "library.md").read_text(), page)
    assert "| `strtok` | exact (body) |" in text
    assert "| `close` | approximated | -1 |" in text
    assert "| `localtime` |" in text
