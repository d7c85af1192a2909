// verdict: race-free
// new in each thread: one line, but an object per thread.
#include <thread>

struct Scratch {
    int value = 0;
};

static int results[2];

static void work(int me)
{
    Scratch *mine = new Scratch;
    mine->value += me; // NORACE
    results[me] = mine->value; // NORACE
    delete mine; // NORACE
}

int main()
{
    std::thread a(work, 0);
    std::thread b(work, 1);
    a.join();
    b.join();
    return results[0] + results[1] == 1 ? 0 : 1;
}
