// verdict: race-free
// The destructor of a jthread joins before main reads.
#include <thread>

static int result;

int main()
{
    {
        std::jthread worker([] {
            result = 42; // NORACE
        });
    }
    return result == 42 ? 0 : 1; // NORACE
}
