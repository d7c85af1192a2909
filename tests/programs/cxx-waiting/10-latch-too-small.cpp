// verdict: race
// The latch opens when one of the two workers is done.
#include <latch>
#include <thread>

static int parts[2];

int main()
{
    std::latch done(1);
    std::thread one([&done] {
        parts[0] = 1; // NORACE
        done.count_down();
    });
    std::thread two([] {
        parts[1] = 2; // RACE
    });
    done.wait();
    int sum = parts[0] + parts[1]; // RACE
    one.join();
    two.join();
    return sum > 0 ? 0 : 1;
}
