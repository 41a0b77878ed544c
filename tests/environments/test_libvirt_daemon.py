"""A libvirt daemon of a trial's own: the machine's is not touched, and nothing of it is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.conftest import Traces
from tests.environments.changes import changes
from tierlab.environments.daemons.libvirt import SHADOWED, LibvirtDaemon
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.errors import UserError

pytestmark = [pytest.mark.environments, pytest.mark.privileged, pytest.mark.usefixtures("lxc_here")]


@pytest.fixture
def native(trial: str, traces: Traces) -> Iterator[Native]:  # noqa: ARG001 - looks for what is left
    made = Native(Ledger(trial))
    yield made
    made.destroy()


@pytest.fixture(params=["lxc", "qemu"])
def daemon(request: pytest.FixtureRequest, native: Native) -> LibvirtDaemon:
    return LibvirtDaemon(native._ground, request.param)


def test_it_answers_and_knows_no_network_of_its_own(daemon: LibvirtDaemon) -> None:
    assert daemon.virsh("uri").strip() == daemon.uri
    assert daemon.virsh("list", "--all") == ""


def test_it_lives_on_the_trials_network(native: Native, daemon: LibvirtDaemon) -> None:
    namespace = native._ground.namespace
    assert namespace is not None
    inside = Path(f"/proc/{daemon.process.pid}/ns/net").stat().st_ino
    assert inside == namespace.path.stat().st_ino


def test_it_listens_only_on_sockets_that_root_alone_may_use(daemon: LibvirtDaemon) -> None:
    process = psutil.Process(daemon.process.pid)
    assert process.net_connections("inet") == []
    assert daemon.folder.stat().st_mode & 0o777 == 0o700


def test_two_of_one_trial_are_two_hosts(native: Native) -> None:
    first, second = (LibvirtDaemon(native._ground, "lxc", name) for name in ("one", "two"))
    uuids = {daemon.virsh("capabilities").split("<uuid>")[1][:36] for daemon in (first, second)}
    assert len(uuids) == 2


@pytest.mark.alone
def test_the_machines_own_libvirt_is_not_touched(trial: str, traces: Traces) -> None:  # noqa: ARG001
    before = {place: changes(place) for place in (*SHADOWED, "/run/libvirt")}
    native = Native(Ledger(trial))
    daemon = LibvirtDaemon(native._ground, "lxc")
    daemon.virsh("list")
    during = {place: changes(place) for place in before}
    native.destroy()
    assert during == before
    assert {place: changes(place) for place in before} == before


@pytest.mark.alone
def test_the_end_of_one_trial_leaves_anothers_daemon_its_folders(
    trial: str,
    traces: Traces,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    """A folder that is removed on the host takes what another trial has mounted there with it.

    The two know nothing of each other's ledgers.
    """
    before = {place: Path(place).exists() for place in SHADOWED}
    first, second = (Native(Ledger(f"{trial}{name}", tmp_path / name)) for name in "ab")
    daemons = [LibvirtDaemon(native._ground, "lxc") for native in (first, second)]
    first.destroy()
    for place in SHADOWED:
        daemons[1].run("mountpoint", "--quiet", place)
    second.destroy()
    assert {place: Path(place).exists() for place in SHADOWED} == before


def test_one_that_does_not_start_is_a_sentence_in_its_own_words(
    native: Native, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"libvirtd.conf": "auth_unix_rw = none\n"}
    monkeypatch.setattr("tierlab.environments.daemons.libvirt.SETTINGS", settings)
    with pytest.raises(UserError, match=r"^system\.environment: libvirtd does not start: \S.*conf"):
        LibvirtDaemon(native._ground, "lxc")


def test_what_virsh_refuses_is_told_in_its_own_words(daemon: LibvirtDaemon) -> None:
    with pytest.raises(
        UserError, match=r"'virsh dominfo' failed: (?!error)\w.*nothing.*; 'tierlab"
    ):
        daemon.virsh("dominfo", "nothing")
