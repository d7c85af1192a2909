// verdict: race-free
// Main waits at a latch until both workers have counted down.
#include <latch>
#include <thread>

static int parts[2];

int main()
{
    std::latch done(2);
    auto work = [&done](int me) {
        parts[me] = me + 1; // NORACE
        done.count_down();
    };
    std::thread one(work, 0);
    std::thread two(work, 1);
    done.wait();
    int sum = parts[0] + parts[1]; // NORACE
    one.join();
    two.join();
    return sum == 3 ? 0 : 1;
}
