#include "writer.h"

#include "blocks.h"
#include "vcpu.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SHARE = 5000,  /* a block with less than one in so many of each event has no line of its own */
    SECOND = 1000000000,
    AT_ONCE_NS = 100000,
    MOST_TRIES = 100,
};

static const struct machine *machine;
static bool is_system;
static FILE *out;
static unsigned char *is_known; /* the blocks that have been described, a bit for each */
static int64_t last_ns;
static pthread_t thread;
static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ending;
static bool ends;

static int64_t now_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

/* The time of day, and the steady clock's at that moment: on a busy machine others may have their
 * turn between two readings, which are made again then. */
static int64_t time_of_day(int64_t *steady_ns)
{
    int64_t t_ns, after_ns;
    int tries = 0;

    do {
        *steady_ns = now_ns(CLOCK_MONOTONIC);
        t_ns = now_ns(CLOCK_REALTIME);
        after_ns = now_ns(CLOCK_MONOTONIC);
    } while (after_ns - *steady_ns > AT_ONCE_NS && ++tries < MOST_TRIES);
    return t_ns;
}

/* Where a program's code is, by the kernel's list of what is mapped where. */
static void describe_file(uint32_t number, const struct block *block)
{
    uint64_t here = (uintptr_t)block->here, start, end, offset;
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (maps && !found && getline(&line, &room, maps) > 0) {
        int path = 0;

        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &path) >= 3 &&
            start <= here && here < end && line[path] == '/') {
            fprintf(out, "block %u %lx %lx %s", number, block->address, here - start + offset,
                    line + path);
            found = true;
        }
    }
    if (!found)
        fprintf(out, "block %u %lx - -\n", number, block->address);
    free(line);
    if (maps)
        fclose(maps);
}

static void describe(uint32_t number)
{
    const struct block *block = block_at(number);

    if (is_known[number / 8] >> (number % 8) & 1)
        return;
    is_known[number / 8] |= (unsigned char)(1u << (number % 8));
    if (!is_system) {
        describe_file(number, block);
        return;
    }
    fprintf(out, "block %u %lx ", number, block->address);
    for (unsigned i = 0; i < block->bytes; i++)
        fprintf(out, "%02x", block->code[i]);
    fputc('\n', out);
}

static void print(unsigned vcpu, const char *block, const uint64_t of[EVENTS])
{
    fprintf(out, "count %u %s", vcpu, block);
    for (int event = 0; event < EVENTS; event++)
        fprintf(out, " %lu", of[event]);
    fputc('\n', out);
}

static uint32_t since(const struct vcpu *vcpu, uint32_t block, int event)
{
    return __atomic_load_n(&vcpu->counts[block].of[event], __ATOMIC_RELAXED) -
           vcpu->told[block].of[event];
}

static void print_vcpu(unsigned number, struct vcpu *vcpu, uint32_t blocks)
{
    uint64_t all[EVENTS] = { 0 }, rest[EVENTS] = { 0 }, executed;

    executed = __atomic_load_n(&vcpu->executed, __ATOMIC_RELAXED);
    if (executed == vcpu->executed_told)
        return;
    vcpu->executed_told = executed;
    for (uint32_t block = 0; block < blocks; block++)
        for (int event = 0; event < EVENTS; event++)
            all[event] += since(vcpu, block, event);
    for (uint32_t block = 0; block < blocks; block++) {
        uint64_t of[EVENTS];
        bool is_much = false;
        char name[16];

        for (int event = 0; event < EVENTS; event++) {
            of[event] = since(vcpu, block, event);
            vcpu->told[block].of[event] += (uint32_t)of[event];
            is_much |= of[event] && of[event] * SHARE >= all[event];
        }
        if (is_much && block != NO_BLOCK) {
            describe(block);
            snprintf(name, sizeof name, "%u", block);
            print(number, name, of);
            continue;
        }
        for (int event = 0; event < EVENTS; event++)
            rest[event] += of[event];
    }
    for (int event = 0; event < EVENTS; event++)
        if (rest[event]) {
            print(number, "-", rest);
            break;
        }
}

static void tick(void)
{
    int64_t at_ns, t_ns = time_of_day(&at_ns);
    uint32_t blocks = blocks_count();

    fprintf(out, "tick %ld %ld\n", t_ns, at_ns - last_ns);
    last_ns = at_ns;
    for (unsigned number = 0; number < MOST_VCPUS; number++) {
        struct vcpu *vcpu = __atomic_load_n(&vcpus[number], __ATOMIC_ACQUIRE);

        if (vcpu)
            print_vcpu(number, vcpu, blocks);
    }
    fflush(out);
}

static void *run(void *nothing)
{
    int64_t next_ns = last_ns;

    pthread_mutex_lock(&running);
    while (!ends) {
        struct timespec until;

        /* What an interval too late stays at the interval's own times. */
        do
            next_ns += machine->interval_ns;
        while (next_ns <= now_ns(CLOCK_MONOTONIC));
        until = (struct timespec){ next_ns / SECOND, next_ns % SECOND };
        while (!ends && pthread_cond_timedwait(&ending, &running, &until) != ETIMEDOUT)
            ;
        if (!ends)
            tick();
    }
    pthread_mutex_unlock(&running);
    return nothing;
}

static const char *begin(const char *path)
{
    sigset_t all, before;
    pthread_condattr_t monotonic;
    int failed;

    out = fopen(path, "we");
    if (!out)
        return "out: cannot be written";
    fprintf(out, "cache %s %u\n", is_system ? "system" : "user", machine->one_in);
    fflush(out);
    memset(is_known, 0, MOST_BLOCKS / 8);
    last_ns = now_ns(CLOCK_MONOTONIC);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&ending, &monotonic);
    /* A program's signals are for its own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? "no thread" : NULL;
}

static void before_fork(void)
{
    pthread_mutex_lock(&running);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&running);
}

/* A program that was forked has counts of its own, and no thread yet that writes them. */
static void in_child(void)
{
    char *path;

    pthread_mutex_init(&running, NULL);
    for (unsigned number = 0; number < MOST_VCPUS; number++)
        if (vcpus[number])
            memcpy(vcpus[number]->told, vcpus[number]->counts,
                   blocks_count() * sizeof(struct counts));
    if (asprintf(&path, "%s.%d", machine->out, getpid()) < 0)
        return;
    begin(path);
    free(path);
}

const char *writer_start(const struct machine *of, bool system)
{
    const char *wrong;

    machine = of;
    is_system = system;
    is_known = calloc(1, MOST_BLOCKS / 8);
    if (!is_known)
        return "no memory";
    wrong = begin(machine->out);
    if (!wrong && !system)
        pthread_atfork(before_fork, in_parent, in_child);
    return wrong;
}

void writer_end(void)
{
    pthread_mutex_lock(&running);
    if (!ends) {
        ends = true;
        tick();
        fputs("end\n", out);
        fflush(out);
    }
    pthread_cond_signal(&ending);
    pthread_mutex_unlock(&running);
}
