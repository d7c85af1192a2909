// verdict: race
// Double-checked initialisation by a plain pointer.
#include <mutex>
#include <thread>

struct Config {
    int level = 3;
};

static std::mutex lock;
static Config *config;

static int level()
{
    if (!config) { // RACE
        std::lock_guard<std::mutex> guard(lock);
        if (!config) // NORACE
            config = new Config; // RACE
    }
    return config->level; // RACE
}

int main()
{
    int one = 0, two = 0;
    std::thread a([&one] { one = level(); });
    std::thread b([&two] { two = level(); });
    a.join();
    b.join();
    delete config;
    return one + two == 6 ? 0 : 1;
}
