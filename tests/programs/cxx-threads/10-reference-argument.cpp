// verdict: race
// std::ref hands the thread the caller's variable, which the caller goes on to use.
#include <functional>
#include <thread>

static void add(int &sum, int amount)
{
    sum += amount; // RACE
}

int main()
{
    int sum = 0;
    std::thread worker(add, std::ref(sum), 5);
    sum += 1; // RACE
    worker.join();
    return sum > 0 ? 0 : 1; // NORACE
}
