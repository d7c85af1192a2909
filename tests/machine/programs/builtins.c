// What the compiler offers beyond the standard.
#include <stdint.h>
#include <stdio.h>

#define KIND(x) _Generic((x), int: "int", double: "double", char *: "text", default: "other")
#define MAX(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })

typedef int four __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(16)));

static inline int clamp(int x, int low, int high) { return MAX(low, x) < high ? MAX(low, x) : high; }
static void cleanup(int *x) { printf("cleanup %d\n", *x); }
__attribute__((constructor)) static void before(void) { puts("before main"); }

int main(void) {
    volatile unsigned u = 0x00f0a010u;
    volatile uint64_t w = 0x0123456789abcdefull;
    printf("%d %d %d %d\n", __builtin_popcount(u), __builtin_clz(u), __builtin_ctz(u), __builtin_ffs(u));
    printf("%d %d %d\n", __builtin_popcountll(w), __builtin_clzll(w), __builtin_parity(u));
    printf("%x %llx %x\n", __builtin_bswap32(u), (unsigned long long)__builtin_bswap64(w), __builtin_bswap16(0x1234));
    int r;
    volatile int big = 2000000000;
    printf("%d ", __builtin_add_overflow(big, big, &r));
    printf("%d ", r);
    printf("%d ", __builtin_mul_overflow(big, 1, &r));
    printf("%d\n", r);
    unsigned char small;
    printf("%d ", __builtin_add_overflow(200, 100, &small));
    printf("%d\n", small);
    printf("%s %s %s %s\n", KIND(1), KIND(1.0), KIND("x"), KIND(1L));
    printf("%d %d %d\n", clamp(5, 0, 3), clamp(-5, 0, 3), clamp(2, 0, 3));
    if (__builtin_expect(u == 0, 0))
        puts("unlikely");
    four a = {1, 2, 3, 4}, b = {10, 20, 30, 40};
    four c = a * b + a;
    c[1] -= 5;
    four bigger = c > (four){20, 20, 200, 20};
    printf("%d %d %d %d | %d %d\n", c[0], c[1], c[2], c[3], bigger[0], bigger[1]);
    floats f = {1.5f, 2.5f, 3.5f, 4.5f};
    f = f * f - 1.0f;
    printf("%g %g\n", f[0], f[3]);
    four shuffled = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    printf("%d %d %d\n", shuffled[1], shuffled[2], shuffled[3]);
    {
        int guard __attribute__((cleanup(cleanup))) = 3;
        guard++;
    }
    uint32_t rotated = (uint32_t)(u << 7) | (uint32_t)(u >> 25);
    printf("%x %d\n", rotated, __builtin_constant_p(5));
    _Complex double z = 1.0 + 2.0i, y = z * z;
    printf("%g %g\n", __real__ y, __imag__ y);
    return __builtin_popcount(u);
}
