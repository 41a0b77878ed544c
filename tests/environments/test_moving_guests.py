"""Guests move between two hosts under load, and leave nothing behind when that is cut short."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Traces
from tests.environments.echoing import EVERY_S, Client, connected, echo_server
from tests.figures import figure
from tests.pace import pace
from tierlab.cli.clean import clean
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import read
from tierlab.environments.placement import Placement
from tierlab.environments.qemu.domain import QemuDomain
from tierlab.environments.qemu.environment import Qemu
from tierlab.environments.qemu.process import hypervisors
from tierlab.errors import UserError

pytestmark = [
    pytest.mark.alone,
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.usefixtures("guests_here"),
]

MIB = 1 << 20
SLACK_S = 1.0
"""For what TCP waits before it sends again, and a busy machine."""

OWNER = """
import sys
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.qemu.environment import Qemu

domain = Qemu(Ledger(sys.argv[1])).create(DomainSpec("db.1", moves=True))
domain.start()
print("moving", flush=True)
domain.migrate("second")
"""


@pytest.fixture(scope="module")
def guest(qemu: Qemu) -> QemuDomain:
    """One serves all tests: at the beginning of each it is on its first host."""
    domain = qemu.create(
        DomainSpec(
            "app.1",
            Placement(memory=256 * MIB),
            vcpus=2,
            address=qemu.addresses.server(2, 1),
            disk=("data",),
            moves=True,
        )
    )
    domain.start()
    return domain


def test_a_guest_that_moves_has_its_files_with_it(guest: QemuDomain, tmp_path: Path) -> None:
    (tmp_path / "seed" / "deep").mkdir(parents=True)
    (tmp_path / "seed" / "deep" / "file").write_text("content")
    guest.put(tmp_path / "seed", "data")
    guest.write("conf/of/it", "here")
    assert guest.run(["sh", "-c", "echo more >>conf/of/it"], timeout=30).status == 0
    with pytest.raises(UserError, match="is on host first already"):
        guest.migrate("first")
    with pytest.raises(UserError, match="there is no host 'third' here; choose among first, sec"):
        guest.migrate("third")
    guest.migrate("second")
    assert guest.text("conf/of/it") == "heremore\n"
    guest.write("conf/of/it", "there")
    assert guest.text("conf/of/it") == "there"
    guest.get("data/deep", tmp_path / "back")
    assert (tmp_path / "back" / "file").read_text() == "content"
    assert not guest.has("data/shallow")
    assert list((guest.folder / ".stage").iterdir()) == []
    guest.migrate("first")


def test_under_load_the_client_misses_the_downtime_and_loses_nothing(
    qemu: Qemu, guest: QemuDomain
) -> None:
    address = qemu.addresses.server(2, 1)
    guest.spawn(echo_server(address), log="echo.log")
    busy = 'while :; do head -c 8M /dev/zero >"$0"; done'  # writes to memory all the time
    guest.spawn(["sh", "-c", busy, "/dev/shm/written"], log="busy.log")
    with Client(connected(qemu, address)) as client:
        time.sleep(1)
        move = guest.migrate("second")
    assert [number for _, number in client.answered] == list(range(client.sent))
    assert move.downtime_ns is not None
    assert client.gap > move.downtime_ns / 1e9 - EVERY_S
    assert client.gap < move.downtime_ns / 1e9 + SLACK_S * pace()
    figure(f"down for {move.downtime_ns / 1e6:.0f} ms, no answer for {client.gap * 1e3:.0f} ms")


def test_kill_9_in_the_middle_of_a_move_leaves_nothing(trial: str, traces: Traces) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, trial],
        stdout=subprocess.PIPE,
        env=dict(os.environ),
        text=True,
    )
    assert owner.stdout is not None
    assert owner.stdout.readline().strip() == "moving"
    account = read(next(traces.state.rglob("*.jsonl")))
    identity = f"tierlab-{trial}-db.1"
    while len(hypervisors(account.token, identity)) < 2:
        assert owner.poll() is None, "it moved before it could be killed"
    owner.kill()
    owner.communicate()
    clean()
    assert traces.none(), traces.found()
