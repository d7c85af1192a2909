// verdict: race
// Two threads append to one string.
#include <string>
#include <thread>

static std::string text;

static void work(char letter)
{
    text += letter; // RACE
}

int main()
{
    std::thread one(work, 'a');
    std::thread two(work, 'b');
    one.join();
    two.join();
    return text.empty() ? 1 : 0; // NORACE
}
