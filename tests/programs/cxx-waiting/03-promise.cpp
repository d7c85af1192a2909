// verdict: race-free
// A promise hands over: what was written before set_value is seen after get.
#include <future>
#include <thread>

static int data;

int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread worker([&promise] {
        data = 41; // NORACE
        promise.set_value(1);
    });
    int one = future.get();
    int sum = data + one; // NORACE
    worker.join();
    return sum == 42 ? 0 : 1;
}
