// verdict: race-free
// Who drops the last reference destroys the mutex and frees the object.
#include <pthread.h>
#include <stdlib.h>

struct object {
    pthread_mutex_t lock;
    int references;
};

void *drop(void *arg)
{
    struct object *object = arg;
    pthread_mutex_lock(&object->lock); // NORACE
    int left = --object->references; // NORACE
    pthread_mutex_unlock(&object->lock); // NORACE
    if (left == 0) {
        pthread_mutex_destroy(&object->lock); // NORACE
        free(object); // NORACE
    }
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct object *object = malloc(sizeof *object);
    pthread_mutex_init(&object->lock, NULL);
    object->references = 2;
    pthread_create(&t, NULL, drop, object);
    drop(object);
    pthread_join(t, NULL);
    return 0;
}
