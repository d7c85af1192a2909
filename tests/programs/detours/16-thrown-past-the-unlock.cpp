// verdict: race
// An exception leaves the locked function; its handler in the caller works without the lock.
#include <mutex>
#include <thread>

static std::mutex lock;
static int shared;

static void fail()
{
    std::lock_guard<std::mutex> guard(lock);
    shared++; // RACE
    throw 1;
}

static void work()
{
    try {
        fail();
    } catch (int) {
        shared++; // RACE
    }
}

int main()
{
    std::thread a(work);
    std::thread b(work);
    a.join();
    b.join();
    return 0;
}
