"""Drives a fake site from the given source ranges: run in a namespace with few ports.

python -m tests.drive.few_ports FOLDER [RANGE...] writes FOLDER/counts: interactions that ended
well, and those for which no address was free.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .driving import Driver

folder = Path(sys.argv[1])
site = subprocess.Popen(
    [sys.executable, str(Path(__file__).with_name("fake_site.py"))],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)
assert site.stdout is not None
port = int(site.stdout.readline())
driven = Driver(folder)(port, seconds=2, think_ms=50, users=100, sources=sys.argv[2:])
site.communicate()
errors = driven.requests.error
(folder / "counts").write_text(f"{errors.isna().sum()} {(errors == 'no_address').sum()}")
