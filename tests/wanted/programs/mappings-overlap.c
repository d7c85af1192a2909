// want: race unknown
// Two shared mappings of one file that overlap in a page.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static char *high, *low;
static void *worker(void *arg) { high[0] = 1; return NULL; }
int main(void)
{
    pthread_t t;
    int fd = open("/tmp/overlap.bin", O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 12288) != 0) return 1;
    high = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
    low = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (high == MAP_FAILED || low == MAP_FAILED) return 1;
    pthread_create(&t, NULL, worker, NULL);
    low[4096] = 2;
    pthread_join(t, NULL);
    return 0;
}
