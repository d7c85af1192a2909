// verdict: race
// The static local is initialised once, but then changed by everybody.
#include <thread>

struct Registry {
    int size = 0;
};

static Registry &registry()
{
    static Registry only; // NORACE
    return only;
}

static void work()
{
    registry().size++; // RACE
}

int main()
{
    std::thread one(work);
    std::thread two(work);
    one.join();
    two.join();
    return registry().size > 0 ? 0 : 1; // NORACE
}
