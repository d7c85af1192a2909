// verdict: race-free
// A pool of two workers takes jobs from a queue of std::function.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> jobs;
    std::vector<std::thread> workers;
    bool ended = false;

    void run()
    {
        for (;;) {
            std::unique_lock<std::mutex> guard(lock);
            changed.wait(guard, [this] { return ended || !jobs.empty(); });
            if (jobs.empty())
                return;
            auto job = std::move(jobs.front());
            jobs.pop_front(); // NORACE
            guard.unlock();
            job();
        }
    }

public:
    explicit Pool(int size)
    {
        for (int i = 0; i < size; i++)
            workers.emplace_back([this] { run(); });
    }
    void add(std::function<void()> job)
    {
        std::lock_guard<std::mutex> guard(lock);
        jobs.push_back(std::move(job)); // NORACE
        changed.notify_one();
    }
    ~Pool()
    {
        {
            std::lock_guard<std::mutex> guard(lock);
            ended = true; // NORACE
        }
        changed.notify_all();
        for (auto &worker : workers)
            worker.join();
    }
};
static int done[2];

int main()
{
    { Pool pool(2); pool.add([] { done[0] = 1; }); pool.add([] { done[1] = 2; }); } // NORACE
    return done[0] + done[1] == 3 ? 0 : 1;
}
