// Variable arguments of all kinds, handed on and copied.
#include <stdarg.h>
#include <stdio.h>

struct point { int x, y; };
struct large { long a[6]; };

static long long sum(int count, ...) {
    va_list list;
    va_start(list, count);
    long long total = 0;
    for (int i = 0; i < count; i++)
        total += va_arg(list, int);
    va_end(list);
    return total;
}

static double mixed(const char *kinds, ...) {
    va_list list;
    va_start(list, kinds);
    double total = 0;
    for (; *kinds; kinds++)
        switch (*kinds) {
        case 'i': total += va_arg(list, int); break;
        case 'l': total += va_arg(list, long); break;
        case 'L': total += va_arg(list, long long); break;
        case 'd': total += va_arg(list, double); break;
        case 's': total += *va_arg(list, const char *); break;
        case 'p': total += *va_arg(list, int *); break;
        }
    va_end(list);
    return total;
}

static int twice(int count, ...) {
    va_list list, copy;
    va_start(list, count);
    va_copy(copy, list);
    int a = 0, b = 0;
    for (int i = 0; i < count; i++)
        a = a * 10 + va_arg(list, int);
    for (int i = 0; i < count; i++)
        b += va_arg(copy, int);
    va_end(copy);
    va_end(list);
    return a * 100 + b;
}

static void log_line(const char *format, ...) {
    char text[100];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    printf("%d: %s\n", length, text);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

static int first_of(va_list *list) { return va_arg(*list, int); }

static int through_pointer(int dummy, ...) {
    va_list list;
    va_start(list, dummy);
    int a = first_of(&list);
    int b = first_of(&list);
    va_end(list);
    return a * 10 + b;
}

int main(void) {
    int seven = 7;
    printf("%lld\n", sum(12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -100));
    printf("%.3f\n", mixed("idLdlspdddddddd", 1, 2.5, 3000000000ll, 4.25, 5L, "A", &seven, 0.1, 0.2,
                           0.3, 0.4, 0.5, 0.6, 0.7, 0.8));
    printf("%d\n", twice(3, 4, 5, 6));
    log_line("%d %s %5.2f %c %lld %x", 42, "text", 3.14159, 'z', -5000000000ll, 255);
    printf("%d\n", through_pointer(0, 3, 8));
    printf("%d\n", (int)sum(2, (char)-1, (short)300));
    printf("%.1f\n", mixed("dd", 1.5f, 2.0f));
    return twice(1, 1);
}
