/* Holds threads at chosen places of a program that runs under ThreadSanitizer.
 *
 * Linked with a program whose chosen instructions have a call of raceproof_native_before in front
 * and of raceproof_native_after behind (see instrument.py). What to do is read from the file that
 * RACEPROOF_NATIVE_PLAN names (see plan.py); what came of it is added to RACEPROOF_NATIVE_LOG.
 *
 * Compiled without instrumentation, and it waits by system calls alone: ThreadSanitizer sees no
 * order between threads that wait here. Every wait is bounded. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_SEQ_CST)
#define ADD(x, v) __atomic_add_fetch(&(x), (v), __ATOMIC_SEQ_CST)
#define SWAP(x, old, new) \
    __atomic_compare_exchange_n(&(x), &(int){old}, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

enum { NO_PLAN, SCHEDULE, NOISE };
enum { WAITS = 1, WOKEN = 2 };                       /* the two steps of a wait */
enum { EMPTY, WAITING, MET, PASSED };

typedef struct { int thread, point, kind; } Step;
typedef struct {
    int points[2];
    int lock, state, side, thread, waits;
    uintptr_t address;
} Pair;

static int is_ready, mode, is_released;
static long patience;                                 /* microseconds */
static Step *steps;
static int step_count, cursor;
static int race_threads[2], race_points[2], is_past, arrived[2], passed[2];
static Pair *pairs;
static int pair_count;
static unsigned long long *inputs;
static int input_count, next_input;
static uint64_t noise;
static int thread_count = 1, live_count = 1;
static long long last_progress;

static __thread int me, my_step = -1, my_side = -1, my_pair = -1;

/* --- without the C library's locks --- */

static long long now(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void doze(void) {
    struct timespec t = {0, 30000};
    syscall(SYS_nanosleep, &t, 0);
}

static void say(const char *word, int number) {
    const char *path = getenv("RACEPROOF_NATIVE_LOG");
    char line[80], digits[12];
    int n = 0, k = 0;
    if (!path) return;
    while (word[n] && n < 40) { line[n] = word[n]; n++; }
    line[n++] = ' ';
    do digits[k++] = '0' + number % 10; while ((number /= 10) && k < 11);
    while (k) line[n++] = digits[--k];
    line[n++] = '\n';
    int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0) return;
    syscall(SYS_write, file, line, (long)n);
    syscall(SYS_close, file);
}

/* --- the plan: words and numbers --- */

static char *text;

static long long number(void) {
    return strtoll(text, &text, 10);
}

static void read_plan(void) {
    const char *path = getenv("RACEPROOF_NATIVE_PLAN");
    if (!path) return;
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
    if (file < 0) return;
    long size = 0, capacity = 1 << 16, got;
    char *buffer = malloc(capacity + 1);
    while ((got = syscall(SYS_read, file, buffer + size, capacity - size)) > 0) {
        size += got;
        if (size == capacity) buffer = realloc(buffer, (capacity *= 2) + 1);
    }
    syscall(SYS_close, file);
    buffer[size] = 0;
    text = buffer;
    int wanted = number();
    patience = number();
    noise = number() * 2654435761u + 1;
    step_count = number();
    steps = calloc(step_count + 1, sizeof *steps);
    for (int i = 0; i < step_count; i++) {
        steps[i].thread = number();
        steps[i].point = number();
        steps[i].kind = number();
    }
    for (int i = 0; i < 2; i++) {
        race_threads[i] = number();
        race_points[i] = number();
    }
    is_past = number();
    input_count = number();
    inputs = calloc(input_count + 1, sizeof *inputs);
    for (int i = 0; i < input_count; i++) inputs[i] = strtoull(text, &text, 10);
    pair_count = number();
    pairs = calloc(pair_count + 1, sizeof *pairs);
    for (int i = 0; i < pair_count; i++) {
        pairs[i].points[0] = number();
        pairs[i].points[1] = number();
    }
    last_progress = now();
    mode = wanted;
}

static void prepare(void) {
    if (LOAD(is_ready) == 2) return;
    if (SWAP(is_ready, 0, 1)) {
        read_plan();
        SET(is_ready, 2);
    }
    while (LOAD(is_ready) != 2) doze();
}

/* --- scheduled --- */

static void release_all(const char *why) {
    if (SWAP(is_released, 0, 1)) say(why, LOAD(cursor));
}

static int my_next_step(void) {
    for (int i = LOAD(cursor); i < step_count; i++)
        if (steps[i].thread == me) return i;
    return step_count;
}

static void advance(int step) {
    SET(cursor, step + 1);
    __atomic_store_n(&last_progress, now(), __ATOMIC_SEQ_CST);
}

static int is_stuck(void) {
    return now() - __atomic_load_n(&last_progress, __ATOMIC_SEQ_CST) > patience;
}

static void meet(int side) {
    SET(arrived[side], 1);
    while (!LOAD(is_released) && !is_past && !LOAD(arrived[1 - side])) {
        if (is_stuck()) release_all("alone");
        doze();
    }
    long long start = now();
    if (side == 1 && !is_past)
        while (!LOAD(is_released) && !LOAD(passed[0]) && now() - start < 500000) doze();
    my_side = side;
}

static void take_turn(int point) {
    while (!LOAD(is_released)) {
        int at = LOAD(cursor), mine = my_next_step();
        if (mine == step_count) {
            for (int side = is_past; side < 2; side++)
                if (race_threads[side] == me && race_points[side] == point) {
                    if (at < step_count) goto wait;
                    meet(side);
                    return;
                }
            if (race_threads[0] == me || race_threads[1] == me) return;
            goto wait;                                /* nothing more to do before the race */
        }
        if (steps[mine].point != point || (mine != at && LOAD(live_count) == 1))
            return;                                   /* a step that was none on the machine */
        if (mine == at) {
            my_step = mine;
            if (steps[mine].kind & WAITS) advance(mine);
            return;
        }
    wait:
        if (is_stuck()) release_all("stuck");
        doze();
    }
}

static void end_turn(int point) {
    if (my_side >= 0) {
        int side = my_side;
        my_side = -1;
        SET(passed[side], 1);
        if (side == 1 || is_past) {
            /* What there is to report was reported on the way; the others stand still. */
            say("reached", step_count);
            syscall(SYS_exit_group, 66);
        }
        for (long long start = now(); now() - start < 2000000 && !LOAD(is_released);) doze();
        return;
    }
    if (my_step < 0 || steps[my_step].point != point) return;
    int done = my_step;
    my_step = -1;
    if (!(steps[done].kind & WAITS)) {
        advance(done);
        return;
    }
    while (!LOAD(is_released)) {
        int mine = my_next_step();
        if (mine == step_count || !(steps[mine].kind & WOKEN) || steps[mine].point != point) return;
        if (mine == LOAD(cursor)) {
            advance(mine);
            return;
        }
        if (is_stuck()) release_all("stuck");
        doze();
    }
}

/* --- noise --- */

static void lock_pair(Pair *pair) { while (!SWAP(pair->lock, 0, 1)) sched_yield(); }
static void unlock_pair(Pair *pair) { SET(pair->lock, 0); }

static int is_near(uintptr_t a, uintptr_t b) {
    return !a || !b || (a > b ? a - b : b - a) < 64;
}

static long draw(long most) {
    uint64_t old = __atomic_load_n(&noise, __ATOMIC_RELAXED);
    uint64_t fresh = old * 6364136223846793005u + 1442695040888963407u;
    __atomic_store_n(&noise, fresh, __ATOMIC_RELAXED);
    return (long)((fresh >> 33) % (uint64_t)(most + 1));
}

static int wait_for_other(Pair *pair) {
    long long end = now() + patience / 4 + draw(patience);
    while (LOAD(pair->state) == WAITING && now() < end) doze();
    int is_met = 0;
    lock_pair(pair);
    if (pair->state == MET) is_met = 1;
    else pair->state = EMPTY;
    unlock_pair(pair);
    return is_met;
}

static void look_around(int point, uintptr_t address) {
    for (int i = 0; i < pair_count; i++) {
        Pair *pair = &pairs[i];
        for (int side = 0; side < 2; side++) {
            if (pair->points[side] != point) continue;
            lock_pair(pair);
            int is_other = pair->side != side || pair->points[0] == pair->points[1];
            if (pair->state == WAITING && pair->thread != me && is_other
                && is_near(pair->address, address)) {
                pair->state = MET;
                unlock_pair(pair);
                say("met", i);
                long long start = now();
                while (LOAD(pair->state) != PASSED && now() - start < 20000) doze();
                SET(pair->state, EMPTY);
                return;
            }
            if (pair->state != EMPTY || pair->waits >= 60 || LOAD(live_count) == 1) {
                unlock_pair(pair);
                continue;
            }
            pair->state = WAITING;
            pair->waits++;
            pair->side = side;
            pair->thread = me;
            pair->address = address;
            unlock_pair(pair);
            if (wait_for_other(pair)) {
                my_pair = i;
                return;
            }
        }
    }
}

/* --- what the program calls --- */

void raceproof_native_before(int point, void *address) {
    int saved = errno;
    prepare();
    if (mode == SCHEDULE) take_turn(point);
    else if (mode == NOISE && my_pair < 0) look_around(point, (uintptr_t)address);
    errno = saved;
}

void raceproof_native_after(int point) {
    int saved = errno;
    if (mode == SCHEDULE) end_turn(point);
    else if (my_pair >= 0) {
        SET(pairs[my_pair].state, PASSED);
        my_pair = -1;
    }
    errno = saved;
}

typedef struct { void *(*entry)(void *); void *argument; int number; } Start;

static void leave(void *unused) {
    (void)unused;
    ADD(live_count, -1);
}

static void *start(void *given) {
    Start *box = given, own = *box;
    free(box);
    me = own.number;
    void *result;
    pthread_cleanup_push(leave, 0);
    result = own.entry(own.argument);
    pthread_cleanup_pop(1);
    return result;
}

int raceproof_native_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*entry)(void *), void *argument) {
    prepare();
    Start *box = malloc(sizeof *box);
    if (!box) return EAGAIN;
    *box = (Start){entry, argument, ADD(thread_count, 1) - 1};
    ADD(live_count, 1);
    int failed = pthread_create(thread, attributes, start, box);
    if (failed) {
        free(box);
        ADD(live_count, -1);
    }
    return failed;
}

unsigned raceproof_native_sleep(unsigned seconds) {
    prepare();
    return mode == SCHEDULE ? 0 : sleep(seconds);
}

int raceproof_native_usleep(useconds_t time) {
    prepare();
    return mode == SCHEDULE ? 0 : usleep(time);
}

int raceproof_native_nanosleep(const struct timespec *time, struct timespec *rest) {
    prepare();
    return mode == SCHEDULE ? 0 : nanosleep(time, rest);
}

/* --- C11 threads, of which ThreadSanitizer knows nothing, by POSIX ones --- */

typedef struct { int (*entry)(void *); void *argument; } Plain;

static void *start_plain(void *given) {
    Plain *box = given, own = *box;
    free(box);
    return (void *)(intptr_t)own.entry(own.argument);
}

static int thrd_of(int failed) {
    return !failed ? thrd_success : failed == EBUSY ? thrd_busy
         : failed == ETIMEDOUT ? thrd_timedout : failed == ENOMEM ? thrd_nomem : thrd_error;
}

int raceproof_native_thrd_create(thrd_t *thread, int (*entry)(void *), void *argument) {
    Plain *box = malloc(sizeof *box);
    if (!box) return thrd_nomem;
    *box = (Plain){entry, argument};
    return thrd_of(raceproof_native_create((pthread_t *)thread, 0, start_plain, box));
}

int raceproof_native_thrd_join(thrd_t thread, int *result) {
    void *value = 0;
    int failed = pthread_join((pthread_t)thread, &value);
    if (result) *result = (int)(intptr_t)value;
    return thrd_of(failed);
}

int raceproof_native_thrd_detach(thrd_t thread) { return thrd_of(pthread_detach((pthread_t)thread)); }
_Noreturn void raceproof_native_thrd_exit(int code) { pthread_exit((void *)(intptr_t)code); }
int raceproof_native_mtx_init(mtx_t *lock, int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (type & mtx_recursive) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    return thrd_of(pthread_mutex_init((pthread_mutex_t *)lock, &attributes));
}
int raceproof_native_mtx_lock(mtx_t *lock) { return thrd_of(pthread_mutex_lock((pthread_mutex_t *)lock)); }
int raceproof_native_mtx_trylock(mtx_t *lock) { return thrd_of(pthread_mutex_trylock((pthread_mutex_t *)lock)); }
int raceproof_native_mtx_timedlock(mtx_t *restrict lock, const struct timespec *restrict time) {
    return thrd_of(pthread_mutex_timedlock((pthread_mutex_t *)lock, time));
}
int raceproof_native_mtx_unlock(mtx_t *lock) { return thrd_of(pthread_mutex_unlock((pthread_mutex_t *)lock)); }
void raceproof_native_mtx_destroy(mtx_t *lock) { pthread_mutex_destroy((pthread_mutex_t *)lock); }
int raceproof_native_cnd_init(cnd_t *c) { return thrd_of(pthread_cond_init((pthread_cond_t *)c, 0)); }
int raceproof_native_cnd_signal(cnd_t *c) { return thrd_of(pthread_cond_signal((pthread_cond_t *)c)); }
int raceproof_native_cnd_broadcast(cnd_t *c) { return thrd_of(pthread_cond_broadcast((pthread_cond_t *)c)); }
int raceproof_native_cnd_wait(cnd_t *c, mtx_t *lock) {
    return thrd_of(pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)lock));
}
int raceproof_native_cnd_timedwait(cnd_t *restrict c, mtx_t *restrict lock,
                                   const struct timespec *restrict time) {
    return thrd_of(pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)lock, time));
}
void raceproof_native_cnd_destroy(cnd_t *c) { pthread_cond_destroy((pthread_cond_t *)c); }
void raceproof_native_call_once(once_flag *flag, void (*function)(void)) {
    pthread_once((pthread_once_t *)flag, function);
}

/* --- what a compiler's older ThreadSanitizer lacks; these are intercepted --- */

__attribute__((weak)) void *__tsan_memcpy(void *to, const void *from, size_t size) {
    return memcpy(to, from, size);
}
__attribute__((weak)) void *__tsan_memmove(void *to, const void *from, size_t size) {
    return memmove(to, from, size);
}
__attribute__((weak)) void *__tsan_memset(void *to, int byte, size_t size) {
    return memset(to, byte, size);
}

/* --- nondeterministic functions: the schedule's inputs, then zeros --- */

static unsigned long long input(void) {
    prepare();
    int at = __atomic_fetch_add(&next_input, 1, __ATOMIC_SEQ_CST);
    return at < input_count ? inputs[at] : 0;
}

#define NONDET(name, type) \
    __attribute__((weak)) type __VERIFIER_nondet_##name(void) { return (type)input(); }
NONDET(bool, _Bool) NONDET(char, char) NONDET(uchar, unsigned char) NONDET(schar, signed char)
NONDET(short, short) NONDET(ushort, unsigned short) NONDET(int, int) NONDET(uint, unsigned)
NONDET(unsigned, unsigned) NONDET(long, long) NONDET(ulong, unsigned long)
NONDET(longlong, long long) NONDET(ulonglong, unsigned long long)
NONDET(size_t, size_t) NONDET(u8, uint8_t) NONDET(u16, uint16_t) NONDET(u32, uint32_t)
NONDET(loff_t, long) NONDET(pointer, uintptr_t)

__attribute__((weak)) float __VERIFIER_nondet_float(void) {
    unsigned bits = (unsigned)input();
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

__attribute__((weak)) double __VERIFIER_nondet_double(void) {
    unsigned long long bits = input();
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static pthread_mutex_t atomically = PTHREAD_MUTEX_INITIALIZER;
void raceproof_native_atomic_begin(void) { pthread_mutex_lock(&atomically); }
void raceproof_native_atomic_end(void) { pthread_mutex_unlock(&atomically); }
__attribute__((weak)) void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&atomically); }
__attribute__((weak)) void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&atomically); }
__attribute__((weak)) void __VERIFIER_assume(int condition) { if (!condition) _exit(0); }
__attribute__((weak)) void reach_error(void) { }
__attribute__((weak)) void __VERIFIER_error(void) { _exit(0); }
