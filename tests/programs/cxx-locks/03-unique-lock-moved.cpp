// verdict: race-free
// A function returns the lock it took: the caller holds it.
#include <mutex>
#include <thread>

static std::mutex lock;
static int value;

static std::unique_lock<std::mutex> locked()
{
    std::unique_lock<std::mutex> guard(lock);
    return guard;
}

static void work()
{
    auto guard = locked();
    value++; // NORACE
}

int main()
{
    std::thread one(work);
    std::thread two(work);
    one.join();
    two.join();
    return value == 2 ? 0 : 1; // NORACE
}
