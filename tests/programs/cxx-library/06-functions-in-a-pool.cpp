// verdict: race
// Jobs behind std::function run on two threads and count in one variable.
#include <functional>
#include <thread>
#include <vector>

static int count;

int main()
{
    std::vector<std::function<void()>> jobs;
    for (int i = 0; i < 2; i++)
        jobs.push_back([i] {
            count += i; // RACE
        });
    std::thread one(jobs[0]);
    std::thread two(jobs[1]);
    one.join();
    two.join();
    return count >= 0 ? 0 : 1; // NORACE
}
