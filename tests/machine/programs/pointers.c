// Pointers: arithmetic, differences, pointers to functions and to pointers, opaque contexts.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
typedef int (*operation)(int, int);
static const struct { char sign; operation apply; } table[] = {{'+', add}, {'-', sub}, {'*', mul}};

static operation find(char sign) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].sign == sign)
            return table[i].apply;
    return NULL;
}

struct counter { int n; void (*tick)(struct counter *, int); };
static void up(struct counter *c, int by) { c->n += by; }
static void down(struct counter *c, int by) { c->n -= by; c->tick = up; }

static void each(int *begin, int *end, void (*visit)(int *, void *), void *context) {
    for (; begin != end; ++begin)
        visit(begin, context);
}
static void accumulate(int *item, void *context) { *(long *)context += *item; }
static void negate(int *item, void *context) { *item = -*item; (void)context; }

static int global = 5;
static int *const address = &global;
static int **indirect = (int **)&address;
static char *words[] = {"zero", "one", "two", NULL};

int main(void) {
    printf("%d %d %d %d\n", find('+')(2, 3), find('-')(2, 3), find('*')(4, 5), find('/') == NULL);
    struct counter c = {10, down};
    c.tick(&c, 3);
    c.tick(&c, 5);
    printf("%d %d\n", c.n, c.tick == up);
    int items[8];
    for (int i = 0; i < 8; i++)
        items[i] = i * i - 10;
    long total = 0;
    each(items, items + 8, accumulate, &total);
    each(items + 2, items + 5, negate, NULL);
    each(items, items + 8, accumulate, &total);
    printf("%ld\n", total);
    int *p = &items[6], *q = items + 1;
    printf("%td %d %d %d\n", p - q, p > q, *(p - 2), q[3]);
    printf("%td\n", (char *)p - (char *)q);
    uintptr_t number = (uintptr_t)p;
    number -= 2 * sizeof(int);
    printf("%d %d\n", *(int *)number, (int)((uintptr_t)(q + 3) - (uintptr_t)q));
    **indirect = 8;
    printf("%d\n", global);
    int length = 0;
    for (char **w = words; *w; w++)
        for (char *s = *w; *s; s++)
            length += *s != 'o';
    printf("%d %s\n", length, words[1] + 1);
    int grid[3][4] = {{0}};
    int (*row)[4] = grid + 1;
    (*row)[2] = 7;
    row++;
    row[0][3] = 9;
    printf("%d %d %td\n", grid[1][2], grid[2][3], &grid[2][0] - &grid[0][0]);
    operation choose[2] = {add, mul};
    int result = 1;
    for (int i = 0; i < 6; i++)
        result = choose[i & 1](result, i + 1);
    printf("%d\n", result);
    void *any = &c;
    printf("%d\n", ((struct counter *)any)->n);
    return result & 0x7f;
}
