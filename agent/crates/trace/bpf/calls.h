/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Numbers and arguments of system calls, by architecture. */
#ifndef TIERLAB_CALLS_H
#define TIERLAB_CALLS_H

#include "kernel.h"

#if defined(__TARGET_ARCH_x86)
enum {
	NR_read = 0, NR_write = 1, NR_close = 3, NR_poll = 7, NR_readv = 19, NR_writev = 20,
	NR_select = 23, NR_sendfile = 40, NR_connect = 42, NR_sendto = 44, NR_recvfrom = 45,
	NR_sendmsg = 46, NR_recvmsg = 47, NR_semop = 65, NR_flock = 73, NR_futex = 202,
	NR_epoll_wait = 232,
	NR_semtimedop = 220, NR_pselect6 = 270, NR_ppoll = 271, NR_epoll_pwait = 281,
	NR_io_uring_enter = 426, NR_epoll_pwait2 = 441, NR_futex_waitv = 449, NR_futex_wait = 455,
};
#define NUMBER(of) ((int)(of)->orig_ax)
/* Where Go keeps the running goroutine (cmd/compile/abi-internal.md: "current goroutine"). */
#define GOROUTINE(of) ((of)->r14)
#define FIRST(of) ((of)->di)
#define SECOND(of) ((of)->si)
#define THIRD(of) ((of)->dx)
#elif defined(__TARGET_ARCH_arm64)
enum {
	NR_flock = 32, NR_close = 57, NR_read = 63, NR_write = 64, NR_readv = 65, NR_writev = 66,
	NR_sendfile = 71,
	NR_pselect6 = 72, NR_ppoll = 73, NR_futex = 98, NR_epoll_pwait = 22, NR_semtimedop = 192,
	NR_semop = 193, NR_connect = 203, NR_sendto = 206, NR_recvfrom = 207, NR_sendmsg = 211,
	NR_recvmsg = 212, NR_io_uring_enter = 426, NR_epoll_pwait2 = 441, NR_futex_waitv = 449,
	NR_futex_wait = 455,
	/* Not on this architecture. */
	NR_poll = -2, NR_select = -3, NR_epoll_wait = -4,
};
#define NUMBER(of) ((of)->syscallno)
#define GOROUTINE(of) ((of)->regs[28])
#define FIRST(of) ((of)->orig_x0)
#define SECOND(of) ((of)->regs[1])
#define THIRD(of) ((of)->regs[2])
#else
#error "no system call numbers for this architecture"
#endif

#endif
