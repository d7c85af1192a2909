"""Whose a function is, told from where it is declared; texts are what a preprocessor prints."""

from __future__ import annotations

import pytest

from raceproof.frontend.declarations import read_declarations, scoped

PLACES = ("/usr/include/",)


def read(text: str, name: str = "push", is_cxx: bool = False) -> tuple[bool, list[str], bool]:
    lines = [
        {"SYSTEM": '# 1 "/usr/include/stack.h" 1 3 4', "PROJECT": '# 7 "queue.h" 2'}.get(line, line)
        for line in text.splitlines()
    ]
    found = read_declarations("\n".join(lines), [name], "/home/me/project", PLACES, is_cxx)[name]
    return found.system, sorted(found.project), found.is_used


@pytest.mark.parametrize(
    "text",
    [
        "int push(int);",
        "extern int *push (struct stack *s, int (*visit)(int)) __attribute__ ((nothrow));",
        "__attribute__((warn_unused_result)) extern int push(int);",
        "int\npush\n(int);",
        "int (*push(const struct stack *s)) (struct stack *, int);",
        "static inline int push(int x) { return x; }",
        'extern int shove(int) __asm__ ("" "push");',
        '#pragma weak other\nint a;\n# 9 "/usr/include/stack.h" 3 4\nint push(int);',
    ],
)
def test_declared_by_the_system(text: str) -> None:
    assert read(f"SYSTEM\n{text}") == (True, [], False)


@pytest.mark.parametrize(
    "text",
    [
        "#pragma GCC visibility push(default)",
        "struct stack { int (*push)(int); int push; };",
        "typedef int push(int);",
        "typedef struct push { int x; } push;",
        "struct push { int x; };",
        "enum { push };",
        "int shove(int (push)(int));",
        "int shove(int push);",
        "int shove(int (*push(int))(int));",
        "int (*shove(int (*push)(int)))(int);",
        "static inline int shove(int x) { return push(x); }",
        "static inline int shove(int x) { int push(int); return push(x); }",
        'extern const char *text; __asm__ (".globl push");',
        "int shove(int) __attribute__((alias(push)));",
        "int shove __attribute__((cleanup(push)));",
        'static const char *name = "int push(int);";',
        "extern int push;",
        'asm("push");',
        "int (*push)(int);",
    ],
)
def test_mentioned_only(text: str) -> None:
    assert read(f"SYSTEM\n{text}") == (False, [], False)


@pytest.mark.parametrize(
    "text",
    [
        "int push(int);",
        "int work(void) { extern int push(int); return push(1); }",
        "int work(void) { int push(); return push(1); }",
        "int work(void) { struct stack *push(int); return push(1)->x; }",
        'int shove(int) __asm__("push");',
        "int (push)(int);",
        "void (*push(int))(int);",
    ],
)
def test_declared_by_the_project(text: str) -> None:
    system, project, is_used = read(f"PROJECT\n{text}")
    assert not system
    assert project == ["/home/me/project/queue.h"]
    assert is_used


@pytest.mark.parametrize(
    "body",
    [
        "push(1);",
        "return push(1);",
        "if (x) y(); else push(1);",
        "x = push(1);",
        "do push(1); while (x);",
        "for (;;) push(1);",
        "call(push);",
    ],
)
def test_a_call_is_no_declaration(body: str) -> None:
    assert read(f"PROJECT\nint work(void) {{ {body} }}") == (False, [], True)
    assert read(f"SYSTEM\nint push(int);\nPROJECT\nint work(void) {{ {body} }}") == (True, [], True)


def test_declared_by_both() -> None:
    text = "PROJECT\nint push(int);\nSYSTEM\nint push(int);"
    assert read(text) == (True, ["/home/me/project/queue.h"], True)


def test_paths_that_only_look_like_the_systems() -> None:
    for path in ("/usr/include/../src/queue.h", "/usr/includes/queue.h", "usr/include/queue.h"):
        text = f'# 1 "{path}" 1 3 4\nint push(int);'
        found = read_declarations(text, ["push"], "/home/me/project", PLACES)["push"]
        assert not found.system, path
        assert found.project, path


def test_a_literal_does_not_hide_what_follows() -> None:
    text = "SYSTEM\nint a = '\"'; int b = '{'; const char *c = \"}\\\"(\";\nint push(int);"
    assert read(text) == (True, [], False)


@pytest.mark.parametrize(
    ("text", "name", "is_systems"),
    [
        ("namespace queue { int push(int); }", "_ZN5queue4pushEi", True),
        ("namespace queue { int push(int); }", "_Z4pushi", False),
        ("int push(int);", "_ZN5queue4pushEi", False),
        ("namespace other { int push(int); }", "_ZN5queue4pushEi", False),
        ("class queue { public: int push(int); };", "_ZN5queue4pushEi", True),
        ("class queue : public base { queue(); };", "_ZN5queueC1Ev", True),
        ("namespace other { class queue { int x; }; }", "_ZN5queue4pushEi", False),
        ("class queue; int f(queue *q) { return 0; }", "_ZN5queue4pushEi", False),
        ('extern "C" { int push(int); }', "push", True),
        ('extern "C" int push(int);', "push", True),
        ("namespace queue { int n = 2 * push(3); }", "_ZN5queue4pushEi", False),
        ("namespace queue { int x = 1'000, push(int); }", "_ZN5queue4pushEi", False),
        ("struct stack f() { return push(1); }", "_Z4pushi", False),
        ("namespace a { namespace b { void f(int); } }", "_ZN1a1b1fEi", True),
        ("namespace a::b { void f(int); }", "_ZN1a1b1fEi", True),
        ("using queue::push;\nint x;", "_Z4pushi", False),
    ],
)
def test_scopes_of_cxx(text: str, name: str, is_systems: bool) -> None:
    assert read(f"SYSTEM\n{text}", name, is_cxx=True)[0] == is_systems


def test_linker_names() -> None:
    assert scoped("push") == ("push",)
    assert scoped("_Z4pushi") == ("push",)
    assert scoped("_ZNK5queue5stack4sizeEv") == ("queue", "stack", "size")
    assert scoped("_ZN5queueC1Ev") == ("queue", "queue")
