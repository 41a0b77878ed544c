/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What threads do and wait for: their times by state. */
#ifndef TIERLAB_STATES_H
#define TIERLAB_STATES_H

#include "calls.h"
#include "maps.h"

/* include/linux/sched.h */
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED 0x0004
#define TASK_TRACED 0x0008
#define TASK_NOLOAD 0x0400
#define TASK_FROZEN 0x8000
#define JOBCTL_TRAP_FREEZE (1ul << 23)

static __always_inline _Bool is_throttled(struct task_struct *task)
{
	return bpf_core_field_exists(task->throttled) && task->throttled;
}

static __always_inline _Bool waits_for_bytes(int call)
{
	switch (call) {
	case NR_read: case NR_readv: case NR_recvfrom: case NR_recvmsg: case NR_poll: case NR_ppoll:
	case NR_select: case NR_pselect6: case NR_epoll_wait: case NR_epoll_pwait:
	case NR_epoll_pwait2: case NR_io_uring_enter:
		return 1;
	}
	return 0;
}

static __always_inline _Bool waits_for_lock(int call)
{
	switch (call) {
	case NR_futex: case NR_futex_wait: case NR_futex_waitv: case NR_flock: case NR_semop:
	case NR_semtimedop:
		return 1;
	}
	return 0;
}

/* The state of a thread that goes to sleep. */
static __always_inline u8 sleep_of(struct task_struct *task, unsigned int sleep, struct thread *it)
{
	if (sleep & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN) || task->jobctl & JOBCTL_TRAP_FREEZE)
		return STOPPED;
	if (sleep & TASK_UNINTERRUPTIBLE && !(sleep & TASK_NOLOAD))
		return DISK;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	int call = NUMBER(regs);
	it->sleeps_in = call;
	if (call == NR_connect)
		return CONNECTING;
	if (it->waits && waits_for_bytes(call))
		return it->waits;
	return waits_for_lock(call) ? LOCK : OTHER;
}

/* A shorter stop or wait for the next quota is not told by itself. */
#define LEAST_PAUSE 1000000ull

/* A thread was stopped or throttled: its process took up no new requests meanwhile either. */
static __always_inline void tell_pause(struct task_struct *task, u8 state, u64 from, u64 to)
{
	u32 process = task->tgid;
	u32 *subject = bpf_map_lookup_elem(&processes, &process);
	if (!subject)
		return;
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_lost();
		return;
	}
	__builtin_memset(event, 0, sizeof(*event));
	event->at = to;
	event->peer = from;
	event->process = process;
	event->thread = task->pid;
	event->subject = *subject & ~GO;
	event->direction = PAUSED;
	event->role = state;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/* Adds the time since the last change to the state that the thread was in. */
static __always_inline void settle(struct task_struct *task, struct thread *it, u64 now)
{
	u8 state = it->state;
	if (state >= STATES)
		return;
	u64 length = now - it->since;
	if ((state == STOPPED || state == THROTTLED) && length >= LEAST_PAUSE)
		tell_pause(task, state, it->since, now);
	it->sums[state] += length;
	it->since = now;
	if (state == OTHER && length > it->longest_other) {
		it->longest_other = length;
		it->longest_call = it->sleeps_in;
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, _Bool preempted, struct task_struct *leaves, struct task_struct *comes,
	     unsigned int sleep)
{
	struct thread *it = bpf_task_storage_get(&threads, leaves, 0, 0);
	u64 now = 0;
	if (it) {
		now = bpf_ktime_get_ns();
		settle(leaves, it, now);
		if (preempted || !sleep)
			it->state = is_throttled(leaves) ? THROTTLED : RUNNABLE;
		else
			it->state = sleep_of(leaves, sleep, it);
	}
	it = bpf_task_storage_get(&threads, comes, 0, 0);
	if (it) {
		settle(comes, it, now ? now : bpf_ktime_get_ns());
		it->state = CPU;
	}
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(woken, struct task_struct *task)
{
	struct thread *it = bpf_task_storage_get(&threads, task, 0, 0);
	if (it && it->state > THROTTLED) {
		settle(task, it, bpf_ktime_get_ns());
		it->state = is_throttled(task) ? THROTTLED : RUNNABLE;
	}
	return 0;
}

#endif
