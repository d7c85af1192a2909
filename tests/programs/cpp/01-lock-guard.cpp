// verdict: race-free
// std::thread and std::lock_guard.
#include <mutex>
#include <thread>

static int counter;
static std::mutex lock;

static void work()
{
    for (int i = 0; i < 2; i++) {
        std::lock_guard<std::mutex> guard(lock);
        counter++; // NORACE
    }
}

int main()
{
    std::thread a(work);
    std::thread b(work);
    a.join();
    b.join();
    return counter == 4 ? 0 : 1; // NORACE
}
