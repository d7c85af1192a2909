// verdict: race-free
// std::atomic with orders handed down as arguments.
#include <atomic>
#include <thread>

static std::atomic<bool> ready{false};
static int data;

static void writer()
{
    data = 1; // NORACE
    ready.store(true, std::memory_order_release);
}

int main()
{
    int seen = 1;
    std::thread other(writer);
    if (ready.load(std::memory_order_acquire))
        seen = data; // NORACE
    other.join();
    return seen == 1 ? 0 : 1;
}
