#include "blocks.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = MOST_BLOCKS * 2 };

static struct block *blocks;
static uint32_t *slots; /* by hash: a block's number, or none */
static uint32_t count = NO_BLOCK + 1;
static pthread_mutex_t translating = PTHREAD_MUTEX_INITIALIZER;

static void *room(size_t bytes)
{
    void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return found == MAP_FAILED ? NULL : found;
}

int blocks_make(void)
{
    blocks = room(MOST_BLOCKS * sizeof *blocks);
    slots = room(SLOTS * sizeof *slots);
    return blocks && slots;
}

uint32_t blocks_count(void)
{
    return __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

const struct block *block_at(uint32_t number)
{
    return &blocks[number];
}

static uint32_t slot_of(const struct block *block)
{
    uint64_t hash = (uintptr_t)block->here * 0x9e3779b97f4a7c15u;

    return (uint32_t)(hash >> 40) % SLOTS;
}

uint32_t block_number(const struct block *block)
{
    uint32_t slot = slot_of(block), number;

    pthread_mutex_lock(&translating);
    while ((number = slots[slot]) != NO_BLOCK) {
        const struct block *found = &blocks[number];

        if (found->here == block->here && found->bytes == block->bytes &&
            memcmp(found->code, block->code, block->bytes) == 0)
            break;
        slot = (slot + 1) % SLOTS;
    }
    if (number == NO_BLOCK && count < MOST_BLOCKS) {
        number = slots[slot] = count;
        blocks[number] = *block;
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&translating);
    return number;
}
