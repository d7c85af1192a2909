// verdict: race
// The consumer waits under the lock but takes the element without it.
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

static std::mutex lock;
static std::condition_variable filled;
static std::queue<int> waiting;

static void produce()
{
    for (int i = 1; i <= 2; i++) {
        std::lock_guard<std::mutex> guard(lock);
        waiting.push(i); // RACE
        filled.notify_one();
    }
}

int main()
{
    int sum = 0;
    std::thread producer(produce);
    for (int i = 0; i < 2; i++) {
        {
            std::unique_lock<std::mutex> guard(lock);
            filled.wait(guard, [] { return !waiting.empty(); }); // NORACE
        }
        sum += waiting.front(); // RACE
        waiting.pop(); // RACE
    }
    producer.join();
    return sum > 0 ? 0 : 1;
}
