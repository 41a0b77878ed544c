"""Link nine million visits of 900,000 requests: at most 60 s of CPU and 1 GiB, none unlinked."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from made_visits import VISITS, link

REQUESTS = 900_000
MOST_CPU_S = 60.0
MOST_MEMORY = 1 << 30


def main() -> int:
    """Link, print what it took beside the bars; 1 when one is missed."""
    with tempfile.TemporaryDirectory(prefix="tierlab-link-") as folder:
        took = link(REQUESTS, Path(folder))
    print(took)
    print(f"CPU time: {took.cpu_s / MOST_CPU_S:.2f} of the bar of {MOST_CPU_S:.0f} s")
    print(f"memory: {took.peak / MOST_MEMORY:.2f} of the bar of {MOST_MEMORY / 2**30:.0f} GiB")
    whole = took.visits == REQUESTS * VISITS and took.unlinked == 0
    return 0 if whole and took.cpu_s <= MOST_CPU_S and took.peak <= MOST_MEMORY else 1


if __name__ == "__main__":
    sys.exit(main())
