// verdict: race-free
// unbounded
// Atomic counters and a flag of several types.
#include <atomic>
#include <thread>

static std::atomic<long> total{0};
static std::atomic<bool> done{false};
static int result;

static void work()
{
    for (int i = 0; i < 3; i++)
        total.fetch_add(2, std::memory_order_relaxed); // NORACE
    result = 6; // NORACE
    done.store(true);
}

int main()
{
    std::thread worker(work);
    while (!done.load())
        std::this_thread::yield();
    int seen = result; // NORACE
    worker.join();
    return seen == total ? 0 : 1;
}
