// verdict: race
// As 13, but the data is read after the reference was given up.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int references;
    int data;
};

static void *user(void *arg)
{
    struct object *object = arg;
    int last = atomic_fetch_sub(&object->references, 1) == 1;
    int copy = object->data; // RACE
    if (last)
        free(object); // RACE
    return copy ? arg : NULL;
}

int main(void)
{
    pthread_t a, b;
    struct object *object = malloc(sizeof *object);
    atomic_init(&object->references, 2); // NORACE
    object->data = 9; // NORACE
    pthread_create(&a, NULL, user, object);
    pthread_create(&b, NULL, user, object);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
