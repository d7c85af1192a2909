// verdict: race
// unbounded
// As 11, but the turn is passed on before the datum is written.
#include <pthread.h>

static int turn, datum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int whose_turn(void)
{
    pthread_mutex_lock(&lock);
    int now = turn; // NORACE
    pthread_mutex_unlock(&lock);
    return now;
}

static void *player(void *arg)
{
    int me = *(int *)arg;
    for (int moves = 0; moves < 2;) {
        if (whose_turn() != me)
            continue;
        pthread_mutex_lock(&lock);
        turn = 1 - me; // NORACE
        pthread_mutex_unlock(&lock);
        datum = me; // RACE
        moves++;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int zero = 0, one = 1;
    pthread_create(&a, NULL, player, &zero);
    pthread_create(&b, NULL, player, &one);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return datum;
}
