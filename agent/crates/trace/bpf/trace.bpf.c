// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Which thread reads and writes what at which socket, and what it waits for in between.
 *
 * Runs in the kernel. Times by state are added up here for each thread; user space gets one event
 * for each turn at a socket, with the sums so far, so that the cost does not grow with the number of
 * context switches that a request takes. `states.h` does the first, `tcp.h` and `unix.h` the second.
 *
 * Reading what a program wrote to a UNIX socket needs a helper that the kernel gives to programs
 * under the GPL alone: this folder's licence differs from the rest of Tierlab (see NOTICE).
 */
#include "states.h"
#include "workers.h"
#include "tcp.h"
#include "unix.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
