"""The model files that come with raceproof."""

from collections import Counter

import pytest

from raceproof.concurrency.builtin import BuiltInFile, built_in_files, read_whole
from raceproof.concurrency.catalogue import built_in_names
from raceproof.concurrency.model import Role

FILES = built_in_files()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.stem)
def test_every_function_parses_and_is_found_by_its_name(file: BuiltInFile) -> None:
    whole = read_whole(file)
    assert whole.index
    for name in whole.index:
        assert file.get(name) == whole.get(name)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.stem)
def test_patterns_are_those_of_the_whole_file(file: BuiltInFile) -> None:
    assert sorted(file.patterns) == sorted(read_whole(file).patterns)


def test_no_function_has_two_models() -> None:
    counts = Counter(built_in_names())
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_role_is_used() -> None:
    used = {
        model.role
        for file in FILES
        for name in read_whole(file).index
        if (model := file.get(name)) is not None
    }
    assert set(Role) <= used


def test_a_word_that_is_no_name_is_not_found() -> None:
    (signals,) = (file for file in FILES if file.path.stem == "signal")
    assert '"any"' in signals.text
    assert signals.get("any") is None


@pytest.mark.parametrize(
    "header",
    [
        "pthread_create pthread_join pthread_mutex_lock pthread_mutex_timedlock "
        "pthread_mutex_consistent pthread_rwlock_rdlock pthread_spin_lock pthread_cond_wait "
        "pthread_barrier_wait pthread_once pthread_key_create pthread_cancel pthread_testcancel "
        "pthread_attr_init _pthread_cleanup_push __pthread_register_cancel",
        "thrd_create thrd_join mtx_init mtx_timedlock cnd_broadcast tss_get call_once",
        "sem_init sem_open sem_trywait sem_post sem_getvalue",
        "__VERIFIER_nondet_int __VERIFIER_nondet_foo __VERIFIER_atomic_begin "
        "__VERIFIER_atomic_swap __VERIFIER_assume __VERIFIER_error",
        "__atomic_load __atomic_fetch_add_8 __sync_fetch_and_add_4 __sync_lock_release_1",
        "spin_lock _raw_spin_lock_irqsave mutex_lock_interruptible down_read up kmalloc kfree "
        "rcu_read_lock lock_kernel",
        "_ZNSt5mutex4lockEv _ZNSt3__15mutex4lockEv _ZNSt6__ndk15mutex8try_lockEv "
        "_ZNSt3__115recursive_mutex6unlockEv _ZNSt12shared_mutex11lock_sharedEv "
        "_ZNSt3__16thread4joinEv __cxa_guard_acquire __cxa_throw _Znwm _ZdlPvm",
        "malloc calloc realloc posix_memalign strdup free mmap",
        "memcpy strlen strtok_r printf snprintf sscanf fread strtol qsort getenv read write poll "
        "time localtime_r socket recvfrom getaddrinfo sigaction __errno_location tolower sin "
        "setjmp longjmp exit abort __assert_fail atexit",
    ],
)
def test_what_people_call_has_a_model(header: str) -> None:
    from tests.concurrency.building import MODELS

    assert [name for name in header.split() if MODELS.lookup(name) is None] == []
