/*
 * Threads that read a working set again and again: sharing one|own|written THREADS BYTES ROUNDS.
 * What is written, it is by the first of them, before the others read it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t round_ends;
static volatile char *set;
static size_t bytes;
static int rounds;
static int is_written;

/* What was never written is one page of zeros, however much of it is read. */
static void *make(void)
{
    return memset(malloc(bytes), 1, bytes);
}

static void *run(void *is_first)
{
    volatile char *lines = set ? set : make();

    for (int round = 0; round < rounds; round++) {
        if (is_written) {
            for (size_t at = 0; is_first && at < bytes; at += 64)
                lines[at] = (char)round;
            pthread_barrier_wait(&round_ends);
        }
        for (size_t at = 0; !(is_written && is_first) && at < bytes; at += 64)
            (void)lines[at];
        pthread_barrier_wait(&round_ends);
    }
    return NULL;
}

static void *nothing(void *unused)
{
    return unused;
}

/*
 * What a new thread runs first QEMU may translate before the plugin knows of the thread, and no
 * thread that runs it later is seen there. So the first thread runs all of it, once there were two:
 * QEMU translates anew then.
 */
static void translate(void)
{
    pthread_t other;

    pthread_create(&other, NULL, nothing, NULL);
    pthread_join(other, NULL);
    pthread_barrier_init(&round_ends, NULL, 1);
    bytes = 128;
    rounds = 2;
    for (is_written = 0; is_written < 2; is_written++) {
        run(&other);
        run(NULL);
    }
    pthread_barrier_destroy(&round_ends);
}

int main(int count, char **words)
{
    int threads = count == 5 ? atoi(words[2]) : 0;
    pthread_t made[8];

    if (threads < 1 || threads > 8)
        return 2;
    translate();
    bytes = (size_t)atol(words[3]);
    rounds = atoi(words[4]);
    is_written = strcmp(words[1], "written") == 0;
    if (is_written || strcmp(words[1], "one") == 0)
        set = make();
    pthread_barrier_init(&round_ends, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, run, i == 0 ? &made[i] : NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    return 0;
}
