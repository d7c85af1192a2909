// verdict: race-free
// unbounded
// std::scoped_lock takes both mutexes of a transfer, in whatever order the accounts come.
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance = 10;
};

static void transfer(Account &from, Account &to)
{
    std::scoped_lock both(from.lock, to.lock);
    from.balance -= 1; // NORACE
    to.balance += 1; // NORACE
}

int main()
{
    Account x, y;
    std::thread a([&] { transfer(x, y); });
    std::thread b([&] { transfer(y, x); });
    a.join();
    b.join();
    return x.balance + y.balance == 20 ? 0 : 1; // NORACE
}
