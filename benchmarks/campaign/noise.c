// Linked to a program that runs under ThreadSanitizer: threads sleep at random places, so that runs
// differ, and functions that ThreadSanitizer does not know go to those that it does.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static uint32_t seed;
static __thread uint32_t state;
static uint32_t threads_seen;

static uint32_t chance(void)
{
    if (seed == 0) {
        const char *given = getenv("NOISE_SEED");
        seed = given != NULL ? (uint32_t)atoi(given) * 2654435761u + 1 : 1;
    }
    if (state == 0)
        state = seed ^ (__atomic_add_fetch(&threads_seen, 1, __ATOMIC_RELAXED) * 40503u) ^ 0x9e3779b9u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void noise(uint32_t one_in, long longest)
{
    uint32_t drawn = chance();
    if (drawn % one_in != 0)
        return;
    if (drawn & 0x10000) {
        sched_yield();
        return;
    }
    struct timespec pause = {0, (long)(chance() % (uint32_t)longest)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

#ifdef PLAIN // nothing is wrapped: only what programs lack
#define __wrap_pthread_create pthread_create
#define __wrap_pthread_join pthread_join
#define __wrap_pthread_mutex_lock pthread_mutex_lock
#define __wrap_pthread_mutex_trylock pthread_mutex_trylock
#define __wrap_pthread_mutex_unlock pthread_mutex_unlock
#else
#define ACCESS(name)                                                                               \
    void __real___tsan_##name(void *);                                                             \
    void __wrap___tsan_##name(void *place)                                                         \
    {                                                                                              \
        noise(16, 300000);                                                                         \
        __real___tsan_##name(place);                                                               \
    }
ACCESS(read1) ACCESS(read2) ACCESS(read4) ACCESS(read8) ACCESS(read16)
ACCESS(write1) ACCESS(write2) ACCESS(write4) ACCESS(write8) ACCESS(write16)

#define CALL(result, name, declared, given)                                                        \
    result __real_##name declared;                                                                 \
    result __wrap_##name declared                                                                  \
    {                                                                                              \
        noise(3, 2000000);                                                                         \
        return __real_##name given;                                                                \
    }
CALL(int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
CALL(int, pthread_mutex_trylock, (pthread_mutex_t * m), (m))
CALL(int, pthread_mutex_unlock, (pthread_mutex_t * m), (m))
CALL(int, pthread_join, (pthread_t t, void **r), (t, r))
CALL(int, pthread_cond_signal, (pthread_cond_t * c), (c))
CALL(int, pthread_cond_broadcast, (pthread_cond_t * c), (c))

struct start {
    void *(*entry)(void *);
    void *argument;
};

static void *begin(void *given)
{
    struct start start = *(struct start *)given;
    free(given);
    noise(2, 3000000);
    return start.entry(start.argument);
}

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(
    pthread_t *id, const pthread_attr_t *attributes, void *(*entry)(void *), void *argument)
{
    struct start *start = malloc(sizeof *start);
    *start = (struct start){entry, argument};
    int result = __real_pthread_create(id, attributes, begin, start);
    noise(2, 3000000);
    return result;
}
#endif

// --- C11 threads: ThreadSanitizer of GCC knows the POSIX ones only ---

static int answer(int error)
{
    return error == 0 ? thrd_success : error == 16 ? thrd_busy : error == 110 ? thrd_timedout : thrd_error;
}

struct start11 {
    thrd_start_t entry;
    void *argument;
};

static void *begin11(void *given)
{
    struct start11 start = *(struct start11 *)given;
    free(given);
    return (void *)(intptr_t)start.entry(start.argument);
}

int thrd_create(thrd_t *id, thrd_start_t entry, void *argument)
{
    struct start11 *start = malloc(sizeof *start);
    *start = (struct start11){entry, argument};
    return answer(__wrap_pthread_create((pthread_t *)id, NULL, begin11, start));
}

int thrd_join(thrd_t id, int *result)
{
    void *returned;
    int error = __wrap_pthread_join((pthread_t)id, &returned);
    if (result != NULL)
        *result = (int)(intptr_t)returned;
    return answer(error);
}

int thrd_detach(thrd_t id) { return answer(pthread_detach((pthread_t)id)); }
_Noreturn void thrd_exit(int result) { pthread_exit((void *)(intptr_t)result); }
int mtx_init(mtx_t *m, int kind)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (kind & mtx_recursive)
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    return answer(pthread_mutex_init((pthread_mutex_t *)m, &attributes));
}
int mtx_lock(mtx_t *m) { return answer(__wrap_pthread_mutex_lock((pthread_mutex_t *)m)); }
int mtx_trylock(mtx_t *m) { return answer(__wrap_pthread_mutex_trylock((pthread_mutex_t *)m)); }
int mtx_timedlock(mtx_t *m, const struct timespec *t)
{
    return answer(pthread_mutex_timedlock((pthread_mutex_t *)m, t));
}
int mtx_unlock(mtx_t *m) { return answer(__wrap_pthread_mutex_unlock((pthread_mutex_t *)m)); }
void mtx_destroy(mtx_t *m) { pthread_mutex_destroy((pthread_mutex_t *)m); }
int cnd_init(cnd_t *c) { return answer(pthread_cond_init((pthread_cond_t *)c, NULL)); }
int cnd_wait(cnd_t *c, mtx_t *m)
{
    return answer(pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m));
}
int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *t)
{
    return answer(pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, t));
}
int cnd_signal(cnd_t *c) { return answer(pthread_cond_signal((pthread_cond_t *)c)); }
int cnd_broadcast(cnd_t *c) { return answer(pthread_cond_broadcast((pthread_cond_t *)c)); }
void cnd_destroy(cnd_t *c) { pthread_cond_destroy((pthread_cond_t *)c); }
void call_once(once_flag *flag, void (*routine)(void)) { pthread_once((pthread_once_t *)flag, routine); }

// --- functions of the competition on software verification ---

static pthread_mutex_t atomic_section = PTHREAD_MUTEX_INITIALIZER;
__attribute__((weak)) void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&atomic_section); }
__attribute__((weak)) void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&atomic_section); }

#define NONDET(type, name)                                                                         \
    __attribute__((weak)) type __VERIFIER_nondet_##name(void)                                      \
    {                                                                                              \
        uint32_t drawn = chance();                                                                 \
        return (type)(drawn & 0x300 ? (drawn >> 12) % 4 : chance());                               \
    }
NONDET(int, int) NONDET(unsigned, uint) NONDET(_Bool, bool) NONDET(char, char)
NONDET(unsigned char, uchar) NONDET(short, short) NONDET(unsigned short, ushort)
NONDET(long, long) NONDET(unsigned long, ulong) NONDET(long long, longlong)
