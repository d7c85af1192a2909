// Arrays whose size is known only at run time.
#include <alloca.h>
#include <stdio.h>
#include <string.h>

static int trace(int n, int m[n][n]) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += m[i][i];
    return sum;
}

static int squares(int n) {
    int matrix[n][n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            matrix[i][j] = i * n + j;
    printf("%zu %zu\n", sizeof matrix / sizeof(int), sizeof matrix[0] / sizeof(int));
    return trace(n, matrix);
}

static int reused(void) {
    int sum = 0;
    for (int n = 1; n < 50; n++) {
        char room[n * 100];
        memset(room, n, sizeof room);
        sum += room[n * 100 - 1];
    }
    return sum;
}

static char *reversed(const char *text, char *out) {
    size_t n = strlen(text);
    char *room = alloca(n + 1);
    for (size_t i = 0; i < n; i++)
        room[n - 1 - i] = text[i];
    room[n] = 0;
    return strcpy(out, room);
}

int main(void) {
    for (int n = 1; n < 6; n++)
        printf("%d\n", squares(n));
    printf("%d\n", reused());
    char out[20];
    puts(reversed("machine", out));
    int n = 3;
    int (*rows)[n] = (int[2][3]){{1, 2, 3}, {4, 5, 6}} + 0;
    printf("%d\n", rows[1][2]);
    return squares(4);
}
