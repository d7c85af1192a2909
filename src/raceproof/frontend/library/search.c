// hsearch, tsearch and their kind keep the pointers that they are given. POSIX leaves open how:
// a list and a tree without balance do.
// when: hsearch hsearch_r tsearch

typedef struct {
    char *key;
    void *data;
} ENTRY;

struct entry {
    ENTRY entry;
    struct entry *next;
};

struct hsearch_data {
    struct entry *table;
    unsigned size, filled;
};

static struct hsearch_data raceproof_hash_table;

static inline __attribute__((always_inline)) ENTRY *look_up(
    ENTRY item, int enters, struct hsearch_data *table)
{
    for (struct entry *e = table->table; e != NULL; e = e->next)
        if (strcmp(e->entry.key, item.key) == 0)
            return &e->entry;
    if (!enters || raceproof_unspecified()) // the table may be full
        return NULL;
    struct entry *e = malloc(sizeof *e);
    e->entry = item;
    e->next = table->table;
    table->table = e;
    return &e->entry;
}

LIBRARY int hcreate_r(size_t count, struct hsearch_data *table)
{
    table->table = NULL;
    table->size = count;
    table->filled = 0;
    return 1;
}

LIBRARY int hcreate(size_t count)
{
    return hcreate_r(count, &raceproof_hash_table);
}

LIBRARY void hdestroy_r(struct hsearch_data *table)
{
    table->table = NULL;
}

LIBRARY void hdestroy(void)
{
    hdestroy_r(&raceproof_hash_table);
}

LIBRARY ENTRY *hsearch(ENTRY item, int action)
{
    return look_up(item, action, &raceproof_hash_table);
}

LIBRARY int hsearch_r(ENTRY item, int action, ENTRY **result, struct hsearch_data *table)
{
    *result = look_up(item, action, table);
    return *result != NULL;
}

// --- trees ---

struct node {
    const void *key;
    struct node *left, *right;
};

typedef int (*comparison)(const void *, const void *);

LIBRARY void *tsearch(const void *key, void **root, comparison compare)
{
    struct node **place = (struct node **)root;
    if (place == NULL)
        return NULL;
    while (*place != NULL) {
        int order = compare(key, (*place)->key);
        if (order == 0)
            return *place;
        place = order < 0 ? &(*place)->left : &(*place)->right;
    }
    struct node *n = malloc(sizeof *n);
    n->key = key;
    n->left = n->right = NULL;
    *place = n;
    return n;
}

LIBRARY void *tfind(const void *key, void *const *root, comparison compare)
{
    if (root == NULL)
        return NULL;
    struct node *n = *root;
    while (n != NULL) {
        int order = compare(key, n->key);
        if (order == 0)
            return n;
        n = order < 0 ? n->left : n->right;
    }
    return NULL;
}

LIBRARY void *tdelete(const void *key, void **root, comparison compare)
{
    struct node **place = (struct node **)root, *parent = NULL;
    if (place == NULL)
        return NULL;
    while (*place != NULL) {
        int order = compare(key, (*place)->key);
        if (order == 0)
            break;
        parent = *place;
        place = order < 0 ? &parent->left : &parent->right;
    }
    struct node *gone = *place;
    if (gone == NULL)
        return NULL;
    if (gone->left == NULL) {
        *place = gone->right;
    } else {
        struct node **last = &gone->left;
        while (*last != NULL)
            last = &(*last)->right;
        *last = gone->right;
        *place = gone->left;
    }
    free(gone);
    return parent != NULL ? (void *)parent : (void *)root;
}

typedef void (*visit)(const void *, int, int);

// In which order the nodes come is part of what POSIX says, but not needed here: each node is
// visited, as a leaf once or else three times.
#define DEPTH 64

LIBRARY void twalk(const void *root, visit action)
{
    const struct node *stack[DEPTH];
    char state[DEPTH];
    int top = 0;
    if (root == NULL)
        return;
    stack[0] = root;
    state[0] = 0;
    while (top >= 0) {
        const struct node *n = stack[top];
        if (n->left == NULL && n->right == NULL) {
            action(n, 3, top);
            top--;
            continue;
        }
        int now = state[top]++;
        if (now >= 3) {
            top--;
            continue;
        }
        action(n, now, top);
        const struct node *child = now == 0 ? n->left : now == 1 ? n->right : NULL;
        if (child != NULL && top + 1 < DEPTH) {
            top++;
            stack[top] = child;
            state[top] = 0;
        }
    }
}

LIBRARY void tdestroy(void *root, void (*release)(void *))
{
    struct node *stack[DEPTH];
    int top = 0;
    if (root == NULL)
        return;
    stack[top++] = root;
    while (top > 0) {
        struct node *n = stack[--top];
        if (n->left != NULL && top < DEPTH)
            stack[top++] = n->left;
        if (n->right != NULL && top < DEPTH)
            stack[top++] = n->right;
        release((void *)n->key);
        free(n);
    }
}
