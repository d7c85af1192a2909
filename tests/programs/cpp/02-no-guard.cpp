// verdict: race
// std::thread without any mutex.
#include <thread>

static int counter;

static void work(int amount)
{
    counter += amount; // RACE
}

int main()
{
    std::thread a(work, 1);
    std::thread b(work, 2);
    a.join();
    b.join();
    return counter; // NORACE
}
