// verdict: race-free
// A lambda captures a copy; main's own variable stays alone.
#include <thread>

static int result;

int main()
{
    int total = 1;
    std::thread adder([total]() mutable {
        total += 5; // NORACE
        result = total; // NORACE
    });
    total += 1; // NORACE
    adder.join();
    return total + result == 8 ? 0 : 1; // NORACE
}
