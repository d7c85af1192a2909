// Bit-fields: signed, unsigned, crossing storage units, zero width, assigned and incremented.
#include <stdio.h>
#include <string.h>

struct flags { unsigned ready : 1, mode : 3, count : 10; int delta : 5; unsigned : 0; unsigned last : 7; };
struct wide { unsigned long long a : 33, b : 20, c : 11; };
struct small { signed char low : 4, high : 4; };
struct odd { unsigned first : 17; unsigned second : 17; _Bool on : 1; };

static struct flags step(struct flags f) {
    f.count += 300;
    f.delta -= 7;
    f.mode = ~f.mode;
    f.ready ^= 1;
    return f;
}

int main(void) {
    struct flags f = {1, 5, 1000, -3, 100};
    for (int i = 0; i < 4; i++) {
        f = step(f);
        printf("%u %u %u %d %u\n", f.ready, f.mode, f.count, f.delta, f.last);
    }
    struct wide w = {0x1ffffffffull, 0xfffff, 0x7ff};
    w.a++;
    w.b -= 2;
    printf("%llu %u %u\n", (unsigned long long)w.a, (unsigned)w.b, (unsigned)w.c);
    struct small s = {7, -8};
    s.low++;
    s.high--;
    printf("%d %d\n", s.low, s.high);
    struct odd o = {100000, 99999, 2};
    o.first *= 3;
    printf("%u %u %d %zu\n", o.first, o.second, o.on, sizeof o);
    unsigned char bytes[sizeof(struct small)];
    memcpy(bytes, &s, sizeof s);
    printf("%02x\n", bytes[0]);
    return f.count & 0x7f;
}
