// verdict: race-free
// A barrier separates writing one's own half from reading the other's.
#include <barrier>
#include <thread>

static int halves[2], sums[2];

int main()
{
    std::barrier sync(2);
    auto work = [&sync](int me) {
        halves[me] = me + 1; // NORACE
        sync.arrive_and_wait();
        sums[me] = halves[0] + halves[1]; // NORACE
    };
    std::thread one(work, 0);
    std::thread two(work, 1);
    one.join();
    two.join();
    return sums[0] + sums[1] == 6 ? 0 : 1; // NORACE
}
