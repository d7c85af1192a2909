// verdict: race
// std::atomic with orders that order nothing.
#include <atomic>
#include <thread>

static std::atomic<bool> ready{false};
static int data;

static void writer()
{
    data = 1; // RACE
    ready.store(true, std::memory_order_relaxed);
}

int main()
{
    int seen = 1;
    std::thread other(writer);
    if (ready.load(std::memory_order_relaxed))
        seen = data; // RACE
    other.join();
    return seen == 1 ? 0 : 1;
}
