// verdict: race-free
// A binary semaphore hands a datum over.
#include <semaphore>
#include <thread>

static std::binary_semaphore ready{0};
static int data;

int main()
{
    std::thread worker([] {
        data = 6; // NORACE
        ready.release();
    });
    ready.acquire();
    int seen = data; // NORACE
    worker.join();
    return seen == 6 ? 0 : 1;
}
