"""What code is where in a guest: its kernel's functions, and the files that its programs run.

The kernel says both (proc(5): /proc/kallsyms, /proc/PID/maps). A guest's packages may be another
version than this host's, and QEMU tells of shared code only where the first process had it: a file
is taken for what ran only where the code in it is that, byte by byte.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tierlab.exchange.cache_counts import Block
from tierlab.exchange.elf_symbols import functions

KERNEL = "[kernel.kallsyms]"
JIT = "[JIT]"
"""As perf's profiles call what a runtime compiles."""
FIRST_KERNEL_ADDRESS = 1 << 63
PAGE = 4096
LEAST_CODE = 16
"""Bytes that are looked for in whole files: fewer are in too many places."""

FUNCTIONS = "grep -i ' t ' /proc/kallsyms"
CODE = "cat /proc/[0-9]*/maps 2>/dev/null | grep '^[^ ]* ..x' | sort -u"
"""Scripts for a guest's shell, as root."""

Binary = tuple[str | None, str | None]
"""With its symbol."""


class GuestCode:
    """Names a guest's blocks of code."""

    def __init__(self, ask: Callable[[str], str], also: Iterable[Path] = ()) -> None:
        """`ask` has the guest's shell run a script; what it says. `also`: files that run there
        between two looks.
        """
        found = sorted(
            (int(address, 16), symbol)
            for address, _, symbol, *_ in (line.split() for line in ask(FUNCTIONS).splitlines())
        )
        self._addresses = [address for address, _ in found]
        self._symbols = [symbol for _, symbol in found]
        self._files = dict.fromkeys(also)
        self._mapped: list[_Mapped] = []
        self.look(ask)

    def look(self, ask: Callable[[str], str]) -> None:
        """Learn what runs now."""
        for line in ask(CODE).splitlines():
            mapped = _mapped(line)
            self._mapped.append(mapped)
            if mapped.path is not None:
                self._files[mapped.path] = None

    def name(self, block: Block) -> Binary:
        """Binary and symbol of a block, None where they are not known."""
        if block.address >= FIRST_KERNEL_ADDRESS:
            last = bisect.bisect_right(self._addresses, block.address) - 1
            return KERNEL, self._symbols[last] if last >= 0 else None
        there = [each for each in self._mapped if each.start <= block.address < each.end]
        for each in there:
            at = block.address - each.start + each.offset
            if each.path is not None and _is_at(each.path, at, block.code):
                return str(each.path), functions(each.path).at(at)
        found = [(path, at) for path in self._files for at in _places(path, block)]
        if len(found) == 1:
            path, at = found[0]
            return str(path), functions(path).at(at)
        return (JIT if any(each.path is None for each in there) else None), None


@dataclass(frozen=True)
class _Mapped:
    start: int
    end: int
    offset: int
    path: Path | None
    """None where no file is."""


def _mapped(line: str) -> _Mapped:
    where, _, offset, _, _, *path = line.split(maxsplit=5)
    start, _, end = where.partition("-")
    is_file = bool(path) and path[0].startswith("/")
    return _Mapped(
        int(start, 16), int(end, 16), int(offset, 16), Path(path[0]) if is_file else None
    )


def _is_at(path: Path, at: int, code: bytes) -> bool:
    return bool(code) and _content(path)[at : at + len(code)].tobytes() == code


def _places(path: Path, block: Block) -> list[int]:
    """Where in the file the block's code may be: a file is mapped by whole pages."""
    if len(block.code) < LEAST_CODE:
        return []
    places = _content(path)[block.address % PAGE :]
    pages = places[: len(places) // PAGE * PAGE].reshape(-1, PAGE)
    alike = pages[:, :LEAST_CODE] == np.frombuffer(block.code[:LEAST_CODE], np.uint8)
    found = (np.flatnonzero(alike.all(axis=1)) * PAGE + block.address % PAGE).tolist()
    return [at for at in found if _is_at(path, at, block.code)]


@cache
def _content(path: Path) -> NDArray[np.uint8]:
    try:
        return np.frombuffer(path.read_bytes() + bytes(PAGE), np.uint8)
    except OSError:
        return np.empty(0, np.uint8)
