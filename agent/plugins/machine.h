/* The machine whose caches are simulated, as the plugin's arguments describe it. */
#ifndef TIERLAB_MACHINE_H
#define TIERLAB_MACHINE_H

#include "cache.h"

enum { MOST_PACKAGES = 64, MOST_SEATS = 1024 };

struct machine {
    struct geometry l1d, l1i, l2, llc;
    unsigned line_shift; /* of a line's size */

    unsigned seats; /* vCPUs that are told apart in `package`; more begin again at the first */
    unsigned char package[MOST_SEATS];
    unsigned packages;
    struct cache *last_level; /* one for each package */

    unsigned one_in;      /* of so many sets one is looked up */
    uint64_t looked_up;   /* which of the first sets of every cache, a bit for each */
    unsigned first_sets;  /* how many bits of it repeat over all sets, less one */
    uint64_t space;       /* that of the addresses: another's are no lines of ours */

    const char *out;      /* the file or pipe to write to */
    const char *shared;   /* the file with the last-level caches, where processes share them */
    long interval_ns;
};

/*
 * Reads arguments such as `l1d=32768:8` (bytes, ways); `none` is a level that is not there. Null, or
 * what is wrong with them.
 */
const char *machine_read(struct machine *machine, int argc, char **argv);

/* Which lines are looked up: those of a set that is. */
static inline bool is_looked_up(const struct machine *machine, uint64_t line)
{
    return machine->looked_up >> (line & machine->first_sets) & 1;
}

#endif
