/*
 * Who may have a line in caches of its own: what one vCPU writes, the others lose, as in a machine
 * whose caches are coherent by invalidation (MESI).
 */
#ifndef TIERLAB_HOLDERS_H
#define TIERLAB_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

enum { TOLD_APART = 64 };

/* Makes room; false if there is no memory. */
bool holders_make(void);

/* A vCPU's bit; of more vCPUs than are told apart, those so many apart have one in common. */
static inline uint64_t holder(unsigned number)
{
    return 1ull << number % TOLD_APART;
}

/* Has it among those that hold the line. */
void holders_add(uint64_t line, uint64_t holder);

/* Has it as the only one; the bits of the others that there were. */
uint64_t holders_keep(uint64_t line, uint64_t holder);

#endif
