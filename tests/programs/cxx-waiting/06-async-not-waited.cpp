// verdict: race
// Main goes on with what the asynchronous call is about to change.
#include <future>

static int side;

static int work(int number)
{
    side = number; // RACE
    return number + 1;
}

int main()
{
    std::future<int> future = std::async(std::launch::async, work, 4);
    int early = side; // RACE
    int result = future.get();
    return result == 5 && early <= 4 ? 0 : 1;
}
