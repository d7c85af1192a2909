// Integers of every width: arithmetic, shifts, conversions, limits.
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SHOW(type, a, b)                                                                       \
    do {                                                                                       \
        volatile type x = (type)(a), y = (type)(b);                                            \
        printf(#type ": %lld %lld | %lld %lld %lld", (long long)x, (long long)y,               \
               (long long)(type)(x + y), (long long)(type)(x - y), (long long)(type)(x * y));   \
        if (y)                                                                                 \
            printf(" %lld %lld", (long long)(type)(x / y), (long long)(type)(x % y));           \
        printf(" | %lld %lld %lld %lld", (long long)(type)(x & y), (long long)(type)(x | y),    \
               (long long)(type)(x ^ y), (long long)(type)~x);                                  \
        printf(" | %d %d %d %d\n", x < y, x <= y, x == y, x != y);                              \
    } while (0)

#define ALL(type)                                                                              \
    SHOW(type, 7, 3);                                                                          \
    SHOW(type, -7, 3);                                                                         \
    SHOW(type, 100, -3);                                                                       \
    SHOW(type, -100, -7);                                                                      \
    SHOW(type, 0, 1)

static uint32_t mix(uint32_t h, uint32_t k) {
    k *= 0xcc9e2d51u;
    k = (k << 15) | (k >> 17);
    k *= 0x1b873593u;
    h ^= k;
    h = (h << 13) | (h >> 19);
    return h * 5 + 0xe6546b64u;
}

int main(void) {
    ALL(int8_t);
    ALL(int16_t);
    ALL(uint8_t);
    ALL(uint16_t);
    SHOW(int32_t, 40000, 50000);
    SHOW(int32_t, -40000, 17);
    SHOW(uint32_t, 4000000000u, 3);
    SHOW(uint32_t, 3, 4000000000u);
    SHOW(int64_t, 3000000000ll, 5);
    SHOW(int64_t, -3000000001ll, 7);
    SHOW(uint64_t, 0xffffffffffffffffull, 10);
    SHOW(long, -123456, 789);
    SHOW(unsigned long, 123456789ul, 77);
    SHOW(char, 200, 3);
    SHOW(_Bool, 2, 0);

    volatile int n = 5;
    volatile unsigned u = 0x80000001u;
    volatile int negative = -1000;
    printf("%d %u %u %d %d\n", 1 << n, u << n, u >> n, negative >> n, (int)(u >> 31));
    volatile long long wide = -1234567890123ll;
    printf("%lld %lld %llu\n", wide << 3, wide >> 7, (unsigned long long)wide >> 7);
    printf("%d %d\n", (signed char)300, (unsigned char)-1);
    printf("%d %u %lld\n", (short)70000, (unsigned short)-3, (long long)(int)3000000000u);
    printf("%d %d\n", -1 < 1u, (short)-1 < (unsigned short)1);
    printf("%d %d %d\n", INT_MIN, INT_MAX, INT_MIN == -INT_MAX - 1);
    printf("%zu %zu %zu %zu\n", sizeof(short), sizeof(int), sizeof(long), sizeof(void *));
    bool yes = n;
    yes += 5;
    printf("%d %d\n", yes, !yes);
    uint32_t hash = 0;
    for (uint32_t i = 0; i < 50; i++)
        hash = mix(hash, i * i);
    printf("%08x\n", hash);
    uint64_t state = 88172645463325252ull, sum = 0;
    for (int i = 0; i < 100; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        sum += state % 1000003;
    }
    printf("%llu %llu\n", (unsigned long long)state, (unsigned long long)sum);
    int x = 10;
    x += x++ * 0 + 3;
    x <<= 2;
    x ^= 0x55;
    x %= 17;
    printf("%d %d %d\n", x, x--, -x);
    return (int)(hash & 0x7f);
}
