//: objects object_count LOCK CONDITION BARRIER SEMAPHORE CONTROL ATTRIBUTE
/* Locks and the like are known by their address; their own bytes are left alone. */
enum { LOCK = 1, CONDITION, BARRIER, SEMAPHORE, CONTROL, ATTRIBUTE };

struct object {
    address key;
    unsigned char kind, type;
    unsigned char who[THREADS]; /* readers of a lock; who waits (1) or may leave (2) */
    uint32_t owner;             /* thread + 1 */
    uint32_t count;             /* depth, readers, tokens, value, or the number to wait for */
};

static struct object objects[OBJECTS];
static unsigned object_count;

//: find
static struct object *find(unsigned kind, address key)
{
    unsigned i;
    for (i = 0; i < object_count; ++i)
        if (objects[i].key == key && objects[i].kind == kind)
            return &objects[i];
    must(object_count < OBJECTS);
    object_count = object_count + 1;
    objects[i].key = key;
    objects[i].kind = (unsigned char)kind;
    return &objects[i];
}

//: clear
static void clear(struct object *o)
{
    unsigned i;
    o->owner = 0;
    o->count = 0;
    for (i = 0; i < THREADS; ++i)
        o->who[i] = 0;
}

//: NORMAL RECURSIVE CHECKING
enum { NORMAL = 1, RECURSIVE, CHECKING };

//: lock_type
/* As initialised, else as the initial bytes of a mutex say. */
static unsigned lock_type(struct object *o)
{
    address at = (address)(o->key + MUTEX_KIND);
    if (o->type)
        return o->type;
    if (!is_alive(at, 4) || (flags[at] & UNKNOWN) || memory[at + 1] || memory[at + 2] || memory[at + 3])
        return NORMAL;
    return memory[at] == 1 ? RECURSIVE : memory[at] == 2 ? CHECKING : NORMAL;
}

//: lock_is_free
static int lock_is_free(unsigned t, struct object *o, int is_recursive)
{
    if (o->owner == 0)
        return o->count == 0;
    return o->owner == t + 1 && (is_recursive || lock_type(o) != NORMAL);
}

//: lock_take
/* 0, or why the lock was not taken. */
static unsigned lock_take(unsigned t, struct object *o, int is_recursive)
{
    if (o->owner == 0 && o->count == 0) {
        o->owner = t + 1;
        o->count = 1;
        return 0;
    }
    if (o->owner != t + 1)
        return 16;
    if (is_recursive || lock_type(o) == RECURSIVE) {
        o->count = o->count + 1;
        return 0;
    }
    return lock_type(o) == CHECKING ? 35 : 16;
}

//: lock_take_shared
static unsigned lock_take_shared(unsigned t, struct object *o, int reads)
{
    if (o->owner != 0 || (o->count != 0 && !reads))
        return 16;
    if (reads) {
        o->who[t] = (unsigned char)(o->who[t] + 1);
        o->count = o->count + 1;
    } else {
        o->owner = t + 1;
    }
    return 0;
}

//: lock_is_free_shared
static int lock_is_free_shared(struct object *o, int reads)
{
    return o->owner == 0 && (reads || o->count == 0);
}

//: lock_release
static unsigned lock_release(unsigned t, struct object *o)
{
    if (o->who[t]) {
        o->who[t] = (unsigned char)(o->who[t] - 1);
        o->count = o->count - 1;
        return 0;
    }
    if (o->owner == 0 || (o->owner != t + 1 && !ANYONE_UNLOCKS))
        return 1;
    if (o->owner == t + 1 && o->count > 1) {
        o->count = o->count - 1;
        return 0;
    }
    o->owner = 0;
    o->count = 0;
    return 0;
}

//: lock_initialise
static void lock_initialise(struct object *o, unsigned type)
{
    clear(o);
    o->type = (unsigned char)type;
}

//: attribute_type
/* The type of the locks that are initialised with this attribute. */
static unsigned attribute_type(address attribute)
{
    struct object *o;
    if (attribute == 0)
        return NORMAL;
    o = find(ATTRIBUTE, attribute);
    return o->type ? o->type : NORMAL;
}

//: waiting
static unsigned waiting(struct object *o)
{
    unsigned i, count = 0;
    for (i = 0; i < THREADS; ++i)
        if (o->who[i] == 1)
            ++count;
    return count;
}

//: condition_leave
static void condition_leave(unsigned t, struct object *o)
{
    o->who[t] = 0;
    if (o->count > 0)
        o->count = o->count - 1;
    if (o->count > waiting(o))
        o->count = waiting(o);
}

//: condition_signal
static void condition_signal(struct object *o, int broadcast)
{
    unsigned count = waiting(o);
    o->count = broadcast || o->count >= count ? count : o->count + 1;
}

//: barrier_arrive
/* Whether all have come; then they may leave. */
static int barrier_arrive(unsigned t, struct object *o)
{
    unsigned i;
    o->who[t] = 1;
    if (waiting(o) < o->count)
        return 0;
    for (i = 0; i < THREADS; ++i)
        if (o->who[i] == 1)
            o->who[i] = 2;
    o->who[t] = 0;
    return 1;
}

//: thread_of
/* The thread with this id. */
static unsigned thread_of(uint64_t id)
{
    must(id >= 1 && id <= threads);
    return (unsigned)(id - 1);
}

//: specifics keys
/* Thread-specific values. */
static address specifics[THREADS][KEYS];
static unsigned keys;

//: specific_create
static unsigned specific_create(void)
{
    must(keys < KEYS);
    keys = keys + 1;
    return keys - 1;
}

//: cleanups cleanup_count
/* Cleanup handlers: routine and argument. */
static address cleanups[THREADS][CLEANUPS][2];
static unsigned cleanup_count[THREADS];

//: destructors
static address destructors[KEYS];

//: next_destructor
/* The first key with a destructor whose value in this thread is not zero; KEYS if there is none. */
static unsigned next_destructor(unsigned t)
{
    unsigned key = 0;
    while (key < KEYS && !(destructors[key] && specifics[t][key]))
        ++key;
    return key;
}

//: exit_handlers exit_handler_count
/* What is called at the end of the process: function and argument. */
static address exit_handlers[HANDLERS][2];
static unsigned exit_handler_count;

//: must_end
/* Whether the thread was cancelled. */
static int must_end(unsigned t)
{
    return thread[t].cancelled && !thread[t].uncancellable;
}
