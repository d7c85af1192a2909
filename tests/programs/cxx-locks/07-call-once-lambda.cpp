// verdict: race-free
// call_once initialises; everybody reads after it.
#include <mutex>
#include <thread>

static std::once_flag once;
static int table;

static int get()
{
    std::call_once(once, [] {
        table = 5; // NORACE
    });
    return table; // NORACE
}

int main()
{
    int one = 0, two = 0;
    std::thread a([&one] { one = get(); });
    std::thread b([&two] { two = get(); });
    a.join();
    b.join();
    return one + two == 10 ? 0 : 1; // NORACE
}
