"""What code is where in a guest: its kernel's functions, and the files that its programs run.

The kernel says both (proc(5): /proc/kallsyms, /proc/PID/maps). A guest's packages may be another
version than this host's: a file here is asked only for code that is, byte by byte, what ran there.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tierlab.exchange.cache_counts import Block
from tierlab.exchange.elf_symbols import functions

KERNEL = "[kernel.kallsyms]"
"""As perf calls it."""
FIRST_KERNEL_ADDRESS = 1 << 63

_FUNCTIONS = "grep -i ' t ' /proc/kallsyms"
_CODE = "cat /proc/[0-9]*/maps 2>/dev/null | grep ' r-xp ' | sort -u"


class GuestCode:
    """Names a guest's blocks of code."""

    def __init__(self, ask: Callable[[str], str]) -> None:
        """`ask` has the guest's shell run a script as root; what it says."""
        found = sorted(
            (int(address, 16), symbol)
            for address, _, symbol, *_ in (line.split() for line in ask(_FUNCTIONS).splitlines())
        )
        self._addresses = [address for address, _ in found]
        self._symbols = [symbol for _, symbol in found]
        self._mapped = [_mapped(line) for line in ask(_CODE).splitlines()]

    def name(self, block: Block) -> tuple[str | None, str | None]:
        """Binary and symbol of a block, None where they are not known."""
        if block.address >= FIRST_KERNEL_ADDRESS:
            last = bisect.bisect_right(self._addresses, block.address) - 1
            return KERNEL, self._symbols[last] if last >= 0 else None
        for start, end, offset, path in self._mapped:
            if start <= block.address < end and path.startswith("/"):
                at = block.address - start + offset
                if _has(Path(path), at, block.code):
                    return path, functions(Path(path)).at(at)
        return None, None


def _mapped(line: str) -> tuple[int, int, int, str]:
    words = line.split(maxsplit=5)
    start, _, end = words[0].partition("-")
    return int(start, 16), int(end, 16), int(words[2], 16), words[5] if len(words) > 5 else ""


def _has(path: Path, at: int, code: bytes) -> bool:
    return bool(code) and _content(path)[at : at + len(code)] == code


@cache
def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
