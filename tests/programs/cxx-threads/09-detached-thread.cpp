// verdict: race
// A detached thread is never waited for.
#include <thread>

static int value;

int main()
{
    std::thread worker([] {
        value = 7; // RACE
    });
    worker.detach();
    int seen = value; // RACE
    return seen == 7 || seen == 0 ? 0 : 1;
}
