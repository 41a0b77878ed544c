"""Old seeds in the cache, without a server."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tierlab.servers.made_once import KEPT_SECONDS, cache_folder, prune


def test_two_trials_may_throw_away_old_seeds_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, age in (("old", KEPT_SECONDS + 60), ("older", KEPT_SECONDS + 90), ("new", 0)):
        folder = cache_folder("mariadb") / name
        folder.mkdir(parents=True)
        then = folder.stat().st_mtime - age
        os.utime(folder, (then, then))
    remove = shutil.rmtree

    def the_other_was_quicker(folder: Path) -> None:
        for name in ("old", "older"):
            remove(cache_folder("mariadb") / name, ignore_errors=True)
        remove(folder)

    monkeypatch.setattr(shutil, "rmtree", the_other_was_quicker)
    prune(cache_folder("mariadb"))
    assert [folder.name for folder in cache_folder("mariadb").iterdir()] == ["new"]
