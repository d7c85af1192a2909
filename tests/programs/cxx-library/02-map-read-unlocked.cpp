// verdict: race
// One thread looks into the map without the lock.
#include <map>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::map<int, int> table;

static void add(int key)
{
    std::lock_guard<std::mutex> guard(lock);
    table[key] += key; // RACE
}

int main()
{
    std::thread one(add, 1);
    std::size_t seen = table.count(1); // RACE
    one.join();
    return seen <= 1 ? 0 : 1;
}
