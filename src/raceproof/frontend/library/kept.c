// A pointer that one function keeps and others use (`keeps` and `uses` in models), compiled once for
// each name (KEPT) that models give such a thing. Of all pointers that were kept some one is there.

#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)

static void *NAME(raceproof_, KEPT);

LIBRARY void NAME(raceproof_keep_, KEPT)(void *pointer)
{
    if (pointer != NULL && raceproof_unspecified())
        GUARDED_WRITE(NAME(raceproof_, KEPT), pointer);
}

LIBRARY void NAME(raceproof_use_, KEPT)(void)
{
    void *pointer = GUARDED_READ(NAME(raceproof_, KEPT));
    if (pointer != NULL && raceproof_unspecified())
        raceproof_may_write(pointer);
}
