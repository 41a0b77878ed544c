"""Files of a trial."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.pace import wait_until
from tierlab.environments.files import copy_tree
from tierlab.errors import UserError

ASKS = "import sys; from pathlib import Path; from tierlab.environments.files import copy_tree; "
ASKS += "copy_tree(Path(sys.argv[1]), Path(sys.argv[2]))"


def test_a_tree_is_copied_with_its_modes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "in").mkdir(parents=True)
    (source / "in" / "run").write_text("x")
    (source / "in" / "run").chmod(0o750)

    copy_tree(source, tmp_path / "target")

    assert (tmp_path / "target" / "in" / "run").stat().st_mode & 0o777 == 0o750
    with pytest.raises(UserError, match="cannot copy"):
        copy_tree(tmp_path / "not there", tmp_path / "other")


def test_a_copy_ends_with_whoever_asked_for_it(tmp_path: Path) -> None:
    """It went on after a kill -9, into the folder that `tierlab clean` was removing."""
    endless = tmp_path / "cp"
    written = tmp_path / "written"
    endless.write_text(
        f"#!/bin/sh\necho $$ >{written} && mv {written} {tmp_path}/pid && exec sleep 60\n"
    )
    endless.chmod(0o755)
    paths = f"{tmp_path}:{os.environ['PATH']}"
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKS, tmp_path, tmp_path / "x"], env={**os.environ, "PATH": paths}
    )
    wait_until((tmp_path / "pid").exists, "the copy", 30)
    copying = psutil.Process(int((tmp_path / "pid").read_text()))
    assert copying.is_running()

    asking.send_signal(signal.SIGKILL)
    asking.wait()

    # Whoever inherits it may let it be a zombie.
    wait_until(
        lambda: not copying.is_running() or copying.status() == psutil.STATUS_ZOMBIE, "its end"
    )
