// The heap: lists, trees, growing arrays, zeroed and aligned blocks.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { int key; struct node *left, *right; };
struct link { struct link *next; char text[]; };

static struct node *insert(struct node *root, int key) {
    if (!root) {
        root = malloc(sizeof *root);
        *root = (struct node){key, NULL, NULL};
    } else if (key < root->key)
        root->left = insert(root->left, key);
    else if (key > root->key)
        root->right = insert(root->right, key);
    return root;
}
static int height(const struct node *n) {
    if (!n)
        return 0;
    int l = height(n->left), r = height(n->right);
    return 1 + (l > r ? l : r);
}
static void walk(const struct node *n, long *sum, int *position) {
    if (!n)
        return;
    walk(n->left, sum, position);
    *sum += (long)n->key * ++*position;
    walk(n->right, sum, position);
}
static void release(struct node *n) {
    if (n) {
        release(n->left);
        release(n->right);
        free(n);
    }
}

int main(void) {
    struct node *root = NULL;
    unsigned x = 1;
    for (int i = 0; i < 60; i++) {
        x = x * 69069u + 1;
        root = insert(root, (int)(x >> 20));
    }
    long sum = 0;
    int count = 0;
    walk(root, &sum, &count);
    printf("%ld %d %d\n", sum, count, height(root));
    release(root);

    struct link *list = NULL;
    const char *words[] = {"a", "linked", "list", "of strings"};
    for (int i = 0; i < 4; i++) {
        struct link *l = malloc(sizeof *l + strlen(words[i]) + 1);
        strcpy(l->text, words[i]);
        l->next = list;
        list = l;
    }
    while (list) {
        struct link *next = list->next;
        printf("%s ", list->text);
        free(list);
        list = next;
    }
    putchar('\n');

    size_t room = 2, used = 0;
    int *items = malloc(room * sizeof *items);
    for (int i = 0; i < 100; i++) {
        if (used == room)
            items = realloc(items, (room *= 2) * sizeof *items);
        items[used++] = i * i;
    }
    int total = 0;
    for (size_t i = 0; i < used; i++)
        total ^= items[i];
    printf("%d %zu\n", total, room);
    items = realloc(items, 3 * sizeof *items);
    printf("%d\n", items[2]);
    free(items);
    free(NULL);
    int *fresh = realloc(NULL, 4 * sizeof *fresh);
    fresh[3] = 9;
    printf("%d\n", fresh[3]);
    free(fresh);
    char *zeroed = calloc(10, 3);
    int any = 0;
    for (int i = 0; i < 30; i++)
        any |= zeroed[i];
    printf("%d\n", any);
    free(zeroed);
    void *aligned = NULL;
    printf("%d ", posix_memalign(&aligned, 64, 100));
    printf("%d\n", (int)((uintptr_t)aligned % 64));
    free(aligned);
    int **rows = malloc(5 * sizeof *rows);
    for (int i = 0; i < 5; i++) {
        rows[i] = calloc(i + 1, sizeof **rows);
        rows[i][i] = i;
    }
    for (int i = 0; i < 5; i++) {
        total += rows[i][i] + rows[i][0];
        free(rows[i]);
    }
    free(rows);
    return total & 0x7f;
}
