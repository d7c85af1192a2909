// verdict: race-free
// std::condition_variable with std::unique_lock hands a datum over.
#include <condition_variable>
#include <mutex>
#include <thread>

static int datum;
static bool ready;
static std::mutex lock;
static std::condition_variable changed;

static void produce()
{
    datum = 9; // NORACE
    std::lock_guard<std::mutex> guard(lock);
    ready = true; // NORACE
    changed.notify_one();
}

int main()
{
    std::thread producer(produce);
    {
        std::unique_lock<std::mutex> guard(lock);
        while (!ready) // NORACE
            changed.wait(guard);
    }
    int seen = datum; // NORACE
    producer.join();
    return seen == 9 ? 0 : 1;
}
