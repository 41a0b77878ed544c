/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Turns at UNIX sockets, with what was said there; and at TCP sockets of kernels that have no tracepoint
 * for these. */
#ifndef TIERLAB_UNIX_H
#define TIERLAB_UNIX_H

#include "tcp.h"

#define AF_UNIX 1
#define SOCK_STREAM 1
#define S_IFMT 0170000
#define S_IFSOCK 0140000

struct user_vector {
	u64 base;
	u64 length;
};

#define MOST_VECTORS 16

static __always_inline void read_path(struct unix_event *out, struct unix_address *address)
{
	s32 length = BPF_CORE_READ(address, len) - (s32)sizeof(unsigned short);
	if (length <= 0)
		return;
	if (length > PATH)
		length = PATH;
	out->path_length = length;
	/* `name` has no length of its own: the path follows the family, of two bytes. */
	u64 at = __builtin_preserve_field_info(address->name, BPF_FIELD_BYTE_OFFSET);
	bpf_probe_read_kernel(out->path, sizeof(out->path),
			      (u8 *)address + at + sizeof(unsigned short));
}

/* Copies what a system call moved, as far as there is room; returns how much that is. */
static __always_inline u32 copy(struct unix_event *out, struct pt_regs *regs, int call, u32 bytes)
{
	u64 base = SECOND(regs), count = 1;
	_Bool is_vector = 0;
	if (call == NR_readv || call == NR_writev) {
		is_vector = 1;
		count = THIRD(regs);
	} else if (call == NR_sendmsg || call == NR_recvmsg) {
		/* struct user_msghdr: msg_iov and msg_iovlen. */
		u64 vector[2] = {};
		bpf_probe_read_user(vector, sizeof(vector), (void *)(base + 16));
		is_vector = 1;
		base = vector[0];
		count = vector[1];
	}
	if (bytes > MOST_BYTES - 1)
		bytes = MOST_BYTES - 1;
	u32 done = 0;
	for (int at = 0; at < MOST_VECTORS; at++) {
		if (at >= count || done >= bytes)
			break;
		struct user_vector part = { base, bytes };
		if (is_vector)
			bpf_probe_read_user(&part, sizeof(part), (void *)(base + at * sizeof(part)));
		u64 length = part.length;
		if (length > bytes - done)
			length = bytes - done;
		length &= MOST_BYTES - 1;
		done &= MOST_BYTES - 1;
		if (bpf_probe_read_user(&out->data[done], length, (void *)part.base))
			break;
		done += length;
	}
	return done & (MOST_BYTES - 1);
}

static __always_inline u8 direction_of(int call)
{
	switch (call) {
	case NR_read: case NR_readv: case NR_recvfrom: case NR_recvmsg:
		return RECEIVED;
	case NR_write: case NR_writev: case NR_sendto: case NR_sendmsg:
		return SENT;
	}
	return NO_DIRECTION;
}

static __always_inline struct socket *socket_of(struct task_struct *task, u64 descriptor,
						u64 *inode)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	if (descriptor >= BPF_CORE_READ(table, max_fds))
		return 0;
	struct file **files = BPF_CORE_READ(table, fd), *file = 0;
	bpf_probe_read_kernel(&file, sizeof(file), files + descriptor);
	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	*inode = BPF_CORE_READ(file, f_inode, i_ino);
	return BPF_CORE_READ(file, private_data);
}

static __always_inline int unix_turn(struct pt_regs *regs, struct task_struct *task,
				     struct sock *sk, u64 inode, int call, int bytes, u8 direction,
				     u32 of)
{
	u32 cpu = bpf_get_smp_processor_id();
	u64 now = bpf_ktime_get_ns();
	struct unix_sock *own = (struct unix_sock *)sk;
	struct unix_sock *other = (struct unix_sock *)BPF_CORE_READ(own, peer);
	struct unix_address *bound = BPF_CORE_READ(own, addr);
	u8 role = SERVER;
	if (!bound || BPF_CORE_READ(bound, len) <= (s32)sizeof(unsigned short)) {
		role = CLIENT;
		bound = BPF_CORE_READ(other, addr);
	}
	if (bytes && is_over(sk, role, direction))
		return 0;
	struct unix_event *out = bpf_map_lookup_elem(&scratch, &cpu);
	if (!out)
		return 0;
	out->path_length = 0;
	if (bound)
		read_path(out, bound);
	if (!out->path_length)
		return 0;
	struct thread *it = calling(task, now, of);
	if (!it)
		return 0;
	settle(task, it, now);
	_Bool does_overlap = 0;
	if (bytes) {
		now_waits(it, role);
		does_overlap = overlaps(it, (u64)sk, role, direction) && !(of & GO);
	}
	if (role == CLIENT && direction == RECEIVED && bytes)
		return 0;
	fill(&out->event, it, now, of);
	out->event.overlaps = does_overlap;
	out->inode = inode;
	out->event.socket = (u64)sk;
	out->event.peer = (u64)other;
	out->event.bytes = bytes;
	out->event.direction = direction;
	out->event.role = role;
	out->event.family = AF_UNIX;
	/* What a client writes is what its server reads. */
	u32 copied = role == SERVER ? copy(out, regs, call, bytes) : 0;
	u64 size = __builtin_offsetof(struct unix_event, data) + copied;
	if (bpf_ringbuf_output(&events, out, size, BPF_RB_NO_WAKEUP))
		count_lost();
	if (role == SERVER && direction == RECEIVED)
		it->longest_other = 0;
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ended, struct pt_regs *regs, long result)
{
	if (result < 0)
		return 0;
	int call = NUMBER(regs);
	u8 direction = direction_of(call);
	if (call == NR_close) {
		/* As above; which socket it was cannot be told any more. */
		struct thread *closes =
			bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
		if (closes)
			closes->calls = 0;
		return 0;
	}
	/* A read of nothing is the end of what the other side writes. */
	if (direction == NO_DIRECTION || (!result && direction == SENT))
		return 0;
	struct task_struct *task = bpf_get_current_task_btf();
	u32 process = task->tgid;
	u32 *subject = bpf_map_lookup_elem(&processes, &process);
	if (!subject)
		return 0;
	u64 inode = 0;
	struct socket *socket = socket_of(task, FIRST(regs), &inode);
	if (!socket || BPF_CORE_READ(socket, type) != SOCK_STREAM)
		return 0;
	struct sock *sk = BPF_CORE_READ(socket, sk);
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (family == AF_UNIX)
		return unix_turn(regs, task, sk, inode, call, result, direction, *subject);
	if (result && inet_by_syscalls && (family == AF_INET || family == AF_INET6))
		return inet_turn(sk, family, result, direction, *subject);
	return 0;
}

#endif
