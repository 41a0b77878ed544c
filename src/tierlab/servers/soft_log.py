"""The application server's own gauges: how much of its soft resources was in use, and waited for.

A line is nanoseconds since the epoch and, for each resource, ``name=in use/waiting/limit`` with
``-`` for what is not known (``org.tierlab.rubbos.soft.Gauges``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE = re.compile(r"(\d+)((?: \w+=\d+/(?:\d+|-)/\d+)+)\n")
_GAUGE = re.compile(r"(\w+)=(\d+)/(\d+|-)/(\d+)")


@dataclass(frozen=True)
class Use:
    """One resource at one moment."""

    t_ns: int
    dt_ns: int
    resource: str
    in_use: int
    waiting: int | None
    limit: int


def uses(log: Iterable[str]) -> Iterator[Use]:
    """Read a log into what each line but the first says; a last line that was cut is passed over.

    Lines that go back in time (the clock was set) begin anew like the first.
    """
    before: int | None = None
    for match in map(_LINE.fullmatch, log):
        if match is None:
            continue
        t_ns = int(match[1])
        if before is not None and t_ns > before:
            for name, in_use, waiting, limit in _GAUGE.findall(match[2]):
                waits = None if waiting == "-" else int(waiting)
                yield Use(t_ns, t_ns - before, name, int(in_use), waits, int(limit))
        before = t_ns
