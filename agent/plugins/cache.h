/* A set-associative cache of lines that puts out the least recently used one of a set. */
#ifndef TIERLAB_CACHE_H
#define TIERLAB_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct geometry {
    uint64_t sets; /* none: there is no such cache */
    uint64_t ways;
};

struct way {
    uint64_t line; /* plus one; none: nothing is in it */
    uint64_t used; /* when, by its set's clock */
};

struct cache {
    struct geometry geometry;
    struct way *ways; /* of each set: its ways, and one more whose `used` is the set's clock */
};

/* Bytes that its ways take. */
size_t cache_bytes(struct geometry geometry);

/* A cache of one's own, empty; false if there is no memory for it. */
bool cache_make(struct cache *cache, struct geometry geometry);

/*
 * Has the line used; whether it was there. Several threads and processes may use one cache: they
 * wait for nobody. Two that miss in one set at once may put out one way for both, which costs a
 * rare miss and no more.
 */
bool cache_use(struct cache *cache, uint64_t line);

/* Has the line no longer, if it was there. */
void cache_lose(struct cache *cache, uint64_t line);

#endif
