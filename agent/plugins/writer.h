/* Writes what was counted, every interval of the monotonic clock, as lines of text. */
#ifndef TIERLAB_WRITER_H
#define TIERLAB_WRITER_H

#include "machine.h"

/*
 * Opens the file and writes what the counts are of, then begins a thread of its own. Null, or what
 * is wrong.
 *
 *   cache system|user one_in          the file's first line: whose code, and the sets looked up
 *   block number address offset path  of a program's code: where in which file; `- -` if in none
 *   block number address code         of a guest's code: its first bytes, in hexadecimal
 *   tick t_ns dt_ns                   what follows was counted in the dt_ns before
 *   count vcpu block EVENTS...        block `-`: of all blocks that have too little for a line
 *   end                               nothing follows: the emulation ended
 *
 * Counts of misses are those of the sets that are looked up.
 */
const char *writer_start(const struct machine *machine, bool system);

/* A last time, and the end; for the thread that ends the emulation. */
void writer_end(void);

#endif
