// Each thread has its own copy, with its initial value; static locals are shared.
#include <pthread.h>
#include <stdio.h>

static __thread int mine = 5;
static _Thread_local struct { int a; char text[8]; } record = {1, "start"};
static int shared;

static int bump(void) {
    static int calls;
    static __thread int own_calls = 100;
    own_calls++;
    return ++calls * 1000 + own_calls;
}

static void *work(void *arg) {
    mine += *(int *)arg;
    record.a = mine;
    record.text[0] = 'S';
    shared += bump();
    *(int *)arg = mine * 10 + (record.text[0] == 'S');
    return &shared;
}

int main(void) {
    mine = 50;
    for (int i = 1; i <= 3; i++) {
        int value = i;
        void *result;
        pthread_t id;
        pthread_create(&id, NULL, work, &value);
        pthread_join(id, &result);
        printf("%d %d %d\n", value, result == &shared, shared);
    }
    printf("%d %d %s\n", mine, record.a, record.text);
    return bump() % 100;
}
