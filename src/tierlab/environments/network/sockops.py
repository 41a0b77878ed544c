"""A program of the kernel's that says how long to wait for the answer to a SYN.

The first wait is TCP_TIMEOUT_INIT, 1 s, built into the kernel; no sysctl or route changes it. A
BPF program of the type "sock ops", attached to a control group of version 2, is asked for it by
the connections of the processes in that group (and those below it), with each wait twice the one
before. The program is seven instructions and goes away with the group.

Sources: bpf(2); ``BPF_SOCK_OPS_TIMEOUT_INIT`` in include/uapi/linux/bpf.h;
samples/bpf/tcp_synrto_kern.c of the Linux kernel.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from tierlab.environments.network.bpf import attach, instruction, load

SOCK_OPS_PROGRAM = 13
AT_SOCK_OPS = 3
TIMEOUT_INIT = 1

CLOCK_REALTIME_COARSE = 5
"""Its resolution is a tick of the kernel's, the unit of the reply; clock_getres(2)."""


def set_syn_timeout(group: Path, seconds: int) -> None:
    """Have connections of the group's processes wait `seconds` before a SYN is sent again.

    OSError if the kernel refuses, or has no such system call.
    """
    attach(group, load(_timeout_program(seconds), SOCK_OPS_PROGRAM), AT_SOCK_OPS)


def refusal() -> str | None:
    """Say why the kernel takes no such program from this user; None if it does."""
    try:
        os.close(load(_timeout_program(1), SOCK_OPS_PROGRAM))
    except OSError as error:
        return f"the kernel takes no BPF program of it ({error.strerror})"
    return None


def _timeout_program(seconds: int) -> bytes:
    """`ctx->reply = ctx->op == TIMEOUT_INIT ? seconds * HZ : -1; return 1`."""
    hz = round(1 / time.clock_getres(CLOCK_REALTIME_COARSE))
    reply_in_r3, context, op, reply = 3, 1, 0, 4
    return b"".join(
        [
            instruction(0x61, 2, context, op),  # r2 = ctx->op
            instruction(0xB7, 3, value=-1),  # r3 = -1: as it would be without us
            instruction(0x55, 2, offset=1, value=TIMEOUT_INIT),  # if r2 != TIMEOUT_INIT skip one
            instruction(0xB7, 3, value=seconds * hz),
            instruction(0x63, context, reply_in_r3, reply),  # ctx->reply = r3
            instruction(0xB7, 0, value=1),  # r0 = 1
            instruction(0x95),  # return r0
        ]
    )
