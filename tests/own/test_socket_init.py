"""`tierlab init --own --running` finds the servers behind UNIX sockets."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.own.debian_site import HAS_PROGRAMS, NEEDS, running
from tierlab.cli.main import app
from tierlab.experiment import load


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.alone  # connections of some milliseconds: on a full machine all may be over
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.skipif(not HAS_PROGRAMS, reason=NEEDS)
def test_init_follows_a_site_as_debian_sets_it_up(
    tmp_path: Path, short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "e.toml"
    with running(short) as site:
        ended = CliRunner().invoke(app, ["init", str(file), "--own", "--running", str(site.port)])
    assert ended.exit_code == 0, ended.output
    system = tomllib.loads(file.read_text())["system"]
    fpm, mariadb = (name for name in system if name not in ("web", "sessions", *SAID))
    assert system["web"] == {"address": "127.0.0.1", "port": site.port, "calls": [fpm]}
    assert system[fpm] == {"socket": str(site.php), "protocol": "fcgi", "calls": [mariadb]}
    assert system[mariadb] == {"socket": str(site.mysql), "protocol": "mysql"}
    assert f"found  {fpm} at {site.php} (fcgi), which calls {mariadb}\n" in ended.output
    assert list(load(file).trials()[0].system.tiers) == ["web", fpm, mariadb]


SAID = ("workload", "environment")
