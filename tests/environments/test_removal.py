"""What a trial listed is removed, whatever goes on beside."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tierlab.environments.files import make_folder
from tierlab.environments.ledger import Ledger
from tierlab.environments.removal import remove_listed

FILLS = "n=0; while : >$n; do n=$((n + 1)); sleep 0.005; done 2>/dev/null"
"""Makes files until its folder is gone."""


def test_a_folder_is_removed_that_a_copy_still_fills(tmp_path: Path) -> None:
    """A kill -9 ended the trial, and not the copy of its data that it had begun."""
    ledger = Ledger("one", tmp_path / "ledger")
    folder = tmp_path / "folder"
    make_folder(ledger, folder)
    for n in range(3_000):
        (folder / f"was{n}").touch()
    copying = subprocess.Popen(["sh", "-c", FILLS], cwd=folder)
    try:
        left = remove_listed(ledger)
        assert left == []
        assert not folder.exists()
        assert copying.wait(10) != 0
    finally:
        copying.kill()
        ledger.close()
