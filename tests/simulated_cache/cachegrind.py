"""valgrind's cachegrind: the same program's misses by its own model of a first and a last level.

Its output's form: "Cachegrind Output File Format", https://valgrind.org/docs/manual/cg-manual.html
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

from tierlab.machine.caches import Caches, Level

SUMS = {
    "instructions": ("Ir",),
    "L1-dcache-misses": ("D1mr", "D1mw"),
    "L1-icache-misses": ("I1mr",),
    "LLC-misses": ("ILmr", "DLmr", "DLmw"),
}
"""Our events as sums of its."""


def misses(program: Path, caches: Caches, out: Path) -> dict[str, Counter[str]]:
    """Counts by event and function."""
    assert caches.l1i is not None
    assert caches.llc is not None
    assert caches.l2 is None, "it has no second level"
    subprocess.run(
        [
            *("valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--cachegrind-out-file={out}"),
            f"--D1={_told(caches.l1d, caches.line)}",
            f"--I1={_told(caches.l1i, caches.line)}",
            f"--LL={_told(caches.llc, caches.line)}",
            program,
        ],
        check=True,
        capture_output=True,
    )
    return _read(out)


def _told(level: Level, line: int) -> str:
    return f"{level.size},{level.ways},{line}"


def _read(out: Path) -> dict[str, Counter[str]]:
    found = {event: Counter[str]() for event in SUMS}
    events: list[str] = []
    function = ""
    for line in out.read_text().splitlines():
        key, _, rest = line.partition(": " if line.startswith("events") else "=")
        if key == "events":
            events = rest.split()
        elif key == "fn":
            function = rest
        elif line[:1].isdigit():
            counts = dict(zip(events, map(int, line.split()[1:]), strict=False))
            for event, parts in SUMS.items():
                found[event][function] += sum(counts[part] for part in parts)
    return found
