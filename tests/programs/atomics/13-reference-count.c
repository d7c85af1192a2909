// verdict: race-free
// The reference count is atomic; whoever brings it to zero frees the object.
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
    int copy = object->data; // NORACE
    if (atomic_fetch_sub(&object->references, 1) == 1)
        free(object); // NORACE
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
