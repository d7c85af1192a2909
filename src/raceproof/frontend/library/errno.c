// errno: an object of each thread whose address can be handed on; library functions write it.
// Calls of functions whose model has `errno` are followed by the call of one of these.
// when: __errno_location __errno ___errno __error

static __thread int raceproof_errno;

LIBRARY int *__errno_location(void)
{
    return &raceproof_errno;
}

LIBRARY int *__errno(void)
{
    return &raceproof_errno;
}

LIBRARY int *___errno(void)
{
    return &raceproof_errno;
}

LIBRARY int *__error(void)
{
    return &raceproof_errno;
}

// A function that succeeds may leave something in errno all the same.
LIBRARY void raceproof_errno_any(void)
{
    if (raceproof_unspecified())
        raceproof_errno = raceproof_error_number();
}

LIBRARY void raceproof_errno_minus_one_32(int result)
{
    if (result == -1)
        raceproof_errno = raceproof_error_number();
    else
        raceproof_errno_any();
}

LIBRARY void raceproof_errno_minus_one_64(long long result)
{
    if (result == -1)
        raceproof_errno = raceproof_error_number();
    else
        raceproof_errno_any();
}

LIBRARY void raceproof_errno_minus_one_pointer(void *result)
{
    if (result == (void *)-1)
        raceproof_errno = raceproof_error_number();
    else
        raceproof_errno_any();
}

LIBRARY void raceproof_errno_null_pointer(void *result)
{
    if (result == NULL)
        raceproof_errno = raceproof_error_number();
    else
        raceproof_errno_any();
}
