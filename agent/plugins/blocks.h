/* The pieces of code that something is counted for: a translated block each, by where it begins. */
#ifndef TIERLAB_BLOCKS_H
#define TIERLAB_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

enum {
    MOST_BLOCKS = 1 << 18,
    NO_BLOCK = 0, /* that of all code for which there was no room */
    CODE_BYTES = 32,
};

struct block {
    uint64_t address;       /* as the code had it that was translated first */
    const void *here;       /* where QEMU has it in its own memory */
    unsigned char bytes;    /* of `code` */
    unsigned char code[CODE_BYTES];
};

/* How many there are; a block below that is complete. Any thread may ask. */
uint32_t blocks_count(void);
const struct block *block_at(uint32_t number);

/*
 * The number of the block with this code at this place in QEMU's memory, a new one if it is not
 * known and there is room: processes have the same code at several addresses, and other code comes
 * to be in its place. QEMU translates the same block again and again, from several threads.
 */
uint32_t block_number(const struct block *block);

/* Makes room; false if there is no memory. */
int blocks_make(void);

#endif
