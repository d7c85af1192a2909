// The lowest bit that is set, counted from one: said once, with the compiler's own operations.
// when: ffs ffsl ffsll

LIBRARY int ffs(int x)
{
    return x == 0 ? 0 : __builtin_ctz((unsigned)x) + 1;
}

LIBRARY int ffsl(long x)
{
    return x == 0 ? 0 : __builtin_ctzl((unsigned long)x) + 1;
}

LIBRARY int ffsll(long long x)
{
    return x == 0 ? 0 : __builtin_ctzll((unsigned long long)x) + 1;
}
