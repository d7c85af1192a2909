// verdict: race-free
// std::atomic through operators and named functions.
#include <atomic>
#include <thread>

static std::atomic<int> counter{0};

static void work()
{
    counter++; // NORACE
    counter.fetch_add(2); // NORACE
}

int main()
{
    std::thread a(work);
    std::thread b(work);
    int early = counter.load(); // NORACE
    a.join();
    b.join();
    return early <= 6 ? 0 : 1;
}
