/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Turns at TCP sockets: which thread read or wrote there. */
#ifndef TIERLAB_TCP_H
#define TIERLAB_TCP_H

#include "states.h"
#include "workers.h"

#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define MSG_PEEK 2
#define TCP_SYN_SENT 2
#define TCP_CLOSE 7
#define SEND_SHUTDOWN 2

/* What a thread waits for that sleeps until bytes come: once it has called, for the reply and the
 * rest of it, until it turns to its own client again. */
static __always_inline void now_waits(struct thread *it, u8 role)
{
	it->waits = role == CLIENT ? CALL : 0;
}

/* A thread that works on one request until it has replied has one call under way at a time. One that
 * runs whatever is ready (an event loop, coroutines) does something else meanwhile. */
static __always_inline _Bool overlaps(struct thread *it, u64 socket, u8 role, u8 direction)
{
	if (role == SERVER)
		return direction == SENT && it->calls;
	_Bool does = direction == SENT && it->calls && it->calls != socket;
	if (direction == SENT)
		it->calls = socket;
	else if (it->calls == socket)
		it->calls = 0;
	return does;
}

static __always_inline void fill(struct event *event, struct thread *it, u64 now, u32 of)
{
	u64 both = bpf_get_current_pid_tgid();
	event->at = now;
	event->process = both >> 32;
	event->thread = (u32)both;
	event->worker = worker_of(bpf_get_current_task_btf(), of);
	event->subject = of & ~GO;
	event->longest_call = it->longest_other ? it->longest_call : (u32)-1;
	__builtin_memcpy(event->sums, it->sums, sizeof(event->sums));
}

static __always_inline u8 role_of(u16 local, u16 remote)
{
	if (bpf_map_lookup_elem(&ports, &local))
		return SERVER;
	return bpf_map_lookup_elem(&ports, &remote) ? CLIENT : NO_ROLE;
}

/* What a server reads after it has said its last is no request: PHP empties the socket before it goes
 * on with what it does after the reply. */
static __always_inline _Bool is_over(struct sock *sk, u8 role, u8 direction)
{
	return role == SERVER && direction == RECEIVED &&
	       BPF_CORE_READ(sk, sk_shutdown) & SEND_SHUTDOWN;
}

/* Bytes went to or came from a TCP socket. Reads that go on with what the same thread began to read
 * are no turns, nor is what a client reads; each write of a server is one, as any may be the last. */
static __always_inline int inet_turn(struct sock *sk, u16 family, int bytes, u8 direction,
				     u32 of)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u16 local = BPF_CORE_READ(sk, __sk_common.skc_num);
	u16 remote = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	u64 socket = (u64)sk, now = bpf_ktime_get_ns();
	struct thread *it = calling(task, now, of);
	if (!it)
		return 0;
	u64 worker = worker_of(task, of);
	u32 ends = (u32)local << 16 | remote;
	struct socket_turn *known = bpf_map_lookup_elem(&sockets, &socket);
	_Bool is_same = known && known->ends == ends;
	u8 role = is_same ? known->role : role_of(local, remote);
	if (role == NO_ROLE || is_over(sk, role, direction))
		return 0;
	_Bool goes_on = is_same && known->worker == worker && known->direction == direction;
	now_waits(it, role);
	_Bool does_overlap = overlaps(it, socket, role, direction) && !(of & GO);
	if (!known) {
		struct socket_turn turn = { worker, ends, direction, role };
		bpf_map_update_elem(&sockets, &socket, &turn, BPF_ANY);
	} else if (!goes_on) {
		/* In place: an update of the map takes several times as long. */
		known->ends = ends;
		known->worker = worker;
		known->direction = direction;
		known->role = role;
	}
	_Bool is_told = role == SERVER ? direction == SENT || !goes_on
				       : direction == SENT && !goes_on;
	if (!is_told)
		return 0;
	settle(task, it, now);
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_lost();
		return 0;
	}
	fill(event, it, now, of);
	event->overlaps = does_overlap;
	event->socket = socket;
	event->peer = 0;
	event->bytes = bytes;
	event->local_port = local;
	event->remote_port = remote;
	event->direction = direction;
	event->role = role;
	event->family = family;
	if (family == AF_INET) {
		u32 own = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		u32 other = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		__builtin_memcpy(event->local, &own, 4);
		__builtin_memcpy(event->remote, &other, 4);
	} else {
		BPF_CORE_READ_INTO(&event->local, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&event->remote, sk, __sk_common.skc_v6_daddr);
	}
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	if (role == SERVER && direction == RECEIVED)
		it->longest_other = 0;
	return 0;
}

static __always_inline int passed(struct sock *sk, int bytes, int flags, u8 direction)
{
	/* First, as it costs a server that is not traced any more at each message. */
	u32 process = bpf_get_current_pid_tgid() >> 32;
	u32 *subject = bpf_map_lookup_elem(&processes, &process);
	if (!subject)
		return 0;
	if (bytes <= 0 || (direction == RECEIVED && flags & MSG_PEEK))
		return 0;
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (family != AF_INET && family != AF_INET6)
		return 0;
	if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	return inet_turn(sk, family, bytes, direction, *subject);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(socket_sent, struct sock *sk, int bytes, int flags)
{
	return passed(sk, bytes, flags, SENT);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(socket_received, struct sock *sk, int bytes, int flags)
{
	return passed(sk, bytes, flags, RECEIVED);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(changed_state, struct sock *sk, int from, int to)
{
	u64 socket = (u64)sk;
	if (to == TCP_CLOSE)
		bpf_map_delete_elem(&sockets, &socket);
	if (to != TCP_SYN_SENT) {
		/* A client that says goodbye waits for no reply. */
		struct thread *closes =
			bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
		if (closes && closes->calls == socket)
			closes->calls = 0;
		return 0;
	}
	u16 remote = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (!bpf_map_lookup_elem(&ports, &remote))
		return 0;
	struct thread *it = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (it)
		it->waits = CONNECTING;
	return 0;
}

#endif
