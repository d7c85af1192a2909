// verdict: race-free
// Copies of a shared pointer count atomically; the object is only read.
#include <memory>
#include <thread>

static int read(std::shared_ptr<const int> number)
{
    return *number; // NORACE
}

int main()
{
    int one = 0, two = 0;
    auto number = std::make_shared<const int>(21);
    std::thread a([number, &one] { one = read(number); });
    std::thread b([number, &two] { two = read(number); });
    number.reset();
    a.join();
    b.join();
    return one + two == 42 ? 0 : 1; // NORACE
}
