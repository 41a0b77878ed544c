#include "cache.h"

#include <sys/mman.h>

static uint64_t get(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void put(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

size_t cache_bytes(struct geometry geometry)
{
    return geometry.sets * (geometry.ways + 1) * sizeof(struct way);
}

bool cache_make(struct cache *cache, struct geometry geometry)
{
    *cache = (struct cache){ .geometry = geometry };
    if (geometry.sets == 0)
        return true;
    /* Of a sampled cache most pages are never touched, and take nothing. */
    void *ways = mmap(NULL, cache_bytes(geometry), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cache->ways = ways == MAP_FAILED ? NULL : ways;
    return cache->ways != NULL;
}

static struct way *set_of(const struct cache *cache, uint64_t line)
{
    return cache->ways + line % cache->geometry.sets * (cache->geometry.ways + 1);
}

bool cache_use(struct cache *cache, uint64_t line)
{
    const struct geometry geometry = cache->geometry;
    struct way *set = set_of(cache, line);
    uint64_t *clock = &set[geometry.ways].used;
    struct way *oldest = set;

    put(clock, get(clock) + 1);
    for (struct way *way = set; way < set + geometry.ways; way++) {
        if (get(&way->line) == line + 1) {
            put(&way->used, get(clock));
            return true;
        }
        if (get(&way->used) < get(&oldest->used))
            oldest = way;
    }
    put(&oldest->line, line + 1);
    put(&oldest->used, get(clock));
    return false;
}

void cache_lose(struct cache *cache, uint64_t line)
{
    struct way *set = cache->ways ? set_of(cache, line) : NULL;

    for (struct way *way = set; set && way < set + cache->geometry.ways; way++)
        if (get(&way->line) == line + 1) {
            put(&way->line, 0);
            put(&way->used, 0);
            return;
        }
}
