// verdict: race-free
// Two semaphores pass the ball to and fro.
#include <pthread.h>
#include <semaphore.h>

static int ball;
static sem_t ping, pong;

static void *right_player(void *arg)
{
    for (int i = 0; i < 2; i++) {
        sem_wait(&ping);
        ball += 10; // NORACE
        sem_post(&pong);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    pthread_create(&thread, NULL, right_player, NULL);
    for (int i = 0; i < 2; i++) {
        ball += 1; // NORACE
        sem_post(&ping);
        sem_wait(&pong);
    }
    pthread_join(thread, NULL);
    return ball == 22 ? 0 : 1;
}
