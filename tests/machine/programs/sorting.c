// qsort and bsearch call back into the program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record { char name[8]; int age; };
static int compared;

static int by_number(const void *a, const void *b) {
    compared = 1;
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}
static int by_age(const void *a, const void *b) {
    return ((const struct record *)a)->age - ((const struct record *)b)->age;
}
static int by_name(const void *a, const void *b) {
    return strcmp(((const struct record *)a)->name, ((const struct record *)b)->name);
}
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

int main(void) {
    int numbers[50];
    unsigned state = 12345;
    for (int i = 0; i < 50; i++) {
        state = state * 1103515245u + 12345u;
        numbers[i] = (int)(state >> 16) % 1000 - 500;
    }
    qsort(numbers, 50, sizeof *numbers, by_number);
    int ok = 1;
    for (int i = 1; i < 50; i++)
        ok &= numbers[i - 1] <= numbers[i];
    printf("%d %d %d %d\n", ok, compared, numbers[0], numbers[49]);
    int *found = bsearch(&numbers[17], numbers, 50, sizeof *numbers, by_number);
    int missing = 5000;
    printf("%d %d\n", *found == numbers[17],
           bsearch(&missing, numbers, 50, sizeof *numbers, by_number) == NULL);
    struct record people[] = {{"dora", 31}, {"abe", 64}, {"cleo", 7}, {"bob", 45}};
    qsort(people, 4, sizeof *people, by_age);
    for (int i = 0; i < 4; i++)
        printf("%s ", people[i].name);
    qsort(people, 4, sizeof *people, by_name);
    for (int i = 0; i < 4; i++)
        printf("%d ", people[i].age);
    putchar('\n');
    char *words[] = {"pear", "apple", "fig", "quince", "banana"};
    qsort(words, 5, sizeof *words, by_text);
    for (int i = 0; i < 5; i++)
        printf("%s ", words[i]);
    putchar('\n');
    qsort(numbers, 0, sizeof *numbers, by_number);
    qsort(numbers, 1, sizeof *numbers, by_number);
    return numbers[0] & 0x7f;
}
