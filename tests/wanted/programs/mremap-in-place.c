// want: race unknown
// A mapping that is not grown stays where it is.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
static char *a, *b;
static void *worker(void *arg) { b[0] = 1; return NULL; }
int main(void)
{
    pthread_t t;
    a = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED) return 1;
    b = mremap(a, 4096, 4096, 0);
    if (b == MAP_FAILED) return 1;
    pthread_create(&t, NULL, worker, NULL);
    a[0] = 2;
    pthread_join(t, NULL);
    return 0;
}
