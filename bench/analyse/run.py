"""Report a made run of 900,000 requests and 9 million visits: at most 10 s and 2 GiB.

``--quick`` makes a thirtieth of it and holds it to 6 s, most of which is start-up.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import made_run
import pyarrow.parquet as pq

REPORT = "import sys, pathlib, tierlab.report; tierlab.report.build(pathlib.Path(sys.argv[1]))"
GIB = 1 << 30


def main() -> int:
    """Make the run, report it in a child process, print what it took; 1 when over the bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a thirtieth of the size")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    shape = made_run.Shape(requests=905_000, users=3_500, seed=asked.seed)
    bar_s = 10.0
    if asked.quick:
        shape, bar_s = made_run.Shape(requests=30_000, users=3_500, seed=asked.seed), 6.0
    with tempfile.TemporaryDirectory(prefix="tierlab-analyse-") as folder:
        made_run.make(Path(folder), shape)
        rows = {
            name: pq.read_metadata(Path(folder) / f"{name}.parquet").num_rows
            for name in ("requests", "visits")
        }
        seconds = report(folder)
        page = (Path(folder) / "report.html").stat().st_size
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * 1024
    print(f"{rows['requests']:,} requests, {rows['visits']:,} visits")
    print(f"report in {seconds:.1f} s (bar {bar_s:.0f} s): {seconds / bar_s:.2f} of the bar")
    print(f"CPU time {used.ru_utime + used.ru_stime:.1f} s")
    print(f"peak memory {peak / GIB:.2f} GiB (bar 2 GiB); page {page / 1e6:.1f} MB")
    return 0 if seconds <= bar_s and peak <= 2 * GIB else 1


def report(folder: str) -> float:
    """Build the report in a process of its own and return how long that took."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", REPORT, folder], check=True)
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
