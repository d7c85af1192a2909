// setjmp and longjmp: out of nested calls, with values, several times.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf outer, inner;

static void deep(int n) {
    int room[4] = {n, n, n, n};
    if (n == 0)
        longjmp(outer, 7);
    deep(n - room[3] / n);
}

static int retry(int limit) {
    volatile int count = 0;
    int code = setjmp(inner);
    count++;
    if (count < limit)
        longjmp(inner, count);
    return code * 100 + count;
}

int main(void) {
    volatile int before = 3;
    int code = setjmp(outer);
    if (code == 0) {
        before = 4;
        deep(5);
        puts("never");
    }
    printf("%d %d\n", code, before);
    printf("%d\n", retry(5));
    volatile int round = 0;
    switch (setjmp(inner)) {
    case 0: puts("first"); break;
    case 1: puts("zero becomes one"); break;
    default: puts("other"); break;
    }
    if (round++ == 0)
        longjmp(inner, 0);
    if (round++ == 2)
        longjmp(inner, 9);
    return round;
}
