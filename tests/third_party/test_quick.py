"""Two applications that others wrote, as `make test-third-party-quick` brings them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.figures import figure

pytestmark = [
    pytest.mark.environments,
    pytest.mark.alone,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


def test_what_is_seen_of_applications_of_others_is_what_their_logs_say() -> None:
    bench = Path(__file__).parents[2] / "bench" / "third_party" / "run.py"
    done = subprocess.run(
        [sys.executable, bench, "--quick"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
        check=False,
    )
    lines = done.stdout.splitlines()
    for line in lines[-4:-2]:
        figure(line)
    assert lines[-1] == "2 passed, 0 failed", done.stdout
    assert done.returncode == 0
