//: objects object_count LOCK CONDITION BARRIER SEMAPHORE CONTROL ATTRIBUTE
/* Locks and the like are known by their address; their own bytes are left alone. */
enum { LOCK = 1, CONDITION, BARRIER, SEMAPHORE, CONTROL, ATTRIBUTE };

struct object {
    address key;
    unsigned char object;
    unsigned char own[THREADS]; /* reads held of a lock; whether a thread waits at a barrier */
    uint32_t owner, depth, readers, kind, type, waiting, tokens, parties, state;
};

static struct object objects[OBJECTS];
static unsigned object_count;

//: find
static struct object *find(unsigned kind, address key)
{
    unsigned i;
    for (i = 0; i < object_count; ++i)
        if (objects[i].key == key && objects[i].object == kind)
            return &objects[i];
    must(object_count < OBJECTS);
    object_count = object_count + 1;
    objects[i].key = key;
    objects[i].object = (unsigned char)kind;
    return &objects[i];
}

//: GOES_ON
/* The call takes another step. */
enum { GOES_ON = 1000 };

//: kind_of_type
@KIND_OF_TYPE@

//: lock_kind
/* As initialised, else as the initial bytes of a mutex say. */
static unsigned lock_kind(struct object *o)
{
    address at = (address)(o->key + MUTEX_KIND);
    if (o->kind)
        return o->kind;
    if (!is_alive(at, 4) || (flags[at] & UNKNOWN) || memory[at + 1] || memory[at + 2] || memory[at + 3])
        return kind_of_type(0);
    return kind_of_type(memory[at]);
}

//: attribute_type
/* The number of the kind of locks that are initialised with this attribute. */
static unsigned attribute_type(address attribute)
{
    return attribute == 0 ? 0 : find(ATTRIBUTE, attribute)->type;
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
