// verdict: race-free
// A scoped_lock takes three mutexes at once, in whatever order they are named.
#include <mutex>
#include <thread>

static std::mutex a, b, c;
static int x, y, z;

static void forward()
{
    std::scoped_lock all(a, b, c);
    x++, y++, z++; // NORACE
}

static void backward()
{
    std::scoped_lock all(c, b, a);
    x--, y--, z--; // NORACE
}

int main()
{
    std::thread one(forward);
    std::thread two(backward);
    one.join();
    two.join();
    return x + y + z;
}
