// verdict: race
// Two threads run a member function of one object.
#include <thread>

struct Account {
    const char *owner = "nobody";
    int balance = 0;
    void deposit(int amount)
    {
        balance += amount; // RACE
    }
};

int main()
{
    Account account;
    std::thread one(&Account::deposit, &account, 3);
    std::thread two(&Account::deposit, &account, 4);
    one.join();
    two.join();
    return account.balance == 7 ? 0 : 1; // NORACE
}
