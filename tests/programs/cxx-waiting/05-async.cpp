// verdict: race-free
// What an asynchronous call did is done when its future is ready.
#include <future>

static int side;

static int work(int number)
{
    side = number; // NORACE
    return number + 1;
}

int main()
{
    std::future<int> future = std::async(std::launch::async, work, 4);
    int result = future.get();
    return result + side == 9 ? 0 : 1; // NORACE
}
