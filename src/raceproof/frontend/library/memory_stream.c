// open_memstream keeps the addresses of two variables and writes them when the stream is flushed.
// when: open_memstream open_wmemstream

typedef struct file FILE;

FILE *tmpfile(void);

struct memory_stream {
    char **text;
    size_t *size;
    struct memory_stream *next;
};

static struct memory_stream *raceproof_memory_streams;

static inline __attribute__((always_inline)) FILE *opened(char **text, size_t *size)
{
    struct memory_stream *s = malloc(sizeof *s);
    GUARDED_WRITE(s->text, text);
    GUARDED_WRITE(s->size, size);
    GUARDED_WRITE(s->next, GUARDED_READ(raceproof_memory_streams));
    GUARDED_WRITE(raceproof_memory_streams, s);
    *text = malloc(1);
    *size = 0;
    return tmpfile();
}

LIBRARY FILE *open_memstream(char **text, size_t *size)
{
    return opened(text, size);
}

LIBRARY FILE *open_wmemstream(char **text, size_t *size)
{
    return opened(text, size);
}

LIBRARY void raceproof_use_memory_stream(void)
{
    for (struct memory_stream *s = GUARDED_READ(raceproof_memory_streams); s != NULL;
         s = GUARDED_READ(s->next))
        if (raceproof_unspecified()) {
            size_t size = raceproof_unspecified();
            char *text = malloc(size + 1);
            raceproof_may_write(text);
            GUARDED_WRITE(*GUARDED_READ(s->text), text);
            GUARDED_WRITE(*GUARDED_READ(s->size), size);
        }
}
