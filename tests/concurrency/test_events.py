"""Calls become events with the call's own operands."""

from dataclasses import replace
from pathlib import Path

import pytest

from raceproof.concurrency import Events, Models
from raceproof.concurrency import events as kinds
from raceproof.concurrency.effects import Product, StringLength
from raceproof.concurrency.model import (
    AtomicOperationKind,
    CallbackTime,
    CallbackValue,
    LockKind,
    LockMode,
    ReturnKind,
    Role,
    Success,
    Wait,
)
from raceproof.concurrency.roles import ROLES
from raceproof.ir import I8, I64, POINTER, VOID, FunctionAddress, NullPointer, Register, Value
from tests.concurrency.building import (
    MODELS,
    address,
    call,
    function,
    meaning,
    number,
    pointer,
    program,
    size_value,
)

P, Q, R, S = (pointer(name) for name in "pqrs")
N = size_value()
ENTRY = FunctionAddress(POINTER, "worker")

SAMPLES: dict[Role, tuple[str, tuple[Value, ...], dict[str, object]]] = {
    Role.CREATE: (
        "pthread_create",
        (P, NullPointer(), ENTRY, Q),
        {"entry": ENTRY, "argument": Q, "id_pointer": P, "success": Success.ZERO},
    ),
    Role.JOIN: ("pthread_join", (N, P), {"thread": N, "result_pointer": P, "is_indirect": False}),
    Role.DETACH: ("pthread_detach", (N,), {"thread": N}),
    Role.EXIT_THREAD: ("pthread_exit", (P,), {"value": P, "no_return": True}),
    Role.EXIT_PROCESS: ("exit", (number(1),), {"status": number(1), "no_return": True}),
    Role.CANCEL: ("pthread_cancel", (N,), {"thread": N}),
    Role.CANCEL_STATE: ("pthread_setcancelstate", (number(1), P), {"state": number(1)}),
    Role.CANCEL_POINT: ("pthread_testcancel", (), {}),
    Role.CLEANUP_PUSH: ("_pthread_cleanup_push", (P, ENTRY, Q), {"routine": ENTRY, "argument": Q}),
    Role.CLEANUP_POP: ("_pthread_cleanup_pop", (P, number(0)), {"execute": number(0)}),
    Role.SELF: ("pthread_self", (), {}),
    Role.LOCK: (
        "pthread_rwlock_tryrdlock",
        (P,),
        {
            "lock": P,
            "kind": LockKind.READ_WRITE,
            "mode": LockMode.READ,
            "wait": Wait.TRY,
            "success": Success.ZERO,
        },
    ),
    Role.UNLOCK: ("pthread_rwlock_unlock", (P,), {"lock": P, "mode": LockMode.ANY}),
    Role.LOCK_INIT: (
        "pthread_mutex_init",
        (P, Q),
        {"lock": P, "attribute": Q, "recursive": None},
    ),
    Role.LOCK_DESTROY: ("pthread_mutex_destroy", (P,), {"lock": P}),
    Role.LOCK_ATTRIBUTE: (
        "pthread_mutexattr_settype",
        (P, number(1)),
        {"attribute": P, "recursive": True},
    ),
    Role.CONDITION_WAIT: (
        "pthread_cond_timedwait",
        (P, Q, R),
        {"condition": P, "lock": Q, "wait": Wait.TIMED, "success": Success.ZERO},
    ),
    Role.CONDITION_SIGNAL: (
        "pthread_cond_broadcast",
        (P,),
        {"condition": P, "broadcast": True},
    ),
    Role.CONDITION_INIT: ("pthread_cond_init", (P, Q), {"condition": P}),
    Role.CONDITION_DESTROY: ("pthread_cond_destroy", (P,), {"condition": P}),
    Role.BARRIER_INIT: (
        "pthread_barrier_init",
        (P, Q, number(3)),
        {"barrier": P, "count": number(3)},
    ),
    Role.BARRIER_WAIT: ("pthread_barrier_wait", (P,), {"barrier": P}),
    Role.BARRIER_DESTROY: ("pthread_barrier_destroy", (P,), {"barrier": P}),
    Role.SEMAPHORE_INIT: (
        "sem_init",
        (P, number(0), number(2)),
        {"semaphore": P, "value": number(2)},
    ),
    Role.SEMAPHORE_WAIT: ("sem_trywait", (P,), {"semaphore": P, "wait": Wait.TRY}),
    Role.SEMAPHORE_POST: ("sem_post", (P,), {"semaphore": P}),
    Role.SEMAPHORE_VALUE: ("sem_getvalue", (P, Q), {"semaphore": P, "result_pointer": Q}),
    Role.SEMAPHORE_DESTROY: ("sem_destroy", (P,), {"semaphore": P}),
    Role.ONCE: ("pthread_once", (P, ENTRY), {"control": P, "routine": ENTRY}),
    Role.ONCE_BEGIN: ("__cxa_guard_acquire", (P,), {"control": P}),
    Role.ONCE_END: ("__cxa_guard_release", (P,), {"control": P}),
    Role.ONCE_ABORT: ("__cxa_guard_abort", (P,), {"control": P}),
    Role.ATOMIC_BEGIN: ("__VERIFIER_atomic_begin", (), {}),
    Role.ATOMIC_END: ("__VERIFIER_atomic_end", (), {}),
    Role.ATOMIC_OPERATION: (
        "__atomic_compare_exchange_8",
        (P, Q, N, number(5), number(5)),
        {
            "operation": AtomicOperationKind.COMPARE_EXCHANGE,
            "pointer": P,
            "expected_pointer": Q,
            "value": N,
            "size": 8,
            "returns_success": True,
        },
    ),
    Role.ALLOCATE: ("malloc", (N,), {"size": N, "zeroed": False}),
    Role.REALLOCATE: ("realloc", (P, N), {"pointer": P, "size": N}),
    Role.FREE: ("free", (P,), {"pointer": P}),
    Role.SPECIFIC_CREATE: (
        "pthread_key_create",
        (P, ENTRY),
        {"key_pointer": P, "destructor": ENTRY},
    ),
    Role.SPECIFIC_DELETE: ("pthread_key_delete", (N,), {"key": N}),
    Role.SPECIFIC_GET: ("pthread_getspecific", (N,), {"key": N}),
    Role.SPECIFIC_SET: ("pthread_setspecific", (N, P), {"key": N, "value": P}),
    Role.NONDETERMINISTIC: ("__VERIFIER_nondet_bool", (), {"signed": False, "range": (0, 1)}),
    Role.ASSUME: ("__VERIFIER_assume", (number(1),), {"condition": number(1)}),
}


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ATOMIC_FUNCTION])
def test_role(role: Role) -> None:
    name, arguments, expected = SAMPLES[role]
    event = meaning(name, *arguments)
    assert event is not None
    assert type(event) is ROLES[role].event
    assert event.model.role is role
    for field, value in expected.items():
        assert getattr(event, field) == value, field


def test_an_event_is_frozen_and_complete() -> None:
    event = meaning("free", P)
    assert isinstance(event, kinds.Free)
    with pytest.raises(AttributeError):
        event.pointer = Q  # type: ignore[misc]
    with pytest.raises(TypeError, match="missing"):
        kinds.Free(call=event.call, model=event.model)  # type: ignore[call-arg]
    assert "Free(" in repr(event)


def test_an_event_can_be_matched() -> None:
    match meaning("pthread_mutex_lock", P):
        case kinds.LockAcquire(lock=lock, mode=LockMode.WRITE, success=Success.ALWAYS):
            assert lock is P
        case other:
            pytest.fail(repr(other))


def test_no_event() -> None:
    assert meaning("lua_pcall", P) is None
    assert meaning("strlen", P, of=program(function("strlen", defined=True))) is None
    indirect = replace(call("free", P), callee=Q)
    assert Events(program(), MODELS).of(indirect) is None


def test_too_few_arguments_for_the_role() -> None:
    assert meaning("pthread_create", P) is None
    assert meaning("pthread_mutex_lock") is None


def test_too_few_arguments_for_an_effect() -> None:
    event = meaning("strcpy", P)
    assert isinstance(event, kinds.LibraryCall)
    assert [(effect.pointer, effect.size) for effect in event.effects] == [(P, None)]


def test_indirect_call_by_the_name_of_its_target() -> None:
    events = Events(program(), MODELS)
    through_pointer = replace(call("unused", P), callee=Q)
    event = events.of(through_pointer, "pthread_mutex_lock")
    assert isinstance(event, kinds.LockAcquire)
    assert events.of(through_pointer, "pthread_mutex_lock") is event
    assert isinstance(events.of(through_pointer, "free"), kinds.Free)


def test_atomic_function_is_the_programs_own() -> None:
    name = "__VERIFIER_atomic_swap"
    own = program(function(name, defined=True))
    event = meaning(name, of=own)
    assert isinstance(event, kinds.AtomicFunction)
    assert event.function is own.functions[name]
    assert meaning(name, of=program(function(name, defined=False))) is None


@pytest.mark.parametrize(
    ("name", "arguments", "recursive"),
    [
        ("pthread_mutex_init", (P, NullPointer()), False),
        ("pthread_mutex_init", (P, Q), None),
        ("mtx_init", (P, number(0)), False),
        ("mtx_init", (P, number(1)), True),
        ("mtx_init", (P, number(3)), True),
        ("mtx_init", (P, N), None),
        ("_ZNSt15recursive_mutexC1Ev", (P,), True),
        ("pthread_spin_init", (P, number(0)), False),
        ("pthread_mutexattr_settype", (P, number(2)), False),
        ("pthread_mutexattr_settype", (P, N), None),
    ],
)
def test_recursive_locks(name: str, arguments: tuple[Value, ...], recursive: bool | None) -> None:
    event = meaning(name, *arguments)
    assert isinstance(event, kinds.LockInit | kinds.LockAttribute)
    assert event.recursive is recursive


def test_which_result_means_success() -> None:
    assert Success.ALWAYS.holds(0)
    assert Success.ALWAYS.holds(7)
    assert Success.ZERO.holds(0)
    assert not Success.ZERO.holds(16)
    assert Success.NONZERO.holds(1)
    assert not Success.NONZERO.holds(0)


@pytest.mark.parametrize(
    ("name", "wait", "success"),
    [
        ("pthread_mutex_lock", Wait.BLOCK, Success.ALWAYS),
        ("pthread_mutex_trylock", Wait.TRY, Success.ZERO),
        ("mtx_trylock", Wait.TRY, Success.ZERO),
        ("mutex_trylock", Wait.TRY, Success.NONZERO),
        ("spin_trylock", Wait.TRY, Success.NONZERO),
        ("mutex_lock_interruptible", Wait.TIMED, Success.ZERO),
        ("_ZNSt3__15mutex8try_lockEv", Wait.TRY, Success.NONZERO),
    ],
)
def test_taking_a_lock(name: str, wait: Wait, success: Success) -> None:
    event = meaning(name, P)
    assert isinstance(event, kinds.LockAcquire)
    assert (event.lock, event.wait, event.success) == (P, wait, success)


def test_what_cpp_objects_hold_inside() -> None:
    join = meaning("_ZNSt3__16thread4joinEv", P)
    assert isinstance(join, kinds.ThreadJoin)
    assert join.is_indirect
    wait = meaning("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", P, Q)
    assert isinstance(wait, kinds.ConditionWait)
    assert (wait.condition, wait.lock, wait.is_indirect) == (P, Q, True)
    start = meaning("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateEE", P, Q, ENTRY)
    assert isinstance(start, kinds.ThreadCreate)
    assert (start.entry, start.virtual_slot, start.id_pointer) == (Q, 2, P)


def test_a_lock_without_an_argument() -> None:
    taken, given = meaning("lock_kernel"), meaning("unlock_kernel")
    assert isinstance(taken, kinds.LockAcquire)
    assert isinstance(given, kinds.LockRelease)
    assert taken.lock == given.lock == address("$big kernel lock")
    assert taken.recursive


def test_semaphores_that_nobody_gives_a_count() -> None:
    opened = meaning("sem_open", P, number(0), result=POINTER)
    assert isinstance(opened, kinds.SemaphoreInit)
    assert (opened.semaphore, opened.is_result, opened.value) == (None, True, None)
    mutex = meaning("init_MUTEX", P)
    assert isinstance(mutex, kinds.SemaphoreInit)
    assert mutex.initial == 1


def test_sizes_of_allocations() -> None:
    def size(name: str, *arguments: Value) -> object:
        event = meaning(name, *arguments, result=POINTER)
        assert isinstance(event, kinds.Allocate | kinds.Reallocate)
        return event.size

    assert size("malloc", number(24, I64)) == 24
    assert size("malloc", N) is N
    assert size("calloc", number(3, I64), number(8, I64)) == 24
    assert size("calloc", N, number(8, I64)) == Product((N,), 8)
    assert size("reallocarray", P, N, N) == Product((N, N), 1)
    assert size("strdup", P) == StringLength(P)
    assert size("posix_memalign", P, number(16, I64), N) is N
    assert size("kmem_cache_alloc", P, number(0)) is None


def test_sized_atomics_know_their_size_by_type() -> None:
    byte = Register(I8, 0)
    store = meaning("__atomic_store_1", P, byte, number(5), result=VOID)
    assert isinstance(store, kinds.AtomicOperation)
    assert store.size == 1
    load = meaning("__atomic_load_8", P, number(5), result=I64)
    assert isinstance(load, kinds.AtomicOperation)
    assert load.size == 8
    generic = meaning("__atomic_load", number(12, I64), P, Q, number(5), result=VOID)
    assert isinstance(generic, kinds.AtomicOperation)
    assert (generic.size, generic.pointer, generic.result_pointer) == (12, P, Q)


def test_callbacks() -> None:
    sort = meaning("qsort", P, N, number(4, I64), ENTRY, result=VOID)
    assert sort is not None
    (compare,) = sort.callbacks
    assert compare.function is ENTRY
    assert compare.time is CallbackTime.NOW
    assert [(a.how, a.value) for a in compare.arguments] == [(CallbackValue.INTO, P)] * 2
    later = meaning("__cxa_atexit", ENTRY, Q, R)
    assert later is not None
    assert later.callbacks[0].time is CallbackTime.PROCESS_EXIT
    assert later.callbacks[0].arguments[0].value is Q
    handler = meaning("sigaction", number(2), P, Q)
    assert handler is not None
    assert (handler.callbacks[0].function, handler.callbacks[0].is_indirect) == (P, True)
    assert handler.callbacks[0].arguments[1].how is CallbackValue.ANY


def test_results() -> None:
    def returned(name: str, *arguments: Value) -> tuple[ReturnKind, Value | None]:
        event = meaning(name, *arguments, result=POINTER)
        assert event is not None
        return event.returns.kind, event.returned

    assert returned("strcpy", P, Q) == (ReturnKind.ARGUMENT, P)
    assert returned("strchr", P, number(0)) == (ReturnKind.INTO, P)
    assert returned("strsep", P, Q) == (ReturnKind.POINTEE, P)
    assert returned("malloc", N) == (ReturnKind.FRESH, None)
    assert returned("localtime", P) == (ReturnKind.STATIC, None)
    assert returned("__errno_location") == (ReturnKind.THREAD_LOCAL, None)
    assert returned("getcwd", P, N) == (ReturnKind.ARGUMENT, P)
    assert returned("getcwd", NullPointer(), N) == (ReturnKind.FRESH, None)
    assert returned("lrand48") == (ReturnKind.ANY, None)
    assert returned("strcpy") == (ReturnKind.ANY, None)


def test_library_objects_have_names() -> None:
    names = {
        name: event.returns.name
        for name in ("localtime", "gmtime", "nl_langinfo", "__errno_location")
        if (event := meaning(name, P, result=POINTER)) is not None
    }
    assert names["localtime"] == names["gmtime"] == "tm"
    assert names["nl_langinfo"] == "nl_langinfo"
    assert names["__errno_location"] == "errno"


def test_pointers_stored_and_contents_copied() -> None:
    number_read = meaning("strtol", P, Q, number(10))
    assert number_read is not None
    (store,) = number_read.stores
    assert store.pointer is Q
    assert number_read.argument_of(store.value) is P
    copied = meaning("memcpy", P, Q, N, result=POINTER)
    assert copied is not None
    assert [(copy.target, copy.source) for copy in copied.copies] == [(P, Q)]


def test_notes_for_the_verdict() -> None:
    jump = meaning("longjmp", P, number(1))
    assert jump is not None
    assert jump.no_return
    assert jump.model.caveat
    setjmp, time = MODELS.lookup("_setjmp"), MODELS.lookup("localtime")
    assert setjmp is not None
    assert setjmp.returns_twice
    assert time is not None
    assert not time.thread_safe


def test_a_users_library(tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text(
        """
        [types]
        job = [12, 24]

        [[function]]
        name = "pool_submit"
        role = "create"
        entry = 1
        argument = 2
        reads = ["0: job"]

        [[function]]
        names = ["pool_enter", "pool_try_enter"]
        role = "lock"
        object = "pool"
        wait = "try"
        success = "nonzero"
        """
    )
    models = Models.load([path])
    submit = meaning("pool_submit", P, ENTRY, Q, models=models)
    assert isinstance(submit, kinds.ThreadCreate)
    assert submit.id_pointer is None
    assert submit.effects[0].size == 24
    enter = meaning("pool_enter", models=models)
    assert isinstance(enter, kinds.LockAcquire)
    assert enter.lock == address("$pool")
