"""The agent is one file: it needs no library of the machine that it runs on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tierlab.observe.agent import binary

from .conftest import MILLISECOND, table

IN_AN_EMPTY_ROOT = (
    'mount -t proc proc "$1/proc" && exec chroot "$1" /agent "$2" --plan /plan --out /'
)


def in_an_empty_root(root: Path, verb: str, plan: dict[str, object]) -> tuple[int, str, str]:
    """Run a verb where there is nothing but the agent, its plan and /proc."""
    (root / "proc").mkdir(parents=True)
    (root / "plan").write_text(json.dumps(plan))
    shutil.copy(binary(), root / "agent")
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", IN_AN_EMPTY_ROOT]
    ran = subprocess.run(
        [*command, "sh", str(root), verb], capture_output=True, text=True, check=False, timeout=30
    )
    return ran.returncode, ran.stdout, ran.stderr


def test_it_is_linked_with_no_library() -> None:
    listed = subprocess.run(["ldd", binary()], capture_output=True, text=True, check=False)
    said = (listed.stdout + listed.stderr).strip()
    # The second is how ldd says it of a program that may lie anywhere in memory (static PIE).
    assert said in ("not a dynamic executable", "statically linked"), said


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: chroot")
def test_it_samples_in_an_empty_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    plan = {
        "interval_ns": 20 * MILLISECOND,
        "duration_ns": 300 * MILLISECOND,
        "tables": ["cpu", "memory", "net"],
    }
    status, said, errors = in_an_empty_root(root, "sample", plan)
    assert status == 0, errors
    assert json.loads(said.splitlines()[-1])["summary"]["ticks"] > 0
    for name in ("cpu", "memory", "net"):
        assert len(table(root, name)) > 0
    assert sorted(each.name for each in root.iterdir() if each.suffix != ".arrows") == [
        "agent",
        "plan",
        "proc",
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: chroot")
def test_a_host_name_is_refused_since_nothing_there_could_resolve_it(tmp_path: Path) -> None:
    server = {"name": "web.1", "address": "localhost", "port": 80, "protocol": "http1"}
    plan = {"interface": "lo", "servers": [server]}
    status, _, errors = in_an_empty_root(tmp_path / "root", "capture", plan)
    assert status == 1
    assert "invalid IP address syntax" in errors
