// verdict: race
// unbounded
// Endless virtual calls; only one of the two classes locks.
#include <mutex>
#include <thread>

static unsigned shared;
static std::mutex lock;

struct Job {
    virtual void run() = 0;
};

struct Careful : Job {
    void run() override
    {
        std::lock_guard<std::mutex> guard(lock);
        shared++; // RACE
    }
};

struct Careless : Job {
    void run() override
    {
        shared++; // RACE
    }
};

static void serve(Job *job)
{
    for (;;)
        job->run();
}

int main()
{
    Careful careful;
    Careless careless;
    std::thread a(serve, &careful);
    std::thread b(serve, &careless);
    a.join();
    b.join();
}
