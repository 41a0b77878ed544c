/* Records behind pointers: a tree, a table by hash, and their sorting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 20000
#define SLOTS 16384

struct word {
    char text[40];
    struct word *left, *right, *next;
    unsigned seen;
};

static struct word *root, *table[SLOTS], *all[COUNT];

__attribute__((noinline)) static void make(void)
{
    unsigned state = 7;

    for (int i = 0; i < COUNT; i++) {
        all[i] = calloc(1, sizeof *all[i]);
        for (int k = 0; k < 12; k++) {
            state = state * 1103515245u + 12345u;
            all[i]->text[k] = (char)('a' + (state >> 16) % 26);
        }
    }
}

__attribute__((noinline)) static int compare(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a - *b;
}

__attribute__((noinline)) static void into_tree(struct word *word)
{
    struct word **at = &root;

    while (*at)
        at = compare(word->text, (*at)->text) < 0 ? &(*at)->left : &(*at)->right;
    *at = word;
}

__attribute__((noinline)) static unsigned slot(const char *text)
{
    unsigned hash = 2166136261u;

    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 16777619u;
    return hash % SLOTS;
}

__attribute__((noinline)) static void look_up(const char *text)
{
    for (struct word *word = table[slot(text)]; word; word = word->next)
        if (compare(word->text, text) == 0)
            word->seen++;
}

__attribute__((noinline)) static unsigned long walk(const struct word *word)
{
    return word ? walk(word->left) + word->seen + walk(word->right) : 0;
}

__attribute__((noinline)) static void into_table(void)
{
    for (int i = 0; i < COUNT; i++) {
        struct word **first = &table[slot(all[i]->text)];

        all[i]->next = *first;
        *first = all[i];
    }
}

int main(void)
{
    unsigned long seen = 0;

    make();
    for (int i = 0; i < COUNT; i++)
        into_tree(all[i]);
    into_table();
    for (unsigned i = 0; i < 100000; i++)
        look_up(all[i * 2654435761u % COUNT]->text);
    for (int round = 0; round < 5; round++)
        seen += walk(root);
    printf("%lu\n", seen);
    return 0;
}
