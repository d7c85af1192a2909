// verdict: race
// Two scoped_locks of different mutexes do not exclude each other.
#include <mutex>
#include <thread>

static std::mutex a, b, c, d;
static int x, z;

static void first()
{
    std::scoped_lock some(a, b);
    x++; // NORACE
    z++; // RACE
}

static void second()
{
    std::scoped_lock others(d, c);
    z--; // RACE
}

int main()
{
    std::thread one(first);
    std::thread two(second);
    one.join();
    two.join();
    return x + z;
}
