// Two mappings of one file, or two attachments of one segment, are the same memory. Whether two
// descriptors stand for one file is not known.
// when: mmap mmap64 mremap shmat

#define SHARED 1
#define FIXED 0x10
#define ANONYMOUS 0x20
#define FAILED ((void *)-1)

void *raceproof_map(size_t size);
void raceproof_grown_mapping(void);
void raceproof_moved_mapping(void);
void *realloc(void *, size_t);

// A file is one object from its beginning on, with room behind the first mapping for later ones.
#define ROOM 65536

struct mapping {
    char *memory;
    size_t size;
    int is_segment, segment;
    struct mapping *next;
};

static struct mapping *raceproof_mappings;

static inline __attribute__((always_inline)) char *mapped(
    size_t size, long long offset, int is_segment, int segment)
{
    for (struct mapping *m = GUARDED_READ(raceproof_mappings); m != NULL;
         m = GUARDED_READ(m->next)) {
        if (GUARDED_READ(m->is_segment) != is_segment)
            continue;
        if (is_segment ? GUARDED_READ(m->segment) == segment : raceproof_unspecified() != 0) {
            if (size > GUARDED_READ(m->size) || (size_t)offset > GUARDED_READ(m->size) - size)
                raceproof_grown_mapping();
            return GUARDED_READ(m->memory) + offset;
        }
    }
    struct mapping *m = malloc(sizeof *m);
    char *memory = raceproof_map(offset + size + ROOM);
    GUARDED_WRITE(m->memory, memory);
    GUARDED_WRITE(m->size, offset + size + ROOM);
    GUARDED_WRITE(m->is_segment, is_segment);
    GUARDED_WRITE(m->segment, segment);
    GUARDED_WRITE(m->next, GUARDED_READ(raceproof_mappings));
    GUARDED_WRITE(raceproof_mappings, m);
    return memory + offset;
}

LIBRARY void *mmap(void *where, size_t size, int protection, int flags, int file, long offset)
{
    if (size == 0 || offset < 0 || (!(flags & ANONYMOUS) && file < 0))
        return FAILED;
    if (flags & FIXED) // what was there is replaced: the same memory, with other contents
        return raceproof_input() ? FAILED : (raceproof_may_write(where), where);
    if (where != NULL && raceproof_unspecified())
        return where; // the hint was taken
    if (flags & ANONYMOUS)
        return raceproof_map(size);
    if (raceproof_input())
        return FAILED;
    if (flags & SHARED)
        return mapped(size, offset, 0, 0);
    char *memory = raceproof_map(size);
    raceproof_may_write(memory);
    return memory;
}

LIBRARY void *mmap64(
    void *where, size_t size, int protection, int flags, int file, long long offset)
{
    return mmap(where, size, protection, flags, file, offset);
}

LIBRARY void *shmat(int segment, const void *where, int flags)
{
    if (raceproof_input())
        return FAILED;
    return mapped(65536, 0, 1, segment);
}

// What shrinks stays where it is. What grows may do so, too, and is still the same memory to who
// knows the old address.
LIBRARY void *mremap(void *old, size_t old_size, size_t new_size, int flags, ...)
{
    if (new_size == 0 || raceproof_input())
        return FAILED;
    if (new_size <= old_size && !(flags & 6))
        return old;
    raceproof_moved_mapping();
    return realloc(old, new_size);
}
