"""`tierlab clean --cache` drops the cached data sets, and only when it is asked to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierlab.cli.clean import clean


@pytest.fixture
def seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "cache" / "tierlab" / "mariadb" / "rubbos-1"
    folder.mkdir(parents=True)
    return folder


def test_the_cache_stays_unless_asked(seed: Path) -> None:
    clean()
    clean(cache=True, dry_run=True)
    assert seed.exists()


def test_the_cache_goes_when_asked(seed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = seed.parents[1] / "tomcat" / "classes"
    pictures, others = (seed.parents[1] / name for name in ("olio", "mine"))
    for folder in (archive, pictures, others):
        folder.mkdir(parents=True)
    clean(cache=True)
    assert not seed.parent.exists()
    assert not archive.exists()
    assert not pictures.exists()
    assert others.exists(), "somebody else put it there"
    assert "mariadb" in capsys.readouterr().out
