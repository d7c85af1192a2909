// verdict: race-free
// Each thread sums its own half of a vector into its own element.
#include <thread>
#include <vector>

int main()
{
    std::vector<int> numbers{1, 2, 3, 4};
    int sums[2] = {0, 0};
    auto work = [&numbers, &sums](int me) {
        for (int i = 2 * me; i < 2 * me + 2; i++)
            sums[me] += numbers[i]; // NORACE
    };
    std::thread one(work, 0);
    std::thread two(work, 1);
    one.join();
    two.join();
    return sums[0] + sums[1] == 10 ? 0 : 1; // NORACE
}
