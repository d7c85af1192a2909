// verdict: race-free
// Threads in a vector count under a lock; main reads after the join loop.
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static int total;

static void work(int amount)
{
    std::lock_guard<std::mutex> guard(lock);
    total += amount; // NORACE
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
    return total == 3 ? 0 : 1; // NORACE
}
