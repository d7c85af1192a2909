// verdict: race-free
// Double-checked initialisation by an atomic pointer.
#include <atomic>
#include <mutex>
#include <thread>

struct Config {
    int level = 3;
};

static std::mutex lock;
static std::atomic<Config *> config;

static int level()
{
    Config *found = config.load(std::memory_order_acquire);
    if (!found) {
        std::lock_guard<std::mutex> guard(lock);
        found = config.load(std::memory_order_relaxed);
        if (!found) {
            found = new Config; // NORACE
            config.store(found, std::memory_order_release);
        }
    }
    return found->level; // NORACE
}

int main()
{
    int one = 0, two = 0;
    std::thread a([&one] { one = level(); });
    std::thread b([&two] { two = level(); });
    a.join();
    b.join();
    delete config.load();
    return one + two == 6 ? 0 : 1;
}
