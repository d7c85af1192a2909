// Global and static data: designated, nested, pointing at each other, strings, enums.
#include <stdio.h>

enum colour { RED = 2, GREEN, BLUE = RED * 10 };
struct item { const char *name; enum colour colour; struct item *next; int values[3]; };
static struct item third;
static struct item items[] = {
    {"first", GREEN, &items[1], {1, 2, 3}},
    {.next = &third, .name = "second", .values = {[2] = 9}},
};
static struct item third = {"third", BLUE, NULL, {-1}};
static const char table[][6] = {"one", "three", "eleve"};
static const int squares[] = {[3] = 9, [1] = 1, 4};
static int *middle = &items[0].values[1];
static char text[] = "abc\0def";
static const char *const names[] = {"x", "yy", [4] = "z"};
static long long big = 1ll << 40;
static double ratio = 1.0 / 3;
static unsigned char bytes[] = {255, 256 - 1, 'a', '\x7f', '\n'};
static int (*function)(const char *, ...) = printf;
static struct { short s; long l; char c[3]; } mixed[2] = {{1, 2, "xy"}, {3}};
extern int declared;
int declared = 11;

int main(void) {
    for (struct item *i = items; i; i = i->next)
        printf("%s %d %d %d\n", i->name, i->colour, i->values[0], i->values[2]);
    printf("%.3s %.5s %c\n", table[0], table[1], table[2][4]);
    printf("%d %d %zu\n", squares[2], squares[3], sizeof squares / sizeof *squares);
    *middle += 5;
    printf("%d %zu %s\n", items[0].values[1], sizeof text, text + 4);
    printf("%d %s\n", names[3] == NULL, names[4]);
    function("%lld %.6f %d\n", big, ratio, bytes[1] + bytes[3]);
    printf("%d %ld %s %ld\n", mixed[0].s, mixed[0].l, mixed[0].c, mixed[1].l);
    static int calls[3] = {7};
    for (int i = 0; i < 3; i++)
        calls[i] += declared++;
    printf("%d %d\n", calls[0], calls[2]);
    return declared;
}
