// verdict: race-free
// unbounded
// An atomic stop flag ends the worker's loop; the count is read after the join.
#include <atomic>
#include <thread>

static std::atomic<bool> stop{false};
static unsigned rounds;

static void work()
{
    while (!stop.load()) // NORACE
        rounds++; // NORACE
}

int main()
{
    std::thread worker(work);
    stop.store(true); // NORACE
    worker.join();
    return rounds > 1000000 ? 1 : 0; // NORACE
}
