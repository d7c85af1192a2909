// verdict: race-free
// A map under a lock.
#include <map>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::map<int, int> table;

static void add(int key)
{
    std::lock_guard<std::mutex> guard(lock);
    table[key] += key; // NORACE
}

int main()
{
    std::thread one(add, 1);
    std::thread two(add, 2);
    one.join();
    two.join();
    return table.size() == 2 ? 0 : 1; // NORACE
}
