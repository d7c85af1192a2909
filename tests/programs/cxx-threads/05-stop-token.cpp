// verdict: race-free
// unbounded
// A jthread works until it is asked to stop; its sum is read after it was joined.
#include <stop_token>
#include <thread>

static long rounds;

static void work(std::stop_token stop)
{
    while (!stop.stop_requested())
        rounds++; // NORACE
}

int main()
{
    std::jthread worker(work);
    worker.request_stop();
    worker.join();
    return rounds >= 0 ? 0 : 1; // NORACE
}
