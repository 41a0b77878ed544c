/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which processes are traced, and who works on requests in them. */
#ifndef TIERLAB_WORKERS_H
#define TIERLAB_WORKERS_H

#include "calls.h"
#include "maps.h"

#define CLONE_THREAD 0x10000

SEC("tp_btf/task_newtask")
int BPF_PROG(forked, struct task_struct *child, u64 flags)
{
	if (flags & CLONE_THREAD)
		return 0;
	u32 parent = bpf_get_current_pid_tgid() >> 32;
	u32 *subject = bpf_map_lookup_elem(&processes, &parent);
	if (subject) {
		u32 process = child->tgid, of = *subject;
		bpf_map_update_elem(&processes, &process, &of, BPF_ANY);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(ended, struct task_struct *task)
{
	u32 process = task->tgid;
	if (task->pid == task->tgid)
		bpf_map_delete_elem(&processes, &process);
	return 0;
}

/* The calling thread of a subject; none if it is left out. */
static __always_inline struct thread *calling(struct task_struct *task, u64 now, u32 of)
{
	u32 subject = of & ~GO;
	struct subject *about = bpf_map_lookup_elem(&subjects, &subject);
	u32 hashed = ((u32)task->pid * 2654435761u) >> 16;
	if (!about || hashed & about->left_out)
		return 0;
	__sync_fetch_and_add(&about->events, 1);
	struct thread *it =
		bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (it && !it->since)
		it->since = now;
	return it;
}

static __always_inline u64 worker_of(struct task_struct *task, u32 of)
{
	u64 goroutine = 0;
	if (of & GO)
		goroutine = GOROUTINE((struct pt_regs *)bpf_task_pt_regs(task));
	return goroutine ? goroutine : task->pid;
}

#endif
