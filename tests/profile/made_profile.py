"""A profile for a made run: two servers, an idle PU, and a simulated cache."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

from tierlab.tables.profile import add_profile
from tierlab.tables.rows import write_rows

RUNTIME_NS = made_run.START_NS + 5 * made_run.SECOND
HOSTILE = "<b>operator</b> </script>&"
TEN_MS = 10_000_000
JAVA = "void org.A.run(int)"
ROWS = [
    *[("app.1", "[JIT]", JAVA, ("start_thread", JAVA))] * 6,
    *[("app.1", "/usr/lib/libc.so.6", "memcpy", ("start_thread", JAVA, "memcpy"))] * 3,
    *[("app.1", "/usr/lib/libc.so.6", None, None)] * 1,
    *[("db.1", "/usr/sbin/mariadbd", HOSTILE, ("main", HOSTILE))] * 10,
    *[("idle", "[kernel.kallsyms]", "do_idle", None)] * 100,
]


def add(run: Path, more: Mapping[str, int] | None = None) -> None:
    """In the runtime, and once as much before it; of some functions so many samples more."""
    rows = [*ROWS, *(row for row in {*ROWS} for _ in range((more or {}).get(str(row[2]), 0)))]
    stacks = {frames: number for number, frames in enumerate({row[3] for row in ROWS} - {None})}
    numbered = ({"stack": n, "frames": frames} for frames, n in stacks.items())
    _write(run, _counters(stacks, rows), numbered)


def add_counted(run: Path) -> None:
    """What was counted at a tick of the runtime, where nothing was sampled."""
    where = {"cpu": 1, "domain": "app.1", "binary": None, "symbol": None, "stack": None}
    what = {"event": "page-faults", "count": 7, "source": "software", "period": None}
    _write(run, [{"t_ns": RUNTIME_NS, "dt_ns": 50_000_000, **where, **what}], [])


def _write(
    run: Path, counters: Iterable[Mapping[str, Any]], stacks: Iterable[Mapping[str, Any]]
) -> None:
    streams = run / "streams"
    streams.mkdir()
    for table, written in (("counters", counters), ("stacks", stacks)):
        write_rows(streams / f"{table}.arrows", table, written)
    add_profile(streams, run, "h")
    for path in streams.iterdir():
        path.unlink()
    streams.rmdir()


def _counters(stacks: dict[Any, int], rows: Sequence[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    base = {"dt_ns": 0, "cpu": 1, "event": "cpu-clock", "source": "software"}
    for moment in (RUNTIME_NS, made_run.START_NS - made_run.SECOND):
        for number, (domain, binary, symbol, frames) in enumerate(rows):
            yield base | {
                "t_ns": moment + number,
                "domain": domain,
                "binary": binary,
                "symbol": symbol,
                "count": TEN_MS,
                "period": TEN_MS,
                "stack": None if frames is None else stacks[frames],
            }
    # As a simulated cache counts: no samples, but so many in a stretch of time.
    yield {
        **base,
        **{"t_ns": RUNTIME_NS, "dt_ns": 50_000_000, "domain": "db.1", "event": "LLC-load-misses"},
        **{"source": "simulated", "count": 4_000, "period": None},
    }
