// verdict: race
// std::unique_lock lets go before the end of its scope.
#include <mutex>
#include <thread>

static int shared;
static std::mutex lock;

static void work()
{
    std::unique_lock<std::mutex> guard(lock);
    shared++; // RACE
    guard.unlock();
    shared++; // RACE
}

int main()
{
    std::thread a(work);
    std::thread b(work);
    a.join();
    b.join();
    return shared;
}
