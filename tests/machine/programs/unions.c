// Unions: the same bytes seen as several types.
#include <stdint.h>
#include <stdio.h>

union word {
    uint32_t whole;
    uint16_t halves[2];
    uint8_t bytes[4];
    float number;
    struct { unsigned low : 12, high : 20; } parts;
};
union wide {
    double d;
    uint64_t u;
    struct { uint32_t low, high; } s;
};
struct tagged {
    enum { INT, REAL, TEXT } tag;
    union { int i; double r; const char *t; };
};

static union word flip(union word w) {
    uint8_t b = w.bytes[0];
    w.bytes[0] = w.bytes[3];
    w.bytes[3] = b;
    return w;
}

static void show(struct tagged v) {
    switch (v.tag) {
    case INT: printf("int %d\n", v.i); break;
    case REAL: printf("real %g\n", v.r); break;
    case TEXT: printf("text %s\n", v.t); break;
    }
}

int main(void) {
    union word w = {.whole = 0x12345678};
    printf("%x %x %x %x\n", w.halves[0], w.halves[1], w.bytes[0], w.bytes[3]);
    printf("%x %x\n", w.parts.low, w.parts.high);
    w.parts.low = 0xabc;
    printf("%08x %08x\n", w.whole, flip(w).whole);
    w.number = 1.0f;
    printf("%08x\n", w.whole);
    union wide x = {.d = -2.5};
    printf("%08x %08x\n", x.s.high, x.s.low);
    x.u ^= 1ull << 63;
    printf("%g\n", x.d);
    show((struct tagged){INT, .i = 5});
    show((struct tagged){REAL, .r = 0.25});
    show((struct tagged){TEXT, .t = "hello"});
    return w.bytes[3];
}
