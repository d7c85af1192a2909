// verdict: race
// Two member functions of one object run in two threads; one of them forgets the mutex.
#include <mutex>
#include <thread>

class Account {
public:
    void deposit(int amount)
    {
        std::lock_guard<std::mutex> guard(lock_);
        balance_ += amount; // RACE
    }

    void reset()
    {
        balance_ = 0; // RACE
    }

    int balance() const
    {
        return balance_; // NORACE
    }

private:
    std::mutex lock_;
    int balance_ = 10;
};

int main()
{
    Account account;
    std::thread a(&Account::deposit, &account, 5);
    std::thread b(&Account::reset, &account);
    a.join();
    b.join();
    return account.balance();
}
