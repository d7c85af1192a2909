// What libc++ keeps for each thread: a pointer under a key. Nothing that we follow reads it, so the
// key needs no creation.
// when: _ZNSt3__119__thread_local_dataEv

static const unsigned raceproof_thread_key;

LIBRARY const unsigned *_ZNSt3__119__thread_local_dataEv(void)
{
    return &raceproof_thread_key;
}
