// Two mappings of one file, or two attachments of one segment, are the same memory. Whether two
// descriptors stand for one file is not known.
// when: mmap mmap64 shmat

#define SHARED 1
#define FIXED 0x10
#define ANONYMOUS 0x20
#define FAILED ((void *)-1)

void *raceproof_map(size_t size);

struct mapping {
    char *memory;
    size_t size;
    long long offset;
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
        if (is_segment) {
            if (GUARDED_READ(m->segment) == segment)
                return GUARDED_READ(m->memory);
        } else if (raceproof_unspecified()) {
            long long distance = offset - GUARDED_READ(m->offset);
            if (distance >= 0 && distance + (long long)size <= (long long)GUARDED_READ(m->size))
                return GUARDED_READ(m->memory) + distance;
            return FAILED; // a mapping that only overlaps: see the model of raceproof_map
        }
    }
    struct mapping *m = malloc(sizeof *m);
    char *memory = raceproof_map(size);
    GUARDED_WRITE(m->memory, memory);
    GUARDED_WRITE(m->size, size);
    GUARDED_WRITE(m->offset, offset);
    GUARDED_WRITE(m->is_segment, is_segment);
    GUARDED_WRITE(m->segment, segment);
    GUARDED_WRITE(m->next, GUARDED_READ(raceproof_mappings));
    GUARDED_WRITE(raceproof_mappings, m);
    return memory;
}

LIBRARY void *mmap(void *where, size_t size, int protection, int flags, int file, long offset)
{
    if (size == 0 || (!(flags & ANONYMOUS) && file < 0))
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
