/* Keeps a number of its own in a vector register, and counts how often another one is found there.

   cc -static registers.c; a.out NUMBER SECONDS */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const long long number = atoll(argv[1]);
    const long long kept[4] = {number, number + 1, number + 2, number + 3};
    const time_t end = time(NULL) + atoi(argv[2]);
    int others = 0;
    while (time(NULL) < end) {
        long long found[4];
        __asm__ volatile("vmovdqu (%0), %%ymm7\n"
                         "mov $400000, %%rcx\n"
                         "1: dec %%rcx\n"
                         "jnz 1b\n"
                         "vmovdqu %%ymm7, (%1)\n"
                         "vzeroupper\n"
                         :
                         : "r"(kept), "r"(found)
                         : "rcx", "memory", "xmm7");
        others += memcmp(kept, found, sizeof kept) != 0;
    }
    printf("%d\n", others);
    return 0;
}
