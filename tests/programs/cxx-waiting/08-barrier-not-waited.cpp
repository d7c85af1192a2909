// verdict: race
// One thread arrives at the barrier without waiting there.
#include <barrier>
#include <thread>

static int halves[2], sum;

int main()
{
    std::barrier sync(2);
    std::thread one([&sync] {
        halves[0] = 1; // RACE
        sync.arrive_and_wait();
    });
    std::thread two([&sync] {
        halves[1] = 2; // NORACE
        auto token = sync.arrive();
        sum = halves[0] + halves[1]; // RACE
        (void)token;
    });
    one.join();
    two.join();
    return sum > 0 ? 0 : 1; // NORACE
}
