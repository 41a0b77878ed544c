"""A server's own log of when its thread stood still: a line each, of the start (ns since the
epoch), the length (ns), the kind and more words (`nodejs_preload.cjs` writes it)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE = re.compile(r"(\d+) (\d+) (gc|loop) (.*)\n")


@dataclass(frozen=True)
class Stop:
    """The thread stood still: for a collection (`gc`), or in one piece of work (`loop`)."""

    start_ns: int
    duration_ns: int
    kind: str
    words: str


def stops(log: Iterable[str]) -> Iterator[Stop]:
    """Read a log; a last line that was cut is passed over."""
    for match in map(_LINE.fullmatch, log):
        if match is not None:
            yield Stop(int(match[1]), int(match[2]), match[3], match[4])
