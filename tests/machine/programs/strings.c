// The string and memory functions of the library.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sign(int x) { return (x > 0) - (x < 0); }

int main(void) {
    char a[40] = "hello", b[40];
    strcpy(b, a);
    strcat(b, ", ");
    strncat(b, "world of threads", 5);
    puts(b);
    printf("%zu %zu\n", strlen(b), strnlen(b, 3));
    printf("%d %d %d\n", sign(strcmp("abc", "abd")), sign(strcmp("b", "abc")), strcmp("x", "x"));
    printf("%d %d\n", sign(strncmp("abcdef", "abcxyz", 3)), sign(strncmp("abcdef", "abcxyz", 4)));
    printf("%d %d\n", sign(strcasecmp("HeLLo", "hEllO")), sign(strncasecmp("ABx", "aby", 2)));
    printf("%s %s\n", strchr(b, 'w'), strrchr(b, 'l'));
    printf("%d %d\n", strchr(b, 'z') == NULL, strchr(b, 0) == b + strlen(b));
    printf("%s %d\n", strstr(b, "lo,"), strstr(b, "nothing") == NULL);
    printf("%zu %zu %s\n", strspn("aabbc", "ab"), strcspn("hello", "lo"), strpbrk("hello", "xl"));
    char fixed[8];
    memset(fixed, '#', sizeof fixed);
    strncpy(fixed, "abc", 6);
    printf("%d %d %c\n", fixed[3], fixed[5], fixed[6]);
    memmove(a + 1, a, 5);
    a[6] = 0;
    puts(a);
    memcpy(a, "HEL", 3);
    puts(a);
    printf("%d %d\n", sign(memcmp("abc", "abd", 3)), memcmp("abc", "abd", 2));
    printf("%s\n", (char *)memchr("pattern", 't', 7));
    char line[] = "one two,three";
    for (char *word = strtok(line, " ,"); word; word = strtok(NULL, " ,"))
        printf("[%s]", word);
    putchar('\n');
    char *copy = strdup("duplicate");
    copy[0] = 'D';
    char *part = strndup(copy, 4);
    printf("%s %s\n", copy, part);
    free(copy);
    free(part);
    printf("%d %ld %d\n", atoi("  -42abc"), atol("1234567"), atoi("x"));
    char *end;
    printf("%ld %s\n", strtol("0x1fz", &end, 16), end);
    printf("%ld %lu %ld\n", strtol("-777", NULL, 8), strtoul("4000000000", NULL, 0),
           strtol("0x10", NULL, 0));
    printf("%lld %g %s\n", strtoll("-9000000000", NULL, 10), strtod("2.5e3rest", &end), end);
    printf("%g\n", atof("0.125"));
    int kinds = 0;
    for (int c = 0; c < 128; c++)
        kinds = kinds * 3 + !!isalpha(c) + 2 * !!isdigit(c) + 4 * !!isspace(c) + 8 * !!isupper(c) +
                16 * !!ispunct(c) + 32 * !!isalnum(c) + 64 * !!isxdigit(c) + 128 * !!islower(c) +
                256 * !!isprint(c) + 512 * !!iscntrl(c);
    printf("%x %c %c\n", (unsigned)kinds & 0xffff, toupper('q'), tolower('Q'));
    char text[16];
    int needed = snprintf(text, 8, "%s", "truncated text");
    printf("%d %s\n", needed, text);
    printf("%d %s\n", sprintf(text, "%03d-%x", 7, 254), text);
    int x, y;
    char word[10];
    printf("%d ", sscanf("12 -7 end", "%d %d %9s", &x, &y, word));
    printf("%d %d %s\n", x, y, word);
    return (int)strlen(b);
}
