// printf: flags, widths, precisions, lengths, conversions.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

int main(void) {
    printf("[%d] [%5d] [%-5d] [%05d] [%+d] [% d] [%+05d]\n", 42, 42, 42, 42, 42, 42, 42);
    printf("[%d] [%5d] [%-5d] [%05d] [%.4d] [%8.3d]\n", -42, -42, -42, -42, -42, -42);
    printf("[%u] [%x] [%X] [%o] [%#x] [%#X] [%#o] [%#x]\n", 3000000000u, 255, 255, 8, 255, 255, 8, 0);
    printf("[%08x] [%-8x] [%.5x] [%#010x]\n", 0xbeef, 0xbeef, 0xbeef, 0xbeef);
    printf("[%hhd] [%hd] [%ld] [%lld] [%hhu] [%hu]\n", 300, 70000, -5L, -5000000000ll, 511, 65537);
    printf("[%zu] [%zd] [%td] [%jd]\n", (size_t)7, (ptrdiff_t)-7, (ptrdiff_t)8, (intmax_t)-9);
    printf("[%" PRId64 "] [%" PRIu32 "] [%" PRIx16 "]\n", (int64_t)-1, (uint32_t)-1, (uint16_t)-1);
    printf("[%c] [%3c] [%-3c] [%%]\n", 'a', 'b', 'c');
    printf("[%s] [%8s] [%-8s] [%.3s] [%8.2s] [%.*s] [%*s]\n", "text", "text", "text", "text", "text",
           2, "text", -6, "ab");
    printf("[%f] [%.2f] [%8.3f] [%-8.1f] [%08.2f] [%+.1f] [%.0f]\n", 3.14159, 3.14159, 3.14159,
           3.14159, -3.14159, 2.0, 2.5);
    printf("[%e] [%.2e] [%E] [%g] [%g] [%g] [%G] [%.3g] [%#g]\n", 12345.678, 0.00012345, 1e100,
           100000.0, 1000000.0, 0.0001, 1e-5, 1234.5, 2.0);
    printf("[%f] [%5.1f] [%F]\n", 1e15, -0.05, 1e300 * 1e300);
    printf("[%Lf] [%.3Le]\n", 1.25L, 1234.5L);
    printf("[%a] [%a]\n", 1.0, -0.375);
    printf("[%i] [%+i] [%.0d] [%5.0d]\n", 7, -7, 0, 0);
    printf("[%*d] [%-*d] [%.*f]\n", 6, 1, 6, 2, 3, 2.0 / 3);
    int written = printf("%s\n", "count me");
    printf("%d\n", written);
    int so_far = 0;
    printf("12345%n6789\n", &so_far);
    printf("%d\n", so_far);
    fputs("fputs ", stdout);
    fputc('x', stdout);
    putc('y', stdout);
    putchar('\n');
    fprintf(stdout, "%s %d\n", "fprintf", 1);
    fwrite("written\n", 1, 8, stdout);
    fprintf(stderr, "not compared\n");
    printf("[%5s] [%-5c|] [%05s]\n", "", 'z', "ab");
    return 0;
}
