"""Whether addresses in an access log are one person's each, or a proxy's for many.

A proxy's requests look like one visitor's. What tells them apart is how often it asks. A session of
an address is a crowd's if, without what a page's program asks for by itself, one of these holds:

1. It has at least 20 pages, and 8 % of them or more were asked for in the same second as the one
   before. A person does not read two pages in a second.
2. It has at least 40 pages, and they follow each other after 5 s or less in the mean.
3. It has over 100 pages: hardly anybody goes on so long without half an hour's pause.
4. It has at least 40 requests, and for 60 % of its time no pause is over a second.

Programs (crawlers, load tests) do the same. A tester who clicks for some minutes does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tierlab.exchange.access_log import Line
from tierlab.workloads.own.asked import seconds_between
from tierlab.workloads.own.page_kinds import kind

SHARE = 0.25
"""Share of the requests in sessions of crowds from which on it is said."""
FEWEST, SAME_SECOND = 20, 0.08
MANY, MEAN_S = 40, 5.0
MOST = 100
BUSY_SHARE = 0.6
BY_ITSELF = 0.6
"""A kind of page that comes in the same second as the request before it this often was asked for by
a page's program."""
AT_ONCE_S = 1.0

Visit = Sequence[Line]


def crowded(visits: Sequence[Visit]) -> list[Visit]:
    """Return the sessions of crowds, if they have `SHARE` of the requests; otherwise none."""
    dependent = _dependent(visits)
    found = [visit for visit in visits if _is_crowds(visit, dependent)]
    share = sum(map(len, found)) / max(sum(map(len, visits)), 1)
    return found if share >= SHARE else []


def _is_crowds(visit: Visit, dependent: set[str]) -> bool:
    if len(visit) < FEWEST:
        return False
    lasts = seconds_between(visit[0], visit[-1])
    gaps = [seconds_between(before, after) for before, after in pairwise(visit)]
    if len(visit) >= MANY and sum(gap for gap in gaps if gap <= AT_ONCE_S) >= lasts * BUSY_SHARE:
        return True
    pages = list(_by_hand(visit, dependent))
    if len(pages) < FEWEST:
        return False
    alike = sum(_second(before) == _second(after) for before, after in pairwise(pages))
    quick = alike >= SAME_SECOND * len(pages)
    busy = len(pages) >= MANY and lasts / len(pages) <= MEAN_S
    return quick or busy or len(pages) > MOST


def _by_hand(visit: Visit, dependent: set[str]) -> Iterator[Line]:
    """Yield the pages that neither a program nor a redirection has asked for."""
    before: Line | None = None
    for line in visit:
        led = before is not None and before.status // 100 == 3 and before.status != 304
        if not led and kind(line.target) not in dependent:
            yield line
        before = line


def _dependent(visits: Sequence[Visit]) -> set[str]:
    """Return the kinds of page that mostly come in the same second as the request before them."""
    seen: Counter[str] = Counter()
    follows: Counter[str] = Counter()
    for visit in visits:
        seen.update(kind(line.target) for line in visit)
        follows.update(
            kind(after.target)
            for before, after in pairwise(visit)
            if _second(before) == _second(after)
        )
    return {name for name, count in follows.items() if count >= seen[name] * BY_ITSELF}


def _second(line: Line) -> int:
    return line.time_ns // 1_000_000_000
