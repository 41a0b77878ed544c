"""How the agent is told what to do."""

import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from tierlab.trial import agent


class Started(Exception):  # noqa: N818
    """Thrown in place of a process that would have to be waited for."""


def test_a_plan_with_a_password_is_its_owners_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERLAB_AGENT", "/bin/true")

    def spawn(argv: Sequence[str], log: Path) -> agent.Child:
        raise Started(argv, log)

    databases = [{"subject": "db.1", "password": "secret"}]
    with pytest.raises(Started):
        agent.Verb("sample", {"databases": databases}, tmp_path, tmp_path, spawn)
    plan = tmp_path / "agent.sample.json"
    assert "secret" in plan.read_text()
    assert stat.S_IMODE(plan.stat().st_mode) == 0o600
