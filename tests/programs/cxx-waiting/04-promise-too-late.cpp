// verdict: race
// The datum is written after the promise was kept.
#include <future>
#include <thread>

static int data;

int main()
{
    std::promise<void> promise;
    std::future<void> future = promise.get_future();
    std::thread worker([&promise] {
        promise.set_value();
        data = 41; // RACE
    });
    future.get();
    int seen = data; // RACE
    worker.join();
    return seen == 41 || seen == 0 ? 0 : 1;
}
