// verdict: race
// Threads in a vector, made by emplace_back, add to one counter; the join loop comes too late.
#include <thread>
#include <vector>

static int total;

static void work(int amount)
{
    total += amount; // RACE
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
    return total == 1 ? 0 : 1; // NORACE
}
