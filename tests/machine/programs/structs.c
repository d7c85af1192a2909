// Structs by value, of every size; nesting, arrays in structs, packing, initialisers.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct tiny { char c; };
struct point { int x, y; };
struct mixed { char c; double d; short s; };
struct big { long values[10]; struct point corner; };
struct floats { float a, b, c; };
struct __attribute__((packed)) packed { char c; int i; short s; };
struct flexible { int n; int items[]; };
struct nested {
    struct { int a, b; };
    union { int whole; unsigned char bytes[4]; } u;
    struct point path[3];
};

static struct tiny next(struct tiny t) { return (struct tiny){t.c + 1}; }
static struct point add(struct point a, struct point b) { return (struct point){a.x + b.x, a.y + b.y}; }
static struct mixed change(struct mixed m) { m.c++; m.d *= 2; m.s = -m.s; return m; }
static struct floats turn(struct floats f) { return (struct floats){f.c, f.a, f.b}; }
static struct big fill(struct big b, int n) {
    for (int i = 0; i < 10; i++)
        b.values[i] += i * n;
    b.corner = add(b.corner, (struct point){n, n});
    return b;
}
static long total(struct big b) {
    long sum = b.corner.x + b.corner.y;
    for (int i = 0; i < 10; i++)
        sum += b.values[i];
    b.values[0] = 99;
    return sum;
}

static const struct nested table[] = {
    {.a = 1, .u.whole = 0x01020304, .path = {[1] = {5, 6}}},
    [2] = {.b = 7},
};

int main(void) {
    struct tiny t = {'a'};
    printf("%c\n", next(next(t)).c);
    struct point p = add((struct point){1, 2}, (struct point){.y = 10});
    printf("%d %d\n", p.x, p.y);
    struct mixed m = change((struct mixed){'x', 1.25, 7});
    printf("%c %g %d\n", m.c, m.d, m.s);
    struct floats f = turn((struct floats){1, 2, 3});
    printf("%g %g %g\n", f.a, f.b, f.c);
    struct big b = {0};
    for (int i = 0; i < 3; i++)
        b = fill(b, i + 1);
    printf("%ld %ld\n", total(b), b.values[0]);
    struct big copy = b;
    copy.values[3] = -1;
    printf("%d %ld\n", memcmp(&copy, &b, sizeof b) != 0, b.values[3]);
    struct packed k = {'k', 123456, -5};
    printf("%zu %c %d %d\n", sizeof k, k.c, k.i, k.s);
    printf("%zu %zu %zu\n", offsetof(struct packed, s), offsetof(struct point, y), sizeof(struct floats));
    printf("%d %d %d %d %d\n", table[0].a, table[0].u.bytes[0], table[0].path[1].y, table[1].b, table[2].b);
    char room[sizeof(struct flexible) + 4 * sizeof(int)];
    struct flexible *list = (struct flexible *)room;
    list->n = 4;
    for (int i = 0; i < list->n; i++)
        list->items[i] = i * i;
    printf("%d %d\n", list->items[3], list->items[1]);
    struct point grid[2][3] = {{{1, 2}, {3, 4}}, {[2] = {5, 6}}};
    struct point *q = &grid[0][0];
    int sum = 0;
    for (int i = 0; i < 6; i++)
        sum += q[i].x * (i + 1) + q[i].y;
    printf("%d\n", sum);
    struct point swapped = grid[0][0];
    grid[0][0] = grid[0][1];
    grid[0][1] = swapped;
    printf("%d %d\n", grid[0][0].x, grid[0][1].x);
    int *compound = (int[]){4, 5, 6};
    printf("%d\n", compound[1]);
    return sum;
}
