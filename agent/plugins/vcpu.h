/* A virtual CPU: its caches, and what was counted on it. */
#ifndef TIERLAB_VCPU_H
#define TIERLAB_VCPU_H

#include "machine.h"

enum { MOST_VCPUS = 4096 };

enum event { INSTRUCTIONS, ACCESSES, L1D_MISSES, L1I_MISSES, L2_MISSES, LLC_MISSES, EVENTS };

/* They go round: only how far they went since they were last looked at matters. */
struct counts {
    uint32_t of[EVENTS];
};

struct vcpu {
    struct counts *counts; /* by block */
    uint64_t holder;       /* its bit */
    uint64_t executed;     /* instructions: whether anything else can have changed */
    uint64_t fetched;      /* the line that instructions came from last */
    struct cache l1d, l1i, l2;
    struct cache *llc;

    struct counts *told; /* by block, for who writes the counts */
    uint64_t executed_told;
};

/* Those that there are; null where a number is not in use. */
extern struct vcpu *vcpus[MOST_VCPUS];

/* Makes one if there is none of that number; false without memory or beyond the most. */
bool vcpu_make(const struct machine *machine, unsigned number);

/* Only its own thread counts for a vCPU; another one reads. */
static inline void count(struct counts *counts, enum event event, uint32_t more)
{
    uint32_t *of = &counts->of[event];

    __atomic_store_n(of, __atomic_load_n(of, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

/* An instruction or a datum is read, a datum is written; only for a line that is looked up. */
void vcpu_fetch(struct vcpu *vcpu, struct counts *counts, uint64_t line);
void vcpu_read(struct vcpu *vcpu, struct counts *counts, uint64_t line);
void vcpu_write(struct vcpu *vcpu, struct counts *counts, uint64_t line);

#endif
