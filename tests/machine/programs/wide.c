// 128-bit integers. Targets: lp64
#include <stdio.h>

typedef __int128 i128;
typedef unsigned __int128 u128;

static void show(u128 value) {
    char text[48];
    int n = 0;
    do
        text[n++] = '0' + (int)(value % 10);
    while ((value /= 10) != 0);
    while (n)
        putchar(text[--n]);
    putchar('\n');
}

static u128 factorial(int n) { return n < 2 ? 1 : factorial(n - 1) * (u128)n; }

struct pair {
    i128 first;
    int second;
};

int main(void) {
    show(factorial(33));
    show(~(u128)0);
    i128 negative = -((i128)1 << 100);
    show((u128)-(negative / 7));
    printf("%lld %d\n", (long long)(negative >> 70), (int)(negative % 1000003));
    u128 x = 1;
    for (int i = 0; i < 200; i++)
        x = x * 6364136223846793005ull + 1442695040888963407ull;
    show(x);
    show(x >> 77 | x << 51);
    printf("%d %d %d\n", negative < 0, (u128)negative > x, (i128)x == negative);
    struct pair p = {negative, 3}, q = p;
    q.first += q.second;
    show((u128)(q.first - p.first));
    printf("%zu %g %d\n", sizeof(struct pair), (double)factorial(30), (int)(i128)-7.9);
    return (int)(x & 63);
}
