"""A server's soft resources are written as what they are: counts, times or sizes."""

from __future__ import annotations

from tierlab.report.frame import environment
from tierlab.servers.kinds import KINDS
from tierlab.values.kinds import Duration, Size

WRITTEN = environment().filters["soft"]


def test_every_size_and_time_has_its_unit() -> None:
    """PostgreSQL's work memory and Redis' memory were numbers of millions."""
    seen = set()
    for kind in KINDS.values():
        for each in kind.soft_resources.values():
            seen.add(type(each.kind))
            if isinstance(each.kind, Size):
                assert WRITTEN(4 << 20, each.name) == "4 MiB", each.name
            elif isinstance(each.kind, Duration):
                assert WRITTEN(5_000_000_000, each.name) == "5 s", each.name
            else:
                assert WRITTEN(4_096, each.name) == "4,096", each.name
    assert {Size, Duration} < seen
