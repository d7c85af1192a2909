// verdict: race
// Two threads push to one vector.
#include <thread>
#include <vector>

static std::vector<int> found;

static void work(int number)
{
    found.push_back(number); // RACE
}

int main()
{
    std::thread one(work, 1);
    std::thread two(work, 2);
    one.join();
    two.join();
    return found.empty() ? 1 : 0; // NORACE
}
