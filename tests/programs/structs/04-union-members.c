// verdict: race
// Members of a union lie on top of each other.
#include <pthread.h>

union value {
    int number;
    unsigned char bytes[sizeof(int)];
};

static union value value;

static void *set_number(void *arg)
{
    value.number = 258; // RACE
    return NULL;
}

static void *set_byte(void *arg)
{
    value.bytes[0] = 7; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, set_number, NULL);
    pthread_create(&b, NULL, set_byte, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return value.number == 0;
}
