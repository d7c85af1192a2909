"""What instructions and library calls read and write."""

import pytest

from raceproof.concurrency import Events, MemoryEffect, memory_effects
from raceproof.concurrency.effects import Product, Reachable, Size, StringLength, WholeObject
from raceproof.ir import (
    I8,
    I32,
    I64,
    POINTER,
    VOID,
    Assembly,
    AtomicUpdate,
    Binary,
    Call,
    CompareExchange,
    CopyMemory,
    FunctionAddress,
    FunctionType,
    Instruction,
    IntType,
    Load,
    NextArgument,
    NullPointer,
    Register,
    SetMemory,
    Store,
    StructType,
    Value,
)
from tests.concurrency.building import (
    ILP32,
    MODELS,
    address,
    call,
    function,
    number,
    pointer,
    program,
    size_value,
)

P, Q, R, S = (pointer(name) for name in "pqrs")
N, M = size_value("n"), size_value("m")
X = Register(I32, 1)
PLACES = ((0, I32), (1, I32))

Row = tuple[Value, Size, str]


def rows(effects: tuple[MemoryEffect, ...]) -> list[Row]:
    """Pointer, size, and `r`, `w`, `rw`, with `a` for atomic."""
    return [
        (e.pointer, e.size, "r" * e.is_read + "w" * e.is_write + "a" * e.is_atomic) for e in effects
    ]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        (Load(0, None, X, I32, P), [(P, 4, "r")]),
        (Load(0, None, X, I32, P, "seq_cst"), [(P, 4, "ra")]),
        (Load(0, None, X, I32, P, volatile=True), [(P, 4, "r")]),
        (Load(0, None, X, IntType(1), P), [(P, 1, "r")]),
        (Store(0, None, None, P, Q), [(Q, 8, "w")]),
        (Store(0, None, None, X, Q, "release"), [(Q, 4, "wa")]),
        (AtomicUpdate(0, None, X, "add", P, X, "seq_cst"), [(P, 4, "rwa")]),
        (CompareExchange(0, None, X, P, N, M, "seq_cst"), [(P, 8, "rwa")]),
        (CopyMemory(0, None, None, P, Q, N), [(Q, N, "r"), (P, N, "w")]),
        (CopyMemory(0, None, None, P, Q, number(9)), [(Q, 9, "r"), (P, 9, "w")]),
        (SetMemory(0, None, None, P, number(0, I8), N), [(P, N, "w")]),
        (NextArgument(0, None, X, P, I32), [(P, None, "rw")]),
        (Assembly(0, None, None, "incl (%0)", "r", (P, X), False), [(P, None, "rw")]),
        (Assembly(0, None, None, "xchg", "", (P, X), False), [(P, None, "rwa")]),
        (
            Assembly(0, None, None, "lock; incl $0", "=*m,*m", (P, P), False, PLACES),
            [(P, 4, "rwa")],
        ),
        (Assembly(0, None, None, "movl $1, $0", "=r,*m", (P,), False, PLACES), [(P, 4, "r")]),
        (Assembly(0, None, None, "movl $1, $0", "=*m,r", (P, X), False, PLACES), [(P, 4, "w")]),
        (Assembly(0, None, None, "ud2", "i", (P,), False), []),
        (Assembly(0, None, None, "", "", (P,), True), []),
        (Binary(0, None, X, "add", X, X), []),
    ],
)
def test_instruction(instruction: Instruction, expected: list[Row]) -> None:
    assert rows(memory_effects(instruction, program(), MODELS)) == expected
    assert rows(Events(program(), MODELS).effects(instruction)) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("strlen", (P,), [(P, StringLength(P), "r")]),
        ("strnlen", (P, N), [(P, StringLength(P, N), "r")]),
        ("memcmp", (P, Q, N), [(P, N, "r"), (Q, N, "r")]),
        ("strcpy", (P, Q), [(Q, StringLength(Q), "r"), (P, StringLength(Q), "w")]),
        ("strncpy", (P, Q, N), [(Q, StringLength(Q, N), "r"), (P, N, "w")]),
        (
            "wcscpy",
            (P, Q),
            [(Q, StringLength(Q, None, 4), "r"), (P, StringLength(Q, None, 4), "w")],
        ),
        ("fread", (P, N, M, Q), [(P, Product((N, M)), "w")]),
        ("fread", (P, number(4, I64), N, Q), [(P, Product((N,), 4), "w")]),
        ("fread", (P, number(1, I64), N, Q), [(P, N, "w")]),
        ("mbstowcs", (P, Q, N), [(Q, StringLength(Q), "r"), (P, Product((N,), 4), "w")]),
        ("time", (P,), [(P, 8, "w")]),
        ("free", (P,), [(P, WholeObject(), "w")]),
        ("realloc", (P, N), [(P, WholeObject(), "rw")]),
        ("malloc", (N,), []),
        ("vprintf", (P, Q), [(P, StringLength(P), "r"), (Q, Reachable(), "r")]),
        ("ioctl", (number(0), N, P), [(P, WholeObject(), "r"), (P, WholeObject(), "w")]),
        ("ioctl", (number(0), N, number(3)), []),
        ("pthread_mutex_lock", (P,), [(P, 1, "ra")]),
        ("pthread_mutex_init", (P, NullPointer()), [(P, 1, "w")]),
        ("pthread_cond_wait", (P, Q), [(P, 1, "ra")]),
        ("sem_destroy", (P,), [(P, 1, "w")]),
        ("pthread_create", (P, Q, R, S), [(Q, 56, "r"), (P, 8, "w")]),
        ("pthread_create", (P, NullPointer(), R, S), [(P, 8, "w")]),
        ("pthread_join", (N, P), [(P, 8, "w")]),
        ("pthread_join", (N, NullPointer()), []),
        ("free", (NullPointer(),), []),
        ("__atomic_load_4", (P, number(5)), [(P, 4, "ra")]),
        ("__atomic_fetch_add_8", (P, N, number(5)), [(P, 8, "rwa")]),
        (
            "__atomic_exchange",
            (number(16, I64), P, Q, R, number(5)),
            [(P, 16, "rwa"), (Q, 16, "r"), (R, 16, "w")],
        ),
        (
            "__atomic_compare_exchange",
            (number(16, I64), P, Q, R, number(5), number(5)),
            [(P, 16, "rwa"), (R, 16, "r"), (Q, 16, "rw")],
        ),
        ("__sync_lock_release_2", (P,), [(P, 2, "wa")]),
        ("sin", (N,), []),
        ("lua_pcall", (P,), []),
    ],
)
def test_library_call(name: str, arguments: tuple[Value, ...], expected: list[Row]) -> None:
    assert rows(memory_effects(call(name, *arguments), program(), MODELS)) == expected


def test_sizes_follow_the_data_model() -> None:
    small = program(layout=ILP32)
    assert rows(memory_effects(call("time", P), small, MODELS)) == [(P, 4, "w")]
    assert rows(memory_effects(Store(0, None, None, P, Q), small, MODELS)) == [(Q, 4, "w")]


def test_a_struct_passed_by_value_is_read() -> None:
    struct = StructType((I64, I32))
    type_ = FunctionType(VOID, (POINTER,))
    by_value = Call(0, None, None, FunctionAddress(POINTER, "f"), (P,), type_, ((0, struct),))
    own = program(function("f", defined=True))
    assert rows(memory_effects(by_value, own, MODELS)) == [(P, 16, "r")]


def test_a_known_size_is_told_apart() -> None:
    (known,) = memory_effects(Load(0, None, X, I32, P), program(), MODELS)
    (unknown,) = memory_effects(SetMemory(0, None, None, P, X, N), program(), MODELS)
    assert known.constant_size == 4
    assert unknown.constant_size is None


# --- formats ------------------------------------------------------------------------------------


def formatted(name: str, text: str, *values: Value) -> list[Row]:
    """What `name("text", values...)` accesses besides its format."""
    own = program(strings={"format": text})
    effects = memory_effects(call(name, address("format"), *values), own, MODELS)
    return rows(effects)[1:]


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("hello", (P,), []),
        ("%d %p %%\n", (X, P), []),
        ("%s", (P,), [(P, StringLength(P), "r")]),
        ("%-10s|%5.3s", (P, Q), [(P, StringLength(P), "r"), (Q, StringLength(Q, 3), "r")]),
        ("%.*s %*d %s", (X, P, X, X, Q), [(P, StringLength(P, X), "r"), (Q, StringLength(Q), "r")]),
        ("%ls", (P,), [(P, StringLength(P, None, 4), "r")]),
        ("%lld %zu %Lf %s", (N, N, N, P), [(P, StringLength(P), "r")]),
        ("%m %s", (P,), [(P, StringLength(P), "r")]),
        ("%n%hhn", (P, Q), [(P, 4, "w"), (Q, 1, "w")]),
        ("%s %s", (P,), [(P, StringLength(P), "r")]),
        ("%2$s %1$d", (X, P), [(P, None, "r")]),
        ("100%", (P,), []),
    ],
)
def test_printf(text: str, values: tuple[Value, ...], expected: list[Row]) -> None:
    assert formatted("printf", text, *values) == expected


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("%d%hd%ld%lld", (P, Q, R, S), [(P, 4, "w"), (Q, 2, "w"), (R, 8, "w"), (S, 8, "w")]),
        ("%f %lf %Lf", (P, Q, R), [(P, 4, "w"), (Q, 8, "w"), (R, 16, "w")]),
        ("%*d %s", (P,), [(P, None, "w")]),
        ("%9s%c%4c", (P, Q, R), [(P, 10, "w"), (Q, 1, "w"), (R, 4, "w")]),
        ("%[^]x]%9[a-z] %d", (P, Q, R), [(P, None, "w"), (Q, 10, "w"), (R, 4, "w")]),
        ("%ms %p", (P, Q), [(P, 8, "w"), (Q, 8, "w")]),
        ("%zu%%", (P,), [(P, 8, "w")]),
    ],
)
def test_scanf(text: str, values: tuple[Value, ...], expected: list[Row]) -> None:
    assert formatted("scanf", text, *values) == expected


def test_an_unknown_format_may_access_every_pointer() -> None:
    printed = memory_effects(call("printf", P, X, Q), program(), MODELS)
    assert rows(printed) == [(P, StringLength(P), "r"), (Q, None, "r")]
    scanned = memory_effects(call("sscanf", P, Q, R), program(), MODELS)
    assert rows(scanned)[2:] == [(R, None, "w")]


def test_strings_of_all_later_arguments() -> None:
    joined = memory_effects(
        call("g_strconcat", P, Q, NullPointer(), result=POINTER), program(), MODELS
    )
    assert rows(joined) == [(P, StringLength(P), "r"), (Q, StringLength(Q), "r")]
