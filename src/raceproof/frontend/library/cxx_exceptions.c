// The exceptions of C++, for programs in which `exceptions` made them visible: a function that
// throws sets `raceproof_thrown` and returns, and so does every caller that does not catch. A
// thrown object has a record before it; one thrown again by an exception_ptr has a record of its
// own, so that threads can hand it around. An object that an exception_ptr holds is never destroyed.
// when: __cxa_throw __cxa_rethrow _ZSt17rethrow_exceptionSt13exception_ptr
// when: _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE
// when: _ZNSt3__120__throw_system_errorEiPKc _ZSt20__throw_system_errori

struct exception {
    void *object;
    const void *type;
    void (*destroy)(void *);
    struct exception *next;  // that this thread caught before
    long handlers;           // negative while it is thrown again
    long offset;             // of the caught base in the object
    long is_shared;
    long unused;
};

__attribute__((weak)) __thread struct exception *raceproof_thrown;
static __thread struct exception *raceproof_caught;

void _ZSt9terminatev(void);

static inline __attribute__((always_inline)) struct exception *record_of(void *object)
{
    return (struct exception *)((char *)object - sizeof(struct exception));
}

LIBRARY void *__cxa_allocate_exception(size_t size)
{
    struct exception *record = malloc(sizeof(struct exception) + size);
    record->object = record + 1;
    record->next = NULL;
    record->handlers = 0;
    record->offset = 0;
    record->is_shared = 0;
    return record + 1;
}

LIBRARY void __cxa_free_exception(void *object)
{
    free(record_of(object));
}

THROWING void __cxa_throw(void *object, const void *type, void (*destroy)(void *))
{
    struct exception *record = record_of(object);
    record->type = type;
    record->destroy = destroy;
    raceproof_thrown = record;
}

THROWING void __cxa_rethrow(void)
{
    struct exception *record = raceproof_caught;
    if (!record)
        _ZSt9terminatev();
    record->handlers = -record->handlers;
    raceproof_thrown = record;
}

LIBRARY void *__cxa_get_exception_ptr(void *thrown)
{
    struct exception *record = thrown;
    return (char *)record->object + record->offset;
}

LIBRARY void *__cxa_begin_catch(void *thrown)
{
    struct exception *record = thrown;
    if (record->handlers < 0) {
        record->handlers = 1 - record->handlers;
    } else {
        if (record->handlers == 0) {
            record->next = raceproof_caught;
            raceproof_caught = record;
        }
        record->handlers++;
    }
    return (char *)record->object + record->offset;
}

LIBRARY void __cxa_end_catch(void)
{
    struct exception *record = raceproof_caught;
    if (!record)
        return;
    if (record->handlers < 0) {
        record->handlers++;
        if (record->handlers == 0)
            raceproof_caught = record->next;
        return;
    }
    record->handlers--;
    if (record->handlers)
        return;
    raceproof_caught = record->next;
    if (GUARDED_READ(record->is_shared))
        return;
    if (record->destroy)
        record->destroy(record->object);
    free(record);
}

// --- std::exception_ptr: a pointer to the object ---

LIBRARY void *__cxa_init_primary_exception(void *object, const void *type, void (*destroy)(void *))
{
    struct exception *record = record_of(object);
    record->type = type;
    record->destroy = destroy;
    GUARDED_WRITE(record->is_shared, 1);
    return record;
}

static inline __attribute__((always_inline)) void current(void **result)
{
    struct exception *record = raceproof_caught;
    *result = NULL;
    if (record) {
        GUARDED_WRITE(record_of(record->object)->is_shared, 1);
        *result = record->object;
    }
}

static inline __attribute__((always_inline)) void throw_again(void *object)
{
    struct exception *first = record_of(object);
    struct exception *record = malloc(sizeof(struct exception));
    record->object = object;
    record->type = first->type;
    record->destroy = NULL;
    record->next = NULL;
    record->handlers = 0;
    record->offset = 0;
    record->is_shared = 1;
    raceproof_thrown = record;
}

LIBRARY void _ZSt17current_exceptionv(void **result) { current(result); }

THROWING void _ZSt17rethrow_exceptionSt13exception_ptr(void **held) { throw_again(*held); }

LIBRARY void _ZNSt13exception_ptrC1ERKS_(void **made, void **from) { *made = *from; }

LIBRARY void **_ZNSt13exception_ptraSERKS_(void **made, void **from)
{
    *made = *from;
    return made;
}

LIBRARY void _ZNSt13exception_ptrD1Ev(void **held) {}

LIBRARY void _ZNSt13exception_ptr31__from_native_exception_pointerEPv(void **made, void *object)
{
    *made = object;
}

THROWING void _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(void **held)
{
    throw_again(*held);
}

LIBRARY void _ZNSt15__exception_ptr13exception_ptrC1ERKS0_(void **made, void **from)
{
    *made = *from;
}

LIBRARY void _ZNSt15__exception_ptr13exception_ptrC1EPv(void **made, void *object)
{
    *made = object;
}

LIBRARY void _ZNSt15__exception_ptr13exception_ptrD1Ev(void **held) {}

// --- errors that compiled functions of the library throw ---

extern const char _ZTINSt3__112system_errorE[], _ZTISt12system_error[];

static inline __attribute__((always_inline)) void throw_new(const void *type)
{
    struct exception *record = malloc(sizeof(struct exception) + 64);
    record->object = record + 1;
    record->type = type;
    record->destroy = NULL;
    record->next = NULL;
    record->handlers = 0;
    record->offset = 0;
    record->is_shared = 0;
    raceproof_thrown = record;
}

THROWING void _ZNSt3__120__throw_system_errorEiPKc(int code, const char *why)
{
    throw_new(_ZTINSt3__112system_errorE);
}

THROWING void _ZSt20__throw_system_errori(int code) { throw_new(_ZTISt12system_error); }
