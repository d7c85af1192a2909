// How libstdc++ starts a thread: it takes the object from the caller's unique_ptr, whose destructor
// finds nothing then; the new thread calls the object's third virtual function, and destroys it by
// the second.
// when: _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE

struct raceproof_state {
    void (**table)(struct raceproof_state *);
};

int pthread_create(unsigned long *, const void *, void *(*)(void *), void *);

static void *raceproof_run_state(void *argument)
{
    struct raceproof_state *state = argument;
    state->table[2](state);
    state->table[1](state);
    return NULL;
}

LIBRARY void
_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    unsigned long *thread, struct raceproof_state **state, void (*depends)(void))
{
    struct raceproof_state *mine = *state;
    (void)depends;
    *state = NULL;
    pthread_create(thread, NULL, raceproof_run_state, mine);
}
