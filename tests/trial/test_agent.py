"""How the agent is told what to do."""

import signal
import stat
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

from tierlab.observe import agent


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


class Shell:
    """A script in the agent's place."""

    def __init__(self, script: str) -> None:
        self.process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE)

    @property
    def stdout(self) -> IO[bytes] | None:
        return self.process.stdout

    def poll(self) -> int | None:
        return self.process.poll()

    def wait(self, timeout: float) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(timeout)
        return None

    def stop(self, grace: float, first: signal.Signals = signal.SIGTERM) -> bool:
        self.process.send_signal(first)
        return self.wait(grace) is not None


@pytest.mark.parametrize(
    ("script", "died"),
    [("(sleep 0.3; echo '{\"summary\": {}}') & exit 0", False), ("exit 0", True)],
    ids=["heard late", "said nothing"],
)
def test_who_has_ended_and_is_not_heard_out_yet_has_not_died(
    script: str, died: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERLAB_AGENT", "/bin/true")
    shell = Shell(script)
    verb = agent.Verb("disturb", {}, tmp_path, tmp_path, lambda _argv, _log: shell)
    deadline = time.monotonic() + 10
    while verb.running and time.monotonic() < deadline:
        time.sleep(0.001)
    assert verb.died == died
