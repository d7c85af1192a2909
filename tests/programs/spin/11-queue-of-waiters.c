// verdict: race-free
// unbounded
// A queue of waiting threads as a lock; attempts in vain prepare their place anew.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct place { _Atomic(struct place *) next; atomic_int waits; };
static _Atomic(struct place *) last;
static struct place places[2];
static int counter;

static void leave(struct place *mine)
{
    struct place *me = mine;
    if (atomic_load(&mine->next) == NULL && atomic_compare_exchange_strong(&last, &me, NULL))
        return;
    while (atomic_load(&mine->next) == NULL)
        ;
    atomic_store(&atomic_load(&mine->next)->waits, 0);
}

static void *patient(void *arg)
{
    struct place *mine = arg;
    atomic_store(&mine->waits, 1);
    struct place *before = atomic_exchange(&last, mine);
    if (before != NULL) {
        atomic_store(&before->next, mine);
        while (atomic_load(&mine->waits))
            ;
    }
    counter++; // NORACE
    leave(mine);
    return NULL;
}

static void *impatient(void *arg)
{
    struct place *mine = arg, *nobody;
    do {
        atomic_store(&mine->next, NULL);
        atomic_store(&mine->waits, 1);
        nobody = NULL;
    } while (!atomic_compare_exchange_strong(&last, &nobody, mine));
    counter++; // NORACE
    leave(mine);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, patient, &places[0]);
    pthread_create(&b, NULL, impatient, &places[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
