// verdict: race
// A writer that only takes the lock for reading.
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static int value;

static void work()
{
    std::shared_lock<std::shared_mutex> guard(lock);
    value++; // RACE
}

int main()
{
    std::thread one(work);
    std::thread two(work);
    one.join();
    two.join();
    return value > 0 ? 0 : 1; // NORACE
}
