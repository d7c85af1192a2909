// verdict: race
// The counts are atomic, the pointer itself is not.
#include <memory>
#include <thread>

static std::shared_ptr<int> number = std::make_shared<int>(1);

int main()
{
    std::thread worker([] {
        number = std::make_shared<int>(2); // RACE
    });
    std::shared_ptr<int> copy = number; // RACE
    worker.join();
    return *copy > 0 ? 0 : 1;
}
