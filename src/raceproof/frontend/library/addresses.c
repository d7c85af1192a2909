// Addresses are used again: a pointer to what was freed may equal the address of a new object.
// when: raceproof_same_address raceproof_different_address raceproof_expected_address

int raceproof_is_gone(const void *pointer); // what it points to was freed, or is no longer there

LIBRARY _Bool raceproof_same_address(const void *a, const void *b)
{
    if (a == b)
        return 1;
    if (a == NULL || b == NULL)
        return 0;
    if (raceproof_is_gone(a) || raceproof_is_gone(b))
        return raceproof_unspecified() != 0;
    return 0;
}

LIBRARY _Bool raceproof_different_address(const void *a, const void *b)
{
    return !raceproof_same_address(a, b);
}

LIBRARY void *raceproof_expected_address(void **place, void *expected)
{
    if (expected != NULL && raceproof_is_gone(expected) && raceproof_unspecified())
        return GUARDED_READ(*place);
    return expected;
}
