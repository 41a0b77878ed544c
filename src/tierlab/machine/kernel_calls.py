"""The few system calls that Python does not offer, with OSError for their failures.

Numbers and structures: linux/perf_event.h, linux/bpf.h, asm/unistd.h, unshare(2), setns(2),
mount(2).
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWNET = 0x4000_0000
MS_REC_PRIVATE = 0x4000 | 0x4_0000
PERF_TYPE_HARDWARE = 0
PERF_TYPE_SOFTWARE = 1
PERF_TYPE_HW_CACHE = 3
PERF_COUNT_HW_CYCLES = 0
PERF_COUNT_HW_INSTRUCTIONS = 1
PERF_COUNT_HW_CACHE_REFERENCES = 2
PERF_COUNT_HW_CACHE_MISSES = 3
PERF_COUNT_HW_BRANCH_MISSES = 5
PERF_COUNT_HW_CACHE_LL = 2
PERF_COUNT_HW_CACHE_DTLB = 3
PERF_COUNT_HW_CACHE_MISS = 1 << 16
"""Of loads, whose bits are 0: those that missed."""
PERF_COUNT_SW_CPU_CLOCK = 0
BPF_SOCKET_FILTER = 1
BPF_RAW_TRACEPOINT = 17
BPF_RETURN_ZERO = struct.pack("<BBhi", 0xB7, 0, 0, 0) + struct.pack("<BBhi", 0x95, 0, 0, 0)
"""`r0 = 0; exit`: the shortest program that the verifier passes."""

_NUMBERS = {
    "x86_64": {"perf_event_open": 298, "bpf": 321},
    "aarch64": {"perf_event_open": 241, "bpf": 280},
}
_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _system_call(
    name: str, *arguments: ctypes._SimpleCData[int] | ctypes.Array[ctypes.c_char]
) -> int:
    numbers = _NUMBERS.get(platform.machine())
    if numbers is None:
        raise OSError(0, f"{name} is not known for {platform.machine()}")
    return _checked(_libc.syscall(ctypes.c_long(numbers[name]), *arguments))


def in_own_thread(work: Callable[[], T]) -> T:
    """Do some work in a thread that ends with it: `unshare` and `setns` move only their thread."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="tierlab-own-namespace")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def unshare(flags: int) -> None:
    """Have the calling thread leave the namespaces in `flags` for new ones."""
    _checked(_libc.unshare(ctypes.c_int(flags)))


def setns(namespace: int) -> None:
    """Have the calling thread join the namespace of this descriptor, whatever kind it is of."""
    _checked(_libc.setns(ctypes.c_int(namespace), ctypes.c_int(0)))


def mount(source: str, target: Path, kind: str, flags: int = 0) -> None:
    """Mount a filesystem of this kind."""
    _checked(
        _libc.mount(
            source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), None
        )
    )


def perf_event_open(kind: int, config: int) -> int:
    """A descriptor that counts this event of everybody's, the kernel included, on the first CPU."""
    attribute = ctypes.create_string_buffer(128)
    struct.pack_into("<IIQ", attribute, 0, kind, 128, config)
    return _system_call(
        "perf_event_open",
        attribute,
        ctypes.c_int(-1),
        ctypes.c_int(0),
        ctypes.c_int(-1),
        ctypes.c_ulong(0),
    )


def bpf_attach_raw_tracepoint(program: int, name: str) -> int:
    """A descriptor that keeps the program attached (BPF_RAW_TRACEPOINT_OPEN)."""
    tracepoint = ctypes.create_string_buffer(name.encode())
    attribute = ctypes.create_string_buffer(128)
    struct.pack_into("<QI", attribute, 0, ctypes.addressof(tracepoint), program)
    raw_tracepoint_open = 17
    return _system_call("bpf", ctypes.c_int(raw_tracepoint_open), attribute, ctypes.c_uint(128))


def bpf_load(instructions: bytes, kind: int) -> int:
    """A descriptor of the program, once the kernel's verifier has passed it (BPF_PROG_LOAD)."""
    code = ctypes.create_string_buffer(instructions, len(instructions))
    licence = ctypes.create_string_buffer(b"Apache-2.0")
    attribute = ctypes.create_string_buffer(128)
    struct.pack_into(
        "<IIQQ",
        attribute,
        0,
        kind,
        len(instructions) // 8,
        ctypes.addressof(code),
        ctypes.addressof(licence),
    )
    load_program = 5
    return _system_call("bpf", ctypes.c_int(load_program), attribute, ctypes.c_uint(128))
