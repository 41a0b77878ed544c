#include "vcpu.h"

#include "blocks.h"
#include "holders.h"

#include <stdlib.h>
#include <sys/mman.h>

struct vcpu *vcpus[MOST_VCPUS];

static struct counts *make_counts(void)
{
    void *found = mmap(NULL, MOST_BLOCKS * sizeof(struct counts), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return found == MAP_FAILED ? NULL : found;
}

bool vcpu_make(const struct machine *machine, unsigned number)
{
    struct vcpu *vcpu;

    if (number >= MOST_VCPUS)
        return false;
    if (vcpus[number])
        return true; /* a thread that has ended had it: the next one on that CPU */
    vcpu = calloc(1, sizeof *vcpu);
    if (!vcpu)
        return false;
    vcpu->counts = make_counts();
    vcpu->told = make_counts();
    vcpu->holder = holder(number);
    vcpu->llc = &machine->last_level[machine->package[number % machine->seats]];
    if (!vcpu->counts || !vcpu->told || !cache_make(&vcpu->l1d, machine->l1d) ||
        !cache_make(&vcpu->l1i, machine->l1i) || !cache_make(&vcpu->l2, machine->l2)) {
        free(vcpu); /* and the emulation ends */
        return false;
    }
    __atomic_store_n(&vcpus[number], vcpu, __ATOMIC_RELEASE);
    return true;
}

static void below_first(struct vcpu *vcpu, struct counts *counts, uint64_t line)
{
    if (vcpu->l2.ways) {
        if (cache_use(&vcpu->l2, line))
            return;
        count(counts, L2_MISSES, 1);
    }
    if (vcpu->llc->ways && !cache_use(vcpu->llc, line))
        count(counts, LLC_MISSES, 1);
}

void vcpu_fetch(struct vcpu *vcpu, struct counts *counts, uint64_t line)
{
    if (line == vcpu->fetched || !vcpu->l1i.ways)
        return;
    vcpu->fetched = line;
    if (cache_use(&vcpu->l1i, line))
        return;
    count(counts, L1I_MISSES, 1);
    below_first(vcpu, counts, line);
    holders_add(line, vcpu->holder);
}

static bool use(struct vcpu *vcpu, struct counts *counts, uint64_t line)
{
    if (cache_use(&vcpu->l1d, line))
        return true;
    count(counts, L1D_MISSES, 1);
    below_first(vcpu, counts, line);
    return false;
}

void vcpu_read(struct vcpu *vcpu, struct counts *counts, uint64_t line)
{
    if (!use(vcpu, counts, line))
        holders_add(line, vcpu->holder);
}

static void lose(struct vcpu *vcpu, const struct vcpu *writer, uint64_t line)
{
    cache_lose(&vcpu->l1d, line);
    cache_lose(&vcpu->l1i, line);
    cache_lose(&vcpu->l2, line);
    if (vcpu->llc != writer->llc)
        cache_lose(vcpu->llc, line);
}

void vcpu_write(struct vcpu *vcpu, struct counts *counts, uint64_t line)
{
    uint64_t others;

    use(vcpu, counts, line);
    for (others = holders_keep(line, vcpu->holder); others; others &= others - 1)
        for (unsigned number = (unsigned)__builtin_ctzll(others);
             number < MOST_VCPUS && vcpus[number]; number += TOLD_APART)
            lose(vcpus[number], vcpu, line);
}
