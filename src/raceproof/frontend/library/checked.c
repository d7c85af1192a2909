// Arguments out of range: these calls then fail and do nothing. Only calls whose argument is no
// constant within the range come here, see `insertions`.
// when: raceproof_checked_sem_init raceproof_checked_pthread_barrier_init

int sem_init(void *, int, unsigned);
int pthread_barrier_init(void *, const void *, unsigned);

LIBRARY int raceproof_checked_sem_init(void *semaphore, int is_shared, unsigned value)
{
    if (value > 0x7fffffff)
        return -1;
    return sem_init(semaphore, is_shared, value);
}

LIBRARY int raceproof_checked_pthread_barrier_init(
    void *barrier, const void *attributes, unsigned count)
{
    if (count == 0)
        return 22;
    return pthread_barrier_init(barrier, attributes, count);
}
