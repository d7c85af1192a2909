// verdict: race-free
// Two threads, one struct, a field each.
#include <pthread.h>

struct point {
    int x;
    int y;
};

static struct point point;

static void *move_x(void *arg)
{
    struct point *p = arg;
    p->x += 1; // NORACE
    return NULL;
}

static void *move_y(void *arg)
{
    struct point *p = arg;
    p->y += 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, move_x, &point);
    pthread_create(&b, NULL, move_y, &point);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return point.x + point.y == 2 ? 0 : 1;
}
