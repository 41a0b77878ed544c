#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FIRST_SETS = 64 };

struct arguments {
    const char *l1d, *l1i, *l2, *llc, *line, *packages, *sample, *space, *interval_ms;
};

static bool number(const char *text, char end, uint64_t *value, const char **rest)
{
    char *after;

    errno = 0;
    *value = strtoull(text, &after, 10);
    if (errno || after == text || *after != end)
        return false;
    *rest = after + (end != 0);
    return true;
}

static bool read_geometry(struct geometry *geometry, const char *text, unsigned line_shift)
{
    uint64_t bytes, ways;
    const char *rest;

    *geometry = (struct geometry){ 0 };
    if (strcmp(text, "none") == 0)
        return true;
    if (!number(text, ':', &bytes, &rest) || !number(rest, 0, &ways, &rest) || ways == 0)
        return false;
    *geometry = (struct geometry){ .sets = (bytes >> line_shift) / ways, .ways = ways };
    return geometry->sets > 0 && geometry->sets * ways << line_shift == bytes;
}

static bool read_packages(struct machine *machine, const char *text)
{
    for (;; text++) {
        char *after;
        unsigned long package = strtoul(text, &after, 10);

        if (after == text || package >= MOST_PACKAGES || machine->seats == MOST_SEATS)
            return false;
        machine->package[machine->seats++] = (unsigned char)package;
        if (machine->packages <= package)
            machine->packages = (unsigned)package + 1;
        text = after;
        if (*text != ':')
            return *text == 0;
    }
}

/*
 * A set that is looked up must be one in every cache: a line's place among the first sets is told by
 * address bits that all caches use. The chosen ones are spread with an odd step, so that no stride
 * of a power of two has more than its share of them.
 */
static bool choose_sets(struct machine *machine, uint64_t one_in)
{
    const struct geometry all[] = { machine->l1d, machine->l1i, machine->l2, machine->llc };
    uint64_t first = MOST_FIRST_SETS;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        while (all[i].sets % first)
            first /= 2;
    if (one_in == 0 || first % one_in)
        return false;
    machine->one_in = (unsigned)one_in;
    machine->first_sets = (unsigned)first - 1;
    for (uint64_t set = 0; set < first; set++)
        if ((set * 37 + 11) % first < first / one_in)
            machine->looked_up |= 1ull << set;
    return true;
}

static const char *make_last_level(struct machine *machine)
{
    size_t bytes = cache_bytes(machine->llc);
    char *shared = NULL;

    machine->last_level = calloc(machine->packages, sizeof *machine->last_level);
    if (!machine->last_level)
        return "no memory";
    if (machine->shared && bytes) {
        struct stat found;
        int file = open(machine->shared, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        /* Others may be on other packages; what nobody uses takes no room. */
        size_t whole = bytes * MOST_PACKAGES;

        /* The first to come makes it, all zero: the same bytes, should two be the first. */
        if (file < 0 || fstat(file, &found) || (found.st_size && (size_t)found.st_size != whole) ||
            ftruncate(file, (off_t)whole))
            return "shared: no file of the size of these last-level caches";
        shared = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (shared == MAP_FAILED)
            return "shared: cannot be mapped";
    }
    for (unsigned i = 0; i < machine->packages; i++) {
        struct cache *cache = &machine->last_level[i];

        if (!shared && !cache_make(cache, machine->llc))
            return "no memory";
        if (shared)
            *cache = (struct cache){ machine->llc, (void *)(shared + i * bytes) };
    }
    return NULL;
}

static bool assign(struct machine *machine, struct arguments *given, char *argument)
{
    const struct {
        const char *name;
        const char **value;
    } all[] = {
        { "l1d", &given->l1d },           { "l1i", &given->l1i },
        { "l2", &given->l2 },             { "llc", &given->llc },
        { "line", &given->line },         { "packages", &given->packages },
        { "sample", &given->sample },     { "space", &given->space },
        { "interval_ms", &given->interval_ms }, { "out", &machine->out },
        { "shared", &machine->shared },
    };
    size_t length = strcspn(argument, "=");

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i].name) == length && strncmp(argument, all[i].name, length) == 0 &&
            argument[length]) {
            *all[i].value = argument + length + 1;
            return true;
        }
    return false;
}

const char *machine_read(struct machine *machine, int argc, char **argv)
{
    struct arguments given = { "32768:8", "32768:8", "1048576:16", "33554432:16", "64",
                               "0",       "1",       "0",          "50" };
    uint64_t line, one_in, interval;
    const char *rest;

    *machine = (struct machine){ 0 };
    for (int i = 0; i < argc; i++)
        if (!assign(machine, &given, argv[i]))
            return "unknown argument; they are l1d l1i l2 llc line packages sample space"
                   " interval_ms out shared";
    if (!machine->out)
        return "out: say which file to write to";
    /* QEMU's words are gone afterwards. */
    machine->out = strdup(machine->out);
    if (!machine->out)
        return "no memory";
    if (!number(given.line, 0, &line, &rest) || line < 16 || line > 4096 || line & (line - 1))
        return "line: bytes, a power of two";
    machine->line_shift = (unsigned)__builtin_ctzll(line);
    if (!read_geometry(&machine->l1d, given.l1d, machine->line_shift) ||
        !read_geometry(&machine->l1i, given.l1i, machine->line_shift) ||
        !read_geometry(&machine->l2, given.l2, machine->line_shift) ||
        !read_geometry(&machine->llc, given.llc, machine->line_shift))
        return "a cache is BYTES:WAYS with whole sets, or none";
    if (machine->l1d.sets == 0)
        return "l1d: there must be one";
    if (!read_packages(machine, given.packages))
        return "packages: that of each vCPU, such as 0:0:1:1";
    if (!number(given.sample, 0, &one_in, &rest) || !choose_sets(machine, one_in))
        return "sample: a power of two that divides the sets of every cache, 64 at the most";
    if (!number(given.space, 0, &machine->space, &rest) || machine->space >> 22)
        return "space: a number below 4194304";
    if (!number(given.interval_ms, 0, &interval, &rest) || interval == 0 || interval > 60000)
        return "interval_ms: milliseconds";
    machine->interval_ns = (long)interval * 1000000;
    return make_last_level(machine);
}
