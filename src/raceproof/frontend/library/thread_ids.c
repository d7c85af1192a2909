// The id of a thread that has ended may be that of a new one.
// when: pthread_equal

typedef unsigned long pthread_t;

int raceproof_has_ended(pthread_t thread);

LIBRARY int pthread_equal(pthread_t a, pthread_t b)
{
    if (a == b)
        return 1;
    if (raceproof_has_ended(a) || raceproof_has_ended(b))
        return raceproof_unspecified() != 0;
    return 0;
}
