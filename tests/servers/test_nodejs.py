"""What Node.js loads before an application, with a real Node.js."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import tierlab.servers.nodejs as declared
from tierlab.servers.stop_log import stops

HELD_MS = 200
PROGRAM = f"""
setTimeout(() => {{
  const until = Date.now() + {HELD_MS};
  while (Date.now() < until) {{}}
  const kept = [];
  for (let round = 0; round < 200; round += 1) kept.push(new Array(20000).fill(round));
  setTimeout(() => process.exit(kept.length === 200 ? 0 : 1), 100);
}}, 100);
"""


def test_a_thread_that_is_held_and_collections_are_logged(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    log = tmp_path / "stops.log"
    preload = Path(declared.__file__).with_name("nodejs_preload.cjs")
    began_ns = time.time_ns()
    subprocess.run(
        ["node", f"--require={preload}", "--eval", PROGRAM],
        env={**os.environ, "TIERLAB_STOP_LOG": str(log)},
        check=True,
        timeout=60,
    )
    ended_ns = time.time_ns()
    found = list(stops(log.read_text().splitlines(keepends=True)))
    assert all(began_ns - 1e6 < it.start_ns < ended_ns for it in found), found
    held = [it for it in found if it.kind == "loop"]
    assert held
    # It is told from when the timer was due, which may be up to 20 ms after the thread was taken.
    assert max(it.duration_ns for it in held) >= (HELD_MS - 25) * 1_000_000
    assert {it.kind for it in found} == {"loop", "gc"}
