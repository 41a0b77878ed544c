/* Threads that read a working set again and again: sharing one|own THREADS BYTES ROUNDS */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t round_ends;
static volatile char *set;
static size_t bytes;
static int rounds;

/* What was never written is one page of zeros, however much of it is read. */
static void *make(void)
{
    return memset(malloc(bytes), 1, bytes);
}

static void *run(void *nothing)
{
    volatile char *lines = set ? set : make();

    (void)nothing;

    for (int round = 0; round < rounds; round++) {
        for (size_t at = 0; at < bytes; at += 64)
            (void)lines[at];
        pthread_barrier_wait(&round_ends);
    }
    return NULL;
}

int main(int count, char **words)
{
    int threads = count == 5 ? atoi(words[2]) : 0;
    pthread_t made[8];

    if (threads < 1 || threads > 8)
        return 2;
    bytes = (size_t)atol(words[3]);
    rounds = atoi(words[4]);
    if (strcmp(words[1], "one") == 0)
        set = make();
    pthread_barrier_init(&round_ends, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, run, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    return 0;
}
