// Recursion of all kinds.
#include <stdio.h>
#include <string.h>

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
static int odd(unsigned n);
static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }

static void hanoi(int n, char from, char to, char over, int *moves) {
    if (n == 0)
        return;
    hanoi(n - 1, from, over, to, moves);
    ++*moves;
    hanoi(n - 1, over, to, from, moves);
}

static void permute(char *text, int start, int length, int *count) {
    if (start == length) {
        if (++*count % 5 == 0)
            printf("%s ", text);
        return;
    }
    for (int i = start; i < length; i++) {
        char c = text[start];
        text[start] = text[i];
        text[i] = c;
        permute(text, start + 1, length, count);
        text[i] = text[start];
        text[start] = c;
    }
}

static int queens(int n, int row, unsigned columns, unsigned left, unsigned right) {
    if (row == n)
        return 1;
    int found = 0;
    for (int c = 0; c < n; c++) {
        unsigned bit = 1u << c, l = 1u << (row + c), r = 1u << (row - c + n);
        if (!(columns & bit) && !(left & l) && !(right & r))
            found += queens(n, row + 1, columns | bit, left | l, right | r);
    }
    return found;
}

static int (*self)(int);
static int through(int n) { return n <= 0 ? 0 : n + self(n - 2); }

static void quick(int *v, int n) {
    if (n < 2)
        return;
    int pivot = v[n / 2], i = 0, j = n - 1;
    while (i <= j) {
        while (v[i] < pivot) i++;
        while (v[j] > pivot) j--;
        if (i <= j) {
            int t = v[i];
            v[i++] = v[j];
            v[j--] = t;
        }
    }
    quick(v, j + 1);
    quick(v + i, n - i);
}

int main(void) {
    printf("%d %d %d %d\n", fib(14), ackermann(2, 5), even(200), odd(55));
    int moves = 0;
    hanoi(8, 'a', 'b', 'c', &moves);
    printf("%d\n", moves);
    char text[] = "abcd";
    int count = 0;
    permute(text, 0, (int)strlen(text), &count);
    printf("%d\n%d\n", count, queens(5, 0, 0, 0, 0));
    self = through;
    printf("%d\n", through(99));
    int v[40];
    for (int i = 0; i < 40; i++)
        v[i] = i * 37 % 41;
    quick(v, 40);
    for (int i = 0; i < 40; i += 8)
        printf("%d ", v[i]);
    putchar('\n');
    return moves & 0x7f;
}
