"""What QEMU's plugin that simulates caches has written, as rows of `counters`.

Its form is in `agent/plugins/writer.h`. It counts by translated blocks of code; here the blocks of
a function become one row for each event. Where only some sets are looked up, a miss stands for as
many as there are sets for one that is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.exchange.elf_symbols import functions

EVENTS = (
    *("instructions", "memory-accesses"),
    *("L1-dcache-misses", "L1-icache-misses", "L2-misses", "LLC-misses"),
)
COUNTED = frozenset(EVENTS[:2])
"""The others are sampled."""


@dataclass(frozen=True)
class Block:
    """A piece of code."""

    address: int
    """In its program, or its guest."""
    file: Path | None = None
    """Where it is from, and at which byte of it; None where that is not known."""
    offset: int = 0
    code: bytes = b""
    """Of a guest: how it begins."""


Name = Callable[[Block], tuple[str | None, str | None]]
"""Finds the binary and symbol of a block, None where they are not known."""


def by_file(block: Block) -> tuple[str | None, str | None]:
    """Name a program's code by the file that it was mapped from."""
    if block.file is None:
        return None, None
    return str(block.file), functions(block.file).at(block.offset)


def rows(path: Path, domain: str, name: Name = by_file) -> Iterator[dict[str, Any]]:
    """Read a file that may still be written; `UserError` if it is none of the plugin's."""
    with path.open("r", errors="surrogateescape") as lines:
        kind, _, one_in = (lines.readline().split() + [""] * 3)[:3]
        if kind != "cache" or not one_in.isdigit():
            raise UserError(f"{path}: is no file of the simulated cache's; name one that it wrote.")
        yield from _Reader(domain, name, int(one_in)).rows(lines)


class _Reader:
    def __init__(self, domain: str, name: Name, one_in: int) -> None:
        self._domain, self._name, self._one_in = domain, name, one_in
        self._names: dict[str, tuple[str | None, str | None]] = {"-": (None, None)}
        self._at: dict[str, int] = {}
        self._counts: Counter[tuple[int, str | None, str | None, str]] = Counter()

    def rows(self, lines: Iterator[str]) -> Iterator[dict[str, Any]]:
        for line in lines:
            if not line.endswith("\n"):
                break
            kind, *words = line.rstrip("\n").split(" ", 3)
            if kind == "count":
                self._count(*words)
            elif kind == "block":
                self._names[words[0]] = self._name(_block(*words[1:]))
            else:
                yield from self._tick()
                self._at = dict(zip(("t_ns", "dt_ns"), map(int, words), strict=False))
        yield from self._tick()

    def _count(self, cpu: str, block: str, counts: str) -> None:
        binary, symbol = self._names[block]
        for event, number in zip(EVENTS, counts.split(), strict=True):
            if number != "0":
                scale = 1 if event in COUNTED else self._one_in
                self._counts[int(cpu), binary, symbol, event] += scale * int(number)

    def _tick(self) -> Iterator[dict[str, Any]]:
        for (cpu, binary, symbol, event), number in self._counts.items():
            yield {
                **self._at,
                "cpu": cpu,
                "domain": self._domain,
                "binary": binary,
                "symbol": symbol,
                "event": event,
                "count": number,
                "source": "simulated",
                "period": None if event in COUNTED or self._one_in == 1 else self._one_in,
            }
        self._counts.clear()


def _block(address: str, rest: str) -> Block:
    first, _, path = rest.partition(" ")
    if not path:
        return Block(int(address, 16), code=bytes.fromhex(first))
    return (
        Block(int(address, 16))
        if path == "-"
        else Block(int(address, 16), Path(path), int(first, 16))
    )
