// verdict: race-free
// Readers share, the writer excludes.
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static int value;

static void change()
{
    std::unique_lock<std::shared_mutex> guard(lock);
    value++; // NORACE
}

static void look(int &copy)
{
    std::shared_lock<std::shared_mutex> guard(lock);
    copy = value; // NORACE
}

int main()
{
    int one = 0, two = 0;
    std::thread writer(change);
    std::thread first([&] { look(one); });
    std::thread second([&] { look(two); });
    writer.join();
    first.join();
    second.join();
    return one + two <= 2 ? 0 : 1; // NORACE
}
