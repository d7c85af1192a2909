//: must
/* Executions that leave the bounds, or that C gives no meaning, do not count. */
static void must(int condition)
{
    __VERIFIER_assume(condition);
}

//: choose asking choices RACING SWITCH SECOND
/* The guesses of the scheduler: which context the monitor looks at, where a context ends, and which
   thread races with the first. */
enum { RACING = 1, SWITCH, SECOND };
static unsigned asking, choices;

static unsigned choose(unsigned what, unsigned count)
{
    unsigned guess;
    asking = what;
    choices = count;
    guess = __VERIFIER_nondet_uint();
    asking = 0;
    must(guess < count);
    return guess;
}

//: any
/* An input of the program: `size` bytes of any value. */
static uint64_t any(unsigned size)
{
    uint64_t value;
    if (size <= 1)
        return __VERIFIER_nondet_uchar();
    if (size <= 2)
        return __VERIFIER_nondet_ushort();
    if (size <= 4)
        value = __VERIFIER_nondet_uint();
    else
        value = __VERIFIER_nondet_ulonglong();
    return size < 8 ? value & (((uint64_t)1 << (8 * size)) - 1) : value;
}

//: unmodelled
/* The result of a library function that is not modelled here. */
static uint64_t unmodelled(void)
{
    return (uint64_t)__VERIFIER_nondet_long();
}

//: struct_thread thread NONE RUNNING FINISHED STUCK threads alive
/* The threads, in the order of their creation; thread 0 runs main. */
enum { NONE, RUNNING, FINISHED, STUCK };

struct thread {
    address entry, argument, result, stack;
    unsigned pc;     /* the visible statement that it stands before */
    unsigned atomic; /* depth of atomic sections */
    unsigned char state, cancelled, uncancellable;
};

static struct thread thread[THREADS];
static unsigned threads; /* created so far */
static unsigned alive;   /* created and not finished */

//: cs mark raced place running
/* The context that is being simulated, and the race monitor. */
static unsigned cs;          /* it ends before the first visible statement with this label or more */
static unsigned running;     /* its thread */
static unsigned mark;        /* 1: its end is the first access of the race, 2: the second, 0: neither */
static int raced;            /* the two touch the same bytes */
static const char *place[3]; /* where they stand in the source */

//: flags ALIVE UNKNOWN PRIVATE FIXED READ WRITE ATOMIC_READ ATOMIC_WRITE MARKS
/* Shadow memory: what is known about each byte. The last four belong to the race monitor. */
#define ALIVE 128u  /* lies in an object */
#define UNKNOWN 64u /* was never written: the first read yields any value */
#define PRIVATE 32u /* other threads cannot have its address */
#define FIXED 16u   /* constant */
#define READ 1u
#define WRITE 2u
#define ATOMIC_READ 4u
#define ATOMIC_WRITE 8u
#define MARKS 15u
static unsigned char flags[SIZE];

//: room
/* What an object takes up: objects are at least 16 bytes apart. */
static uint64_t room(uint64_t size)
{
    return (size + 31) / 16 * 16;
}

//: object
static void object(address start, uint64_t size, unsigned kind)
{
    uint64_t i;
    for (i = 0; i < size; ++i)
        flags[start + i] = (unsigned char)((flags[start + i] & MARKS) | kind);
}

//: is_alive
static int is_alive(address start, uint64_t size)
{
    uint64_t i;
    if (size > SIZE || start > SIZE - size)
        return 0;
    for (i = 0; i < size; ++i)
        if (!(flags[start + i] & ALIVE))
            return 0;
    return 1;
}

//: extent
/* Bytes from here to the end of the object. */
static uint64_t extent(address start)
{
    uint64_t size = 0;
    while (start < SIZE - size && (flags[start + size] & ALIVE))
        ++size;
    return size;
}

//: get
/* Reads `size` bytes. */
static uint64_t get(address start, unsigned size)
{
    uint64_t value = 0;
    unsigned i;
    int known = 1;
    must(is_alive(start, size));
    for (i = 0; i < size; ++i)
        if (flags[start + i] & UNKNOWN)
            known = 0;
    if (!known) {
        value = any(size);
        for (i = 0; i < size; ++i) {
            memory[start + i] = (unsigned char)(value >> (8 * i));
            flags[start + i] = (unsigned char)(flags[start + i] & ~UNKNOWN);
        }
        return value;
    }
    for (i = size; i-- > 0;)
        value = value << 8 | memory[start + i];
    return value;
}

//: put
/* Writes `size` bytes. */
static void put(address start, uint64_t value, unsigned size)
{
    unsigned i;
    must(is_alive(start, size));
    for (i = 0; i < size; ++i) {
        must(!(flags[start + i] & FIXED));
        memory[start + i] = (unsigned char)(value >> (8 * i));
        flags[start + i] = (unsigned char)(flags[start + i] & ~UNKNOWN);
    }
}

//: get_float
static float get_float(address start)
{
    union { uint32_t bits; float value; } u;
    u.bits = (uint32_t)get(start, 4);
    return u.value;
}

//: get_double
static double get_double(address start)
{
    union { uint64_t bits; double value; } u;
    u.bits = get(start, 8);
    return u.value;
}

//: float_of_bits
static float float_of_bits(uint32_t bits)
{
    union { uint32_t bits; float value; } u;
    u.bits = bits;
    return u.value;
}

//: double_of_bits
static double double_of_bits(uint64_t bits)
{
    union { uint64_t bits; double value; } u;
    u.bits = bits;
    return u.value;
}

//: bits_of_float
static uint32_t bits_of_float(float value)
{
    union { uint32_t bits; float value; } u;
    u.value = value;
    return u.bits;
}

//: bits_of_double
static uint64_t bits_of_double(double value)
{
    union { uint64_t bits; double value; } u;
    u.value = value;
    return u.bits;
}

//: copy
static void copy(address target, address source, uint64_t size)
{
    uint64_t i;
    must(is_alive(target, size) && is_alive(source, size));
    for (i = 0; i < size; ++i) {
        uint64_t k = target <= source ? i : size - 1 - i;
        must(!(flags[target + k] & FIXED));
        memory[target + k] = memory[source + k];
        flags[target + k] = (unsigned char)((flags[target + k] & ~UNKNOWN) | (flags[source + k] & UNKNOWN));
    }
}

//: fill
static void fill(address target, unsigned byte, uint64_t size)
{
    uint64_t i;
    must(is_alive(target, size));
    for (i = 0; i < size; ++i) {
        must(!(flags[target + i] & FIXED));
        memory[target + i] = (unsigned char)byte;
        flags[target + i] = (unsigned char)(flags[target + i] & ~UNKNOWN);
    }
}

//: forget
/* Bytes that get a value which nobody knows. */
static void forget(address target, uint64_t size)
{
    uint64_t i;
    must(is_alive(target, size));
    for (i = 0; i < size; ++i)
        flags[target + i] |= UNKNOWN;
}

//: silent
/* Rounds of loops without visible statements. */
static unsigned silent;

//: stack_of
/* Where the thread's stack begins. */
static address stack_of(unsigned t)
{
    return (address)(STACKS + t * STACK);
}

//: slot
/* A new stack slot. */
static address slot(unsigned t, uint64_t size, unsigned kind)
{
    address start = thread[t].stack;
    must(size <= STACK && start - stack_of(t) + room(size) <= STACK);
    object(start, size, ALIVE | kind);
    thread[t].stack = (address)(start + room(size));
    return start;
}

//: leave
/* Gives back all slots from `stack` on. */
static void leave(unsigned t, address stack)
{
    address p;
    for (p = stack; p < thread[t].stack; ++p)
        flags[p] &= MARKS;
    thread[t].stack = stack;
}

//: heap allocate
static address heap = HEAP_START;

static address allocate(uint64_t size, unsigned kind)
{
    address start = heap;
    must(size <= HEAP && start - HEAP_START + room(size) <= HEAP);
    object(start, size, ALIVE | kind);
    heap = (address)(start + room(size));
    return start;
}

//: release
static void release(address start)
{
    uint64_t size, i;
    if (start == 0)
        return;
    must(start >= HEAP_START && start < SIZE && !(flags[start - 1] & ALIVE));
    size = extent(start);
    must(size > 0);
    for (i = 0; i < size; ++i)
        flags[start + i] &= MARKS;
}

//: shared
/* Whether another thread may reach this byte. */
static int shared(address start)
{
    return start != 0 && (start >= SIZE || !(flags[start] & PRIVATE));
}

//: start_locals
@START_LOCALS@

//: create
static unsigned create(address entry, address argument)
{
    unsigned t = threads;
    must(t < THREADS);
    threads = t + 1;
    alive = alive + 1;
    thread[t].entry = entry;
    thread[t].argument = argument;
    thread[t].result = 0;
    thread[t].stack = stack_of(t);
    thread[t].pc = 0;
    thread[t].atomic = 0;
    thread[t].cancelled = 0;
    thread[t].uncancellable = 0;
    thread[t].state = RUNNING;
    start_locals(t);
    return t;
}

//: finish
static void finish(unsigned t, uint64_t result)
{
    leave(t, stack_of(t));
    thread[t].result = (address)result;
    thread[t].atomic = 0;
    thread[t].state = FINISHED;
    alive = alive - 1;
}

//: stop
/* Whether the context ends before the visible statement `label`. A thread that is alone, or that
   touches what no other can see, has no reason to stop; an atomic section is not interrupted. */
static int stop(unsigned t, unsigned label, int is_visible)
{
#ifdef RACEPROOF_RUN
    native_stop(t, label, is_visible);
#endif
    if (alive == 1 || !is_visible)
        return 0;
    if (label < cs || (thread[t].atomic && mark != 1))
        return 0;
    thread[t].pc = label;
    return 1;
}

//: stuck
/* The thread cannot go on: it has come to the bounds, or to an assumption that does not hold. The
   others can, as if it were never chosen again. */
static void stuck(unsigned t)
{
    must(!thread[t].atomic);
    thread[t].state = STUCK;
}

//: blocked
/* The context ends because the statement cannot be executed now. */
static void blocked(unsigned t, unsigned label)
{
    must(!thread[t].atomic);
    thread[t].pc = label;
}

//: announce
/* The race monitor: the thread stands before a statement that touches these bytes. Phase 1 marks
   them, phase 2 looks for marks that do not go together with the access. */
static void announce(unsigned t, address start, uint64_t size, unsigned kind, const char *where)
{
    unsigned rivals;
    uint64_t i;
    if (mark == 0 || !is_alive(start, size))
        return;
    if (thread[t].atomic && (kind & (READ | WRITE)))
        kind = kind * ATOMIC_READ;
    if (kind == READ)
        rivals = WRITE | ATOMIC_WRITE;
    else if (kind == WRITE)
        rivals = MARKS;
    else if (kind == ATOMIC_READ)
        rivals = WRITE;
    else
        rivals = READ | WRITE;
    for (i = 0; i < size; ++i) {
        if (mark == 1) {
            flags[start + i] = (unsigned char)(flags[start + i] | kind);
        } else if (flags[start + i] & rivals) {
            raced = 1;
        }
    }
    place[mark] = where;
}
