"""Programs of the kernel's by which 127.0.0.1 is each server's own, though all share a network.

Containers that each have a network of their own may all listen on one port, at all addresses or at
127.0.0.1, and ask themselves there. A trial's servers share a network, each with an address of its
own: BPF programs of the type "cgroup sock addr", attached to a control group of version 2, put
what its processes bind to all addresses or to 127.0.0.1, and connect to 127.0.0.1, to that address.
They go away with the group. A socket that is of IPv6 alone keeps its address.

Sources: bpf(2); ``struct bpf_sock_addr`` in include/uapi/linux/bpf.h of the Linux kernel.
"""

from __future__ import annotations

import socket
import struct
from pathlib import Path

from tierlab.environments.network.bpf import attach, instruction, load

SOCK_ADDR_PROGRAM = 18
BIND_4, BIND_6, CONNECT_4 = 8, 9, 10
IP_4, IP_6 = 4, (8, 12, 16, 20)
"""Where in the context the address is, in the order of the network."""
LOCALHOST = struct.unpack("=I", socket.inet_aton("127.0.0.1"))[0]
MAPPED = struct.unpack("=I", b"\0\0\xff\xff")[0]
"""The third of the four words of an IPv4 address in IPv6; RFC 4291, section 2.5.5.2."""
CONTEXT, WORD, NEW, RESULT = 1, 2, 3, 0


def give(group: Path, address: str) -> None:
    """Attach the programs to a group, for a server at `address`; OSError if the kernel refuses."""
    own = struct.unpack("=i", socket.inet_aton(address))[0]
    for program, at in (
        (_version_4(own, (0, LOCALHOST)), BIND_4),
        (_version_4(own, (LOCALHOST,)), CONNECT_4),
        (_version_6(own), BIND_6),
    ):
        attach(group, load(program, SOCK_ADDR_PROGRAM, at), at)


def _version_4(own: int, meant: tuple[int, ...]) -> bytes:
    """`if (ctx->user_ip4 is one of meant) ctx->user_ip4 = own; return 1`."""
    tests = [
        # A jump over what is left of the tests and one more, the jump to the end.
        instruction(0x16, WORD, offset=len(meant) - at, value=_signed(each))
        for at, each in enumerate(meant)
    ]
    return b"".join(
        [
            instruction(0x61, WORD, CONTEXT, IP_4),
            *tests,
            instruction(0x05, offset=2),
            instruction(0xB4, NEW, value=own),
            instruction(0x63, CONTEXT, NEW, IP_4),
            instruction(0xB7, RESULT, value=1),
            instruction(0x95),
        ]
    )


def _version_6(own: int) -> bytes:
    """`if (ctx->user_ip6 is all zeros) ctx->user_ip6 = ::ffff:own; return 1`."""
    written = [
        step
        for offset, value in zip(IP_6[2:], (_signed(MAPPED), own), strict=True)
        for step in (
            instruction(0xB4, NEW, value=value),
            instruction(0x63, CONTEXT, NEW, offset),
        )
    ]
    tests = [
        step
        for at, offset in enumerate(IP_6)
        for step in (
            instruction(0x61, WORD, CONTEXT, offset),
            # Over the tests that are left, two steps each, and what is written.
            instruction(0x56, WORD, offset=2 * (len(IP_6) - at - 1) + len(written), value=0),
        )
    ]
    return b"".join([*tests, *written, instruction(0xB7, RESULT, value=1), instruction(0x95)])


def _signed(word: int) -> int:
    signed: int = struct.unpack("=i", struct.pack("=I", word))[0]
    return signed
