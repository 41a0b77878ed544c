// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Which thread reads and writes what at which socket, and what it waits for in between.
 *
 * Runs in the kernel. Times by state are added up here for each thread; user space gets one event
 * for each turn at a socket, with the sums so far, so that the cost does not grow with the number of
 * context switches that a request takes.
 *
 * Reading what a program wrote to a UNIX socket needs a helper that the kernel gives to programs
 * under the GPL alone: this file's licence differs from the rest of Tierlab (see NOTICE).
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define SOCK_STREAM 1
#define MSG_PEEK 2
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define CLONE_THREAD 0x10000
#define TCP_SYN_SENT 2
#define TCP_CLOSE 7
#define SEND_SHUTDOWN 2

/* include/linux/sched.h */
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED 0x0004
#define TASK_TRACED 0x0008
#define TASK_NOLOAD 0x0400
#define TASK_FROZEN 0x8000
#define JOBCTL_TRAP_FREEZE (1ul << 23)

#if defined(__TARGET_ARCH_x86)
enum {
	NR_read = 0, NR_write = 1, NR_close = 3, NR_poll = 7, NR_readv = 19, NR_writev = 20,
	NR_select = 23, NR_sendfile = 40, NR_connect = 42, NR_sendto = 44, NR_recvfrom = 45,
	NR_sendmsg = 46, NR_recvmsg = 47, NR_semop = 65, NR_flock = 73, NR_futex = 202,
	NR_epoll_wait = 232,
	NR_semtimedop = 220, NR_pselect6 = 270, NR_ppoll = 271, NR_epoll_pwait = 281,
	NR_io_uring_enter = 426, NR_epoll_pwait2 = 441, NR_futex_waitv = 449, NR_futex_wait = 455,
};
#define NUMBER(regs) ((int)(regs)->orig_ax)
/* Where Go keeps the running goroutine (cmd/compile/abi-internal.md: "current goroutine"). */
#define GOROUTINE(regs) ((regs)->r14)
#define FIRST(regs) ((regs)->di)
#define SECOND(regs) ((regs)->si)
#define THIRD(regs) ((regs)->dx)
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
#define NUMBER(regs) ((regs)->syscallno)
#define GOROUTINE(regs) ((regs)->regs[28])
#define FIRST(regs) ((regs)->orig_x0)
#define SECOND(regs) ((regs)->regs[1])
#define THIRD(regs) ((regs)->regs[2])
#else
#error "no system call numbers for this architecture"
#endif

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

/* ---- Threads: what they wait for -------------------------------------------------------------- */

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

/* ---- Processes -------------------------------------------------------------------------------- */

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

/* ---- Sockets ---------------------------------------------------------------------------------- */

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

/* ---- UNIX sockets, and kernels without the two tracepoints above ------------------------------ */

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
