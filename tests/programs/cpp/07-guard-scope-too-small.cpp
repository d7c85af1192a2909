// verdict: race
// The guard ends with its block, one statement too early.
#include <mutex>
#include <thread>

static int items, total;
static std::mutex lock;

static void add(int amount)
{
    {
        std::lock_guard<std::mutex> guard(lock);
        items++; // NORACE
    }
    total += amount; // RACE
}

int main()
{
    std::thread a(add, 1);
    std::thread b(add, 2);
    a.join();
    b.join();
    return items + total;
}
