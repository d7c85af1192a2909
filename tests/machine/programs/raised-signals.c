// Signals that a program sends to itself.
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int depth;

static void outer(int number)
{
    depth++;
    printf("outer %d at depth %d\n", number, depth);
    if (depth < 3)
        raise(SIGUSR2);
    depth--;
}

static void inner(int number)
{
    printf("inner %d\n", number);
}

int main(void)
{
    struct sigaction action, before;
    printf("%d\n", signal(SIGUSR1, outer) == SIG_DFL);
    memset(&action, 0, sizeof action);
    action.sa_handler = inner;
    printf("%d\n", sigaction(SIGUSR2, &action, 0));
    printf("%d\n", raise(SIGUSR1));
    sigaction(SIGUSR2, 0, &before);
    printf("%d\n", before.sa_handler == inner);
    printf("%d\n", signal(SIGUSR1, SIG_IGN) == outer);
    printf("%d\n", raise(SIGUSR1));
    printf("%d\n", raise(SIGCHLD));
    return depth;
}
