// verdict: race-free
// A queue with a condition variable hands numbers from one thread to another.
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
        waiting.push(i); // NORACE
        filled.notify_one();
    }
}

int main()
{
    int sum = 0;
    std::thread producer(produce);
    for (int i = 0; i < 2; i++) {
        std::unique_lock<std::mutex> guard(lock);
        filled.wait(guard, [] { return !waiting.empty(); });
        sum += waiting.front(); // NORACE
        waiting.pop(); // NORACE
    }
    producer.join();
    return sum == 3 ? 0 : 1;
}
