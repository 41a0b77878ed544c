#include "holders.h"

#include <stddef.h>
#include <sys/mman.h>

/*
 * A million lines; the caches of two packages of 32 MiB have as many, of which a sampled simulation
 * looks up a few. Where two lines come to one place the first is forgotten: nobody loses it when it
 * is written, so that a miss is missing. Nor does anybody wait for another here.
 */
enum { PLACE_BITS = 20 };

struct held {
    uint64_t line; /* plus one; none: no line */
    uint64_t by;
};

static struct held *all;

bool holders_make(void)
{
    void *found = mmap(NULL, sizeof *all << PLACE_BITS, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    all = found == MAP_FAILED ? NULL : found;
    return all != NULL;
}

static struct held *place_of(uint64_t line)
{
    return &all[line * 0x9e3779b97f4a7c15u >> (64 - PLACE_BITS)];
}

static bool is_of(const struct held *held, uint64_t line)
{
    return __atomic_load_n(&held->line, __ATOMIC_RELAXED) == line + 1;
}

static void begin(struct held *held, uint64_t line, uint64_t holder)
{
    __atomic_store_n(&held->by, holder, __ATOMIC_RELAXED);
    __atomic_store_n(&held->line, line + 1, __ATOMIC_RELAXED);
}

void holders_add(uint64_t line, uint64_t holder)
{
    struct held *held = place_of(line);

    if (is_of(held, line))
        __atomic_fetch_or(&held->by, holder, __ATOMIC_RELAXED);
    else
        begin(held, line, holder);
}

uint64_t holders_keep(uint64_t line, uint64_t holder)
{
    struct held *held = place_of(line);

    if (!is_of(held, line)) {
        begin(held, line, holder);
        return 0;
    }
    if (__atomic_load_n(&held->by, __ATOMIC_RELAXED) == holder)
        return 0;
    return __atomic_exchange_n(&held->by, holder, __ATOMIC_RELAXED) & ~holder;
}
