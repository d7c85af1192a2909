// verdict: race
// The jthread joins at the end of its scope, but main reads inside of it.
#include <thread>

static int result;

int main()
{
    int seen = 0;
    {
        std::jthread worker([] {
            result = 42; // RACE
        });
        seen = result; // RACE
    }
    return seen == 42 || seen == 0 ? 0 : 1;
}
