"""Small programs whose threads run event handlers; the library is declared, never defined."""

LIBEVENT = """
#include <pthread.h>
#include <stdlib.h>
struct event_base;
struct event { void *library[16]; };
struct event_base *event_base_new(void);
void event_set(struct event *, int, short, void (*)(int, short, void *), void *);
int event_add(struct event *, void *);
int event_base_loop(struct event_base *, int);

struct connection {
    struct event event;
    pthread_mutex_t lock;
    int requests;
};
static int total;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_read(int fd, short what, void *argument)
{
    struct connection *c = argument;
    LOCK(&c->lock);
    c->requests++;
    UNLOCK(&c->lock);
    TOTAL_LOCK(&total_lock);
    total++;
    TOTAL_UNLOCK(&total_lock);
}

static void *worker(void *base)
{
    event_base_loop(base, 0);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    struct event_base *base = event_base_new();
    struct connection *c = malloc(sizeof *c);
    if (c == NULL || base == NULL) abort();
    pthread_mutex_init(&c->lock, NULL);
    c->requests = 0;
    event_set(&c->event, 3, 2, on_read, c);
    event_add(&c->event, NULL);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, base);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
"""


def libevent(*, lock: bool = True, total_lock: bool = True) -> str:
    """Two workers run the loop; a handler counts in its connection and in a global."""
    macros = {
        "LOCK(m)": "pthread_mutex_lock(m)" if lock else "",
        "UNLOCK(m)": "pthread_mutex_unlock(m)" if lock else "",
        "TOTAL_LOCK(m)": "pthread_mutex_lock(m)" if total_lock else "",
        "TOTAL_UNLOCK(m)": "pthread_mutex_unlock(m)" if total_lock else "",
    }
    return "".join(f"#define {name} {text}\n" for name, text in macros.items()) + LIBEVENT


UNKNOWN = """
#include <pthread.h>
struct operations { void (*open)(void); int (*read)(int); };
int run_server(const struct operations *operations);
void library_main(void);
static int requests;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *background(void *unused)
{
    pthread_mutex_lock(&lock);
    requests++;
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void open_server(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, background, NULL);
}
static int read_request(int number)
{
    pthread_mutex_lock(&lock);
    int found = requests + number;
    pthread_mutex_unlock(&lock);
    return found;
}
static const struct operations operations = {open_server, read_request};
int main(void)
{
    run_server(&operations);
    library_main();
    return 0;
}
"""
UNKNOWN_WITHOUT_LOCK = UNKNOWN.replace(
    "    pthread_mutex_lock(&lock);\n    int found", "    int found"
).replace("number;\n    pthread_mutex_unlock(&lock);", "number;")
