// Functions of integers: said once, so that every engine knows their values.
// when: abs labs llabs imaxabs div ldiv lldiv imaxdiv htons ntohs htonl ntohl

LIBRARY int abs(int x)
{
    return x < 0 ? -x : x;
}

LIBRARY long labs(long x)
{
    return x < 0 ? -x : x;
}

LIBRARY long long llabs(long long x)
{
    return x < 0 ? -x : x;
}

LIBRARY __INTMAX_TYPE__ imaxabs(__INTMAX_TYPE__ x)
{
    return x < 0 ? -x : x;
}

typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
typedef struct { __INTMAX_TYPE__ quot, rem; } imaxdiv_t;

LIBRARY div_t div(int a, int b)
{
    return (div_t){a / b, a % b};
}

LIBRARY ldiv_t ldiv(long a, long b)
{
    return (ldiv_t){a / b, a % b};
}

LIBRARY lldiv_t lldiv(long long a, long long b)
{
    return (lldiv_t){a / b, a % b};
}

LIBRARY imaxdiv_t imaxdiv(__INTMAX_TYPE__ a, __INTMAX_TYPE__ b)
{
    return (imaxdiv_t){a / b, a % b};
}

LIBRARY unsigned short htons(unsigned short x)
{
    return __builtin_bswap16(x);
}

LIBRARY unsigned short ntohs(unsigned short x)
{
    return __builtin_bswap16(x);
}

LIBRARY unsigned htonl(unsigned x)
{
    return __builtin_bswap32(x);
}

LIBRARY unsigned ntohl(unsigned x)
{
    return __builtin_bswap32(x);
}
