/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The few fields of the kernel's structures that the tracer reads. Where they lie is found when the
 * program is loaded, by the kernel's own type information (BPF CO-RE), so one object serves every
 * kernel that has these fields. */
#ifndef TIERLAB_KERNEL_H
#define TIERLAB_KERNEL_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
#if defined(__TARGET_ARCH_x86)
	unsigned long r14, di, si, dx, orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	u64 regs[31];
	u64 orig_x0;
	s32 syscallno;
#endif
};

struct inode {
	u16 i_mode;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};


struct task_struct {
	int pid;
	int tgid;
	unsigned int __state;
	unsigned long jobctl;
	struct files_struct *files;
	/* Since Linux 6.18: this thread waits for its group's next quota. */
	_Bool throttled;
};

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	unsigned short skc_family;
	struct {
		u8 in6_u[16];
	} skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	u8 sk_shutdown;
	u16 sk_protocol;
};

struct socket {
	short type;
	struct sock *sk;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct sock sk;
	struct unix_address *addr;
	struct sock *peer;
};

#pragma clang attribute pop

#endif
