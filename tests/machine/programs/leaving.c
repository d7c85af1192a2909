// Leaving by exit, with functions registered for the end.
#include <stdio.h>
#include <stdlib.h>

static void last(void) { puts("last"); }
static void first(void) { puts("first"); }

static void leave(int depth) {
    if (depth == 0)
        exit(300 + 7);
    leave(depth - 1);
}

int main(int argc, char **argv) {
    atexit(last);
    atexit(first);
    printf("%d %d %d\n", argc, argv[0] != NULL, argv[argc] == NULL);
    leave(3);
    return 1;
}
