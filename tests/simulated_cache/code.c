/* More code than a first cache holds, gone through again and again. */
#include <stdio.h>

#define STEP(n) x = (x ^ (n)) * 2654435761u + (x >> ((n) % 31 + 1));
#define SIXTEEN(n) STEP(n) STEP(n + 1) STEP(n + 2) STEP(n + 3) STEP(n + 4) STEP(n + 5) STEP(n + 6) \
    STEP(n + 7) STEP(n + 8) STEP(n + 9) STEP(n + 10) STEP(n + 11) STEP(n + 12) STEP(n + 13) \
    STEP(n + 14) STEP(n + 15)
#define FUNCTION(name, n) \
    __attribute__((noinline)) static unsigned name(unsigned x) \
    { \
        SIXTEEN(n) SIXTEEN(n + 16) SIXTEEN(n + 32) SIXTEEN(n + 48) SIXTEEN(n + 64) \
        SIXTEEN(n + 80) SIXTEEN(n + 96) SIXTEEN(n + 112) SIXTEEN(n + 128) SIXTEEN(n + 144) \
        return x; \
    }

FUNCTION(first, 1)
FUNCTION(second, 2)
FUNCTION(third, 3)
FUNCTION(fourth, 4)
FUNCTION(fifth, 5)
FUNCTION(sixth, 6)
FUNCTION(seventh, 7)
FUNCTION(eighth, 8)

int main(void)
{
    unsigned x = 1;

    for (int round = 0; round < 2000; round++)
        x = eighth(seventh(sixth(fifth(fourth(third(second(first(x))))))));
    printf("%u\n", x);
    return 0;
}
