// pthread_once for programs that do more with a control than to hand it to pthread_once: one that
// is assigned again runs its routine again. Else the model says more. See `insertions`.
// when: raceproof_once

typedef struct {
    char bytes[64];
} object;

int pthread_mutex_lock(object *);
int pthread_mutex_unlock(object *);
int pthread_cond_wait(object *, object *);
int pthread_cond_broadcast(object *);

static object raceproof_once_lock, raceproof_once_done;

enum { FRESH, RUNNING, DONE };

static inline __attribute__((always_inline)) int once(int *control, void (*routine)(void))
{
    pthread_mutex_lock(&raceproof_once_lock);
    while (GUARDED_READ(*control) == RUNNING)
        pthread_cond_wait(&raceproof_once_done, &raceproof_once_lock);
    if (GUARDED_READ(*control) == DONE) {
        pthread_mutex_unlock(&raceproof_once_lock);
        return 0;
    }
    GUARDED_WRITE(*control, RUNNING);
    pthread_mutex_unlock(&raceproof_once_lock);
    routine();
    pthread_mutex_lock(&raceproof_once_lock);
    GUARDED_WRITE(*control, DONE);
    pthread_cond_broadcast(&raceproof_once_done);
    pthread_mutex_unlock(&raceproof_once_lock);
    return 0;
}

LIBRARY int pthread_once(int *control, void (*routine)(void))
{
    return once(control, routine);
}

LIBRARY void call_once(int *control, void (*routine)(void))
{
    once(control, routine);
}
