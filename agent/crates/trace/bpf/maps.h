/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is kept in the kernel, and what user space is told. */
#ifndef TIERLAB_MAPS_H
#define TIERLAB_MAPS_H

#include "kernel.h"

/* What a thread may be doing; the order is that of `State` in user space. */
enum state { CPU, RUNNABLE, THROTTLED, STOPPED, DISK, LOCK, CALL, CONNECTING, OTHER, STATES };

enum role { NO_ROLE, SERVER, CLIENT };
enum direction { NO_DIRECTION, RECEIVED, SENT, PAUSED };

/* Set by user space before the program is loaded. */
const volatile _Bool inet_by_syscalls = 0;

struct thread {
	u64 since;
	u64 sums[STATES];
	u64 longest_other;
	/* The socket at which it called and has not read of the reply. */
	u64 calls;
	u32 longest_call;
	u32 sleeps_in;
	u8 state;
	/* CALL or CONNECTING while it waits for a server that it calls. */
	u8 waits;
};

struct socket_turn {
	u64 worker;
	u32 ends;
	u8 direction;
	u8 role;
};

struct subject {
	/* Threads are left out whose hashed number has any of these bits. */
	u32 left_out;
	u32 pad;
	u64 events;
};

struct event {
	u64 at;
	u64 socket;
	u64 peer;
	u64 sums[STATES];
	u32 process;
	u32 thread;
	u32 subject;
	s32 bytes;
	u32 longest_call;
	u16 local_port;
	u16 remote_port;
	u8 local[16];
	u8 remote[16];
	u8 direction;
	u8 role;
	u8 family;
	/* It called or replied while another call of its own had no reply. */
	u8 overlaps;
	u8 pad[4];
	/* Who works on a request: the thread, or the goroutine that it runs. */
	u64 worker;
};

#define PATH 108
#define MOST_BYTES 32768

struct unix_event {
	struct event event;
	/* The number of the calling end's inode: a socket's address is used again soon. */
	u64 inode;
	u32 path_length;
	u8 path[PATH];
	u8 data[2 * MOST_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} events SEC(".maps");

/* Of a process that is written in Go: goroutines change threads. */
#define GO 0x80000000u

/* By process: which subject it is, and `GO`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u32);
	__type(value, u32);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 256);
	__type(key, u32);
	__type(value, struct subject);
} subjects SEC(".maps");

/* Ports at which servers of interest listen. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u16);
	__type(value, u8);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct socket_turn);
} sockets SEC(".maps");

/* By CPU, of which user space says how many there may be: a value of an array by CPU has 32 KiB at most. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unix_event);
} scratch SEC(".maps");

/* 0: events for which the ring had no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} lost SEC(".maps");

static __always_inline void count_lost(void)
{
	u32 first = 0;
	u64 *count = bpf_map_lookup_elem(&lost, &first);
	if (count)
		__sync_fetch_and_add(count, 1);
}

#endif
