// verdict: race
// A lambda captures a local of main by reference and both use it.
#include <thread>

int main()
{
    int total = 0;
    std::thread adder([&total] {
        int mine = 5;
        total += mine; // RACE
    });
    total += 1; // RACE
    adder.join();
    return total; // NORACE
}
