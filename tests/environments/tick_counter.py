"""How often this machine's time stamp counter ticks, which no file of the kernel's tells."""

from __future__ import annotations

import ctypes
import mmap
import time

READ_IT = bytes.fromhex("0f31 48c1e220 4809d0 c3")
"""rdtsc; shl rdx, 32; or rax, rdx; ret."""
SECONDS, TRIES = 0.2, 20


def khz() -> int:
    """Measured against the monotonic clock, to a millionth or so."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(READ_IT)
    counter = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

    def reading() -> tuple[int, int]:
        """Of clock and counter: the one pair of some that was taken in the least time."""
        tries = []
        for _ in range(TRIES):
            before, ticks, after = time.monotonic_ns(), counter(), time.monotonic_ns()
            tries.append((after - before, before, ticks))
        _, at_ns, ticks = min(tries)
        return at_ns, ticks

    first_ns, first = reading()
    time.sleep(SECONDS)
    last_ns, last = reading()
    return (last - first) * 1_000_000 // (last_ns - first_ns)
