// Threads whose results do not depend on the schedule.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 4
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t slots, items;
static int total, turn, table[8], initialised, queue[2], written, taken;
static pthread_key_t key;

static void initialise(void) { initialised++; }

static void *worker(void *arg) {
    long me = (long)arg;
    pthread_once(&once, initialise);
    pthread_setspecific(key, (void *)(me * 11));
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        total += (int)me;
        pthread_mutex_unlock(&lock);
    }
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&lock);
    while (turn != me)
        pthread_cond_wait(&changed, &lock);
    printf("turn of %ld, total %d\n", me, total);
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_rwlock_wrlock(&table_lock);
    table[me] = (int)(long)pthread_getspecific(key);
    pthread_rwlock_unlock(&table_lock);
    if (me % 2)
        pthread_exit((void *)(me * 2));
    return (void *)(me * me);
}

static void *producer(void *arg) {
    for (int i = 1; i <= 6; i++) {
        sem_wait(&slots);
        queue[written++ % 2] = i * i;
        sem_post(&items);
    }
    return arg;
}

static void *consumer(void *arg) {
    long *sum = arg;
    for (int i = 0; i < 6; i++) {
        sem_wait(&items);
        *sum = *sum * 2 + queue[taken++ % 2];
        sem_post(&slots);
    }
    return arg;
}

int main(void) {
    pthread_t ids[WORKERS], p, c;
    pthread_key_create(&key, NULL);
    pthread_barrier_init(&barrier, NULL, WORKERS);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&ids[i], NULL, worker, (void *)i);
    void *results[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_join(ids[i], &results[i]);
    for (int i = 0; i < WORKERS; i++)
        printf("%ld ", (long)results[i]);
    pthread_rwlock_rdlock(&table_lock);
    printf("%d %d %d\n", table[1], table[3], initialised);
    pthread_rwlock_unlock(&table_lock);
    long sum = 0;
    sem_init(&slots, 0, 2);
    sem_init(&items, 0, 0);
    pthread_create(&c, NULL, consumer, &sum);
    pthread_create(&p, NULL, producer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    printf("%ld\n", sum);
    return total;
}
