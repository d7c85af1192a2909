// verdict: race-free
// A thread handle is moved out of a function and joined by its new owner.
#include <thread>
#include <utility>

static int value;

static std::thread start()
{
    std::thread made([] {
        value = 7; // NORACE
    });
    return made;
}

int main()
{
    std::thread first = start();
    std::thread owner = std::move(first);
    owner.join();
    return value == 7 && !first.joinable() ? 0 : 1; // NORACE
}
