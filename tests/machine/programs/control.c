// Control flow: switch in all its forms, goto, computed goto, loops that leave early.
#include <stdio.h>

static int classify(int x) {
    switch (x) {
    case -5 ... -1: return 1;
    case 0: return 2;
    case 10:
    case 20: x++;
    /* falls through */
    case 30: return x;
    default:
        if (x > 1000)
            break;
        return -1;
    }
    return 99;
}

static int wide(long long x) {
    switch (x) {
    case 0x100000000ll: return 1;
    case -1: return 2;
    default: return 3;
    }
}

static void duff(char *to, const char *from, int count) {
    int n = (count + 3) / 4;
    switch (count % 4) {
    case 0: do { *to++ = *from++;
    case 3:      *to++ = *from++;
    case 2:      *to++ = *from++;
    case 1:      *to++ = *from++;
            } while (--n > 0);
    }
}

static int interpret(const unsigned char *code) {
    static void *const labels[] = {&&halt, &&push, &&add, &&mul, &&dup, &&jump_if};
    int stack[16], top = 0, steps = 0;
#define NEXT goto *labels[*code++]
    NEXT;
push:
    stack[top++] = *code++;
    NEXT;
add:
    top--;
    stack[top - 1] += stack[top];
    NEXT;
mul:
    top--;
    stack[top - 1] *= stack[top];
    NEXT;
dup:
    stack[top] = stack[top - 1];
    top++;
    NEXT;
jump_if:
    if (stack[top - 1] < 1000 && steps++ < 20)
        code -= *code;
    else
        code++;
    NEXT;
halt:
    return stack[top - 1];
}

int main(void) {
    for (int x = -6; x <= 31; x += (x == -6 || x >= 0) ? 1 : 5)
        printf("%d ", classify(x));
    printf("%d\n", classify(2000));
    printf("%d %d %d\n", wide(0x100000000ll), wide(-1), wide(0));
    char text[12] = {0};
    duff(text, "abcdefghij", 10);
    puts(text);
    const unsigned char program[] = {1, 3, 4, 3, 5, 3, 0};
    printf("%d\n", interpret(program));
    int found = 0;
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 10; j++) {
            if (j > i)
                break;
            if ((i + j) % 3)
                continue;
            if (i * j == 42)
                goto done;
            found += i * j;
        }
    }
done:
    printf("%d\n", found);
    int n = 27, length = 0;
    do {
        n = n % 2 ? 3 * n + 1 : n / 2;
        length++;
    } while (n != 1);
    printf("%d\n", length);
    int a = 1, b = 2;
    int c = (a++, b++, a * b);
    printf("%d %d\n", c, a > 1 && b++ > 100 || a-- == 2 ? a : b);
    int depth = 0;
again:
    if (depth++ < 5)
        goto again;
    return depth + classify(10);
}
