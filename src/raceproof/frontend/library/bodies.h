// What the bodies of library functions are written with. No header of the system is read.

#define LIBRARY __attribute__((weak, always_inline))
#define THROWING __attribute__((weak, noinline))  // a function that throws, see `exceptions`
#define NULL ((void *)0)

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ssize_t;
typedef int pid_t;

// --- what the machinery provides, see `models/bodies.toml` ---

int raceproof_unspecified(void);         // what nobody chooses
int raceproof_error_number(void);        // a positive errno, chosen by the system
int raceproof_input(void);               // what the environment of the process chooses
void raceproof_may_write(void *object);  // perhaps some bytes to the end of the object
void raceproof_may_read(const void *object);

void *malloc(size_t);
void *calloc(size_t, size_t);
void free(void *);
size_t strlen(const char *);
size_t strspn(const char *, const char *);
size_t strcspn(const char *, const char *);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
void *memcpy(void *, const void *, size_t);

// The library guards these objects by a lock of its own: it never races with itself.
#define GUARDED_READ(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define GUARDED_WRITE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
