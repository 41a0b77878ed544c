/* Ways through memory that differ in what they miss, each a function. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N 384

static double a[N][N], b[N][N], sum[N][N];

__attribute__((noinline)) static void fill(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
        }
}

__attribute__((noinline)) static void by_rows(void)
{
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                sum[i][j] += a[i][j];
}

__attribute__((noinline)) static void by_columns(void)
{
    for (int round = 0; round < 3; round++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                sum[i][j] += b[i][j];
}

/* A new place each time, as far apart as can be. */
__attribute__((noinline)) static unsigned jump(unsigned *lines, unsigned count, unsigned times)
{
    unsigned at = 1;

    while (times--) {
        at = at * 1664525u + 1013904223u;
        lines[(at >> 8) % count * 16]++;
    }
    return lines[0];
}

/* Within the first cache. */
__attribute__((noinline)) static long near(void)
{
    volatile int few[256] = { 1 };
    long found = 0;

    for (int round = 0; round < 4000; round++)
        for (int i = 0; i < 256; i++)
            found += few[i];
    return found;
}

/* With any argument it stays, for who looks at it. */
int main(int words, char **unused)
{
    unsigned count = 1 << 15, *lines = calloc(count, 64);

    fill();
    by_rows();
    by_columns();
    (void)unused;
    printf("%u %ld\n", jump(lines, count, 1000000), near());
    fflush(stdout);
    if (words > 1)
        pause();
    return 0;
}
