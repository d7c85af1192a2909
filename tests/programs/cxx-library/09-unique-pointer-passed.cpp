// verdict: race-free
// The object behind a unique_ptr moves into the thread that works on it.
#include <memory>
#include <thread>
#include <utility>

struct Message {
    int number = 0;
};

static int received;

static void work(std::unique_ptr<Message> message)
{
    message->number++; // NORACE
    received = message->number; // NORACE
}

int main()
{
    auto message = std::make_unique<Message>();
    message->number = 4; // NORACE
    std::thread worker(work, std::move(message));
    worker.join();
    return received == 5 ? 0 : 1; // NORACE
}
