// verdict: race
// The guard gives its lock up before the last access.
#include <mutex>
#include <thread>

static std::mutex lock;
static int value, last;

static void work(int me)
{
    std::unique_lock<std::mutex> guard(lock);
    value++; // NORACE
    guard.unlock();
    last = me; // RACE
}

int main()
{
    std::thread one(work, 1);
    std::thread two(work, 2);
    one.join();
    two.join();
    return value == 2 && last ? 0 : 1; // NORACE
}
