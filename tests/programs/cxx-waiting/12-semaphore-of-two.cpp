// verdict: race
// A semaphore that lets two in protects nothing.
#include <semaphore>
#include <thread>

static std::counting_semaphore<4> room{2};
static int value;

static void work()
{
    room.acquire();
    value++; // RACE
    room.release();
}

int main()
{
    std::thread one(work);
    std::thread two(work);
    one.join();
    two.join();
    return value > 0 ? 0 : 1; // NORACE
}
