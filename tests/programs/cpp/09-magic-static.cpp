// verdict: race-free
// The initialisation of a static local runs once; all others wait for it.
#include <thread>

struct Table {
    int values[2];
    Table()
    {
        values[0] = 3; // NORACE
        values[1] = 4; // NORACE
    }
};

static const Table &table()
{
    static Table only;
    return only;
}

static int sums[2];

static void work(int me)
{
    sums[me] = table().values[0] + table().values[1]; // NORACE
}

int main()
{
    std::thread a(work, 0);
    std::thread b(work, 1);
    a.join();
    b.join();
    return sums[0] + sums[1] == 14 ? 0 : 1;
}
