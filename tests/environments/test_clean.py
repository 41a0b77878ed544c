"""`tierlab clean` after the trial's own process was killed by -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tierlab.cli.clean import clean
from tierlab.environments import removal
from tierlab.environments.cgroups.find import find_hierarchy
from tierlab.environments.ledger import Ledger, accounts
from tierlab.environments.process import code_map
from tierlab.environments.removal import remove_listed
from tierlab.errors import UserError

if TYPE_CHECKING:
    from tests.conftest import Traces

OWNER = """
import sys, time
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native

native = Native(Ledger(sys.argv[1]))
domain = native.create(DomainSpec("db.1"))
domain.start()
domain.write("file", "data")
script = "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & while :; do sleep 1; done"
script = ": >/tmp/perf-$$.map; " + script
domain.spawn(["sh", "-c", script], log="logs/out.log")
native.spawn(["sleep", "600"], log=domain.folder / "agent.log")
print("up", flush=True)
time.sleep(600)
"""

pytestmark = pytest.mark.privileged


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner's server never ends of itself, however long it is waited for."""
    monkeypatch.setattr(removal, "GRACE", 0.2)


@pytest.fixture
def owner(trial: str, traces: object) -> Iterator[subprocess.Popen[str]]:  # noqa: ARG001
    if os.geteuid() != 0:
        pytest.skip("needs root")
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, trial], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()
    clean(force=True)


def without_processes(traces: Traces) -> dict[str, list[str]]:
    """The loops of the test's server begin new processes all the time."""
    found = traces.found()
    assert found.pop("processes")
    return found


def kill(owner: subprocess.Popen[str]) -> None:
    owner.send_signal(signal.SIGKILL)
    owner.wait()


def test_all_that_a_killed_trial_left_is_removed(
    owner: subprocess.Popen[str], traces: Traces, capsys: pytest.CaptureFixture[str]
) -> None:
    kill(owner)
    left = traces.found()
    for kind in ("containers", "mounts"):
        assert not left.pop(kind), "it is of bare processes"
    assert all(left.values()), f"the test must have something to clean: {left}"
    clean()
    assert not any(traces.found().values()), traces.found()
    said = capsys.readouterr().out
    assert "removed folder /var/tmp/tierlab-" in said
    assert "ended process" in said
    clean()
    assert capsys.readouterr().out == "nothing to clean\n"


def test_where_a_server_named_what_it_compiled_is_removed(
    owner: subprocess.Popen[str],
) -> None:
    kill(owner)
    [account] = accounts()
    listed = [entry for entry in account.entries if entry.kind == "process"]
    maps = [code_map(int(entry.what["pid"])) for entry in listed]
    deadline = time.monotonic() + 10
    while not any(path.exists() for path in maps):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    clean()
    assert not any(path.exists() for path in maps)


def test_a_dry_run_removes_nothing(
    owner: subprocess.Popen[str],
    trial: str,
    traces: Traces,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kill(owner)
    before = without_processes(traces)
    clean(dry_run=True, json=True)
    said = json.loads(capsys.readouterr().out)
    assert f"folder /var/tmp/tierlab-{trial}" in said["removed"][trial]
    assert without_processes(traces) == before


def test_a_live_trial_is_left_alone_unless_forced(
    owner: subprocess.Popen[str],
    trial: str,
    traces: Traces,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = without_processes(traces)
    clean()
    said = capsys.readouterr().out
    assert said == f"{trial}: still running (process {owner.pid}); left alone\n"
    assert without_processes(traces) == before
    clean(force=True)
    assert (
        not [  # the owner itself still runs, and has the trial's name among its arguments
            line
            for kind, lines in traces.found().items()
            for line in lines
            if kind != "processes" or not line.startswith(f"{owner.pid} ")
        ]
    )


@pytest.mark.usefixtures("traces")
def test_what_took_the_place_of_something_listed_is_left_alone(trial: str, tmp_path: Path) -> None:
    place = tmp_path / "folder"
    place.mkdir()
    ledger = Ledger(trial)
    ledger.add("folder", path=str(place), inode=place.stat().st_ino + 1)
    ledger.add("folder", path=str(tmp_path / "gone"), inode=1)
    ledger.close()
    disown(ledger.path)
    with pytest.raises(UserError, match="it is not the one that the trial made"):
        clean()
    assert place.exists()
    (account,) = accounts()
    account.path.unlink()


@pytest.mark.usefixtures("traces")
def test_a_folder_whose_inode_was_not_noted_goes_only_if_it_is_empty(
    trial: str, tmp_path: Path
) -> None:
    empty, full = tmp_path / "empty", tmp_path / "full"
    empty.mkdir()
    (full / "something").mkdir(parents=True)
    ledger = Ledger(trial)
    for path in (empty, full):
        ledger.add("folder", path=str(path))
    ledger.close()
    disown(ledger.path)
    with pytest.raises(UserError, match="not everything could be removed"):
        clean()
    assert not empty.exists()
    assert (full / "something").exists()
    ledger.path.unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_group_goes_with_the_groups_that_others_made_below_it(trial: str, traces: Traces) -> None:
    """As libvirt does for a container, in the trial's group; only that is in the ledger."""
    hierarchy = find_hierarchy()
    if isinstance(hierarchy, str) or "pids" not in hierarchy.controllers():
        pytest.skip("no control groups here")
    ledger = Ledger(trial)
    hierarchy.make_trial(ledger)
    below = hierarchy.group(trial, "container").folders["pids"]
    inner = below / "inner"
    inner.mkdir(parents=True)
    process = subprocess.Popen(["sleep", "600"])
    (inner / "cgroup.procs").write_text(str(process.pid))
    assert remove_listed(ledger) == []
    ledger.close()
    assert process.wait(10) == -signal.SIGTERM
    assert traces.none(), traces.found()


def disown(path: Path) -> None:
    """Make the ledger that of a process that has ended."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    head, *rest = path.read_text().splitlines()
    record = json.loads(head) | {"pid": ended.pid, "start": int(time.monotonic())}
    path.write_text("\n".join([json.dumps(record), *rest]) + "\n")
