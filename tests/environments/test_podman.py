"""What is particular about podman's containers: its words, its runtime's traces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Traces
from tests.environments.changes import changes
from tierlab.environments.containers.podman import Podman
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import Placement
from tierlab.errors import UserError

pytestmark = [pytest.mark.privileged, pytest.mark.usefixtures("podman_here")]


@pytest.fixture
def podman(trial: str, traces: Traces) -> Iterator[Podman]:  # noqa: ARG001 - looks for what is left
    made = Podman(Ledger(trial))
    yield made
    made.destroy()


def test_the_host_name_is_the_servers(podman: Podman) -> None:
    domain = podman.create(DomainSpec("db.1"))
    domain.start()
    assert domain.run(["hostname"], timeout=20).stdout == "db.1\n"


def test_what_podman_refuses_is_told_in_its_own_words(podman: Podman) -> None:
    domain = podman.create(DomainSpec("db.1"))
    domain.container = "no name/of a container"
    with pytest.raises(UserError, match=r"^db\.1: 'podman create' failed: (?!Error)\w.*; 'tierlab"):
        domain.start()


def test_a_container_that_podman_does_not_remove_stays_listed(
    trial: str, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(trial)
    podman = Podman(ledger)
    domain = podman.create(DomainSpec("db.1"))
    domain.start()
    with monkeypatch.context() as broken:
        broken.setattr("tierlab.environments.containers.podman_storage.REMOVE_SECONDS", 0.001)
        with pytest.raises(UserError, match=r"could not remove container .* \(podman did not end"):
            domain.destroy()
    assert "container" in {entry.kind for entry in ledger.account().entries}
    podman.destroy()
    assert traces.none(), traces.found()


def test_a_destroyed_container_leaves_no_group_in_the_ledger(trial: str, traces: Traces) -> None:  # noqa: ARG001
    """The runtime makes groups in trees too that Tierlab has no use for."""
    ledger = Ledger(trial)
    podman = Podman(ledger)
    domain = podman.create(DomainSpec("db.1"))
    domain.start()
    assert [path for path in groups_listed(ledger) if path.name.startswith("libpod-")]
    domain.destroy()
    assert [path for path in groups_listed(ledger) if path.name.startswith("libpod-")] == []
    podman.destroy()


@pytest.mark.alone
def test_no_folder_of_the_runtime_stays_on_the_host(trial: str, traces: Traces) -> None:  # noqa: ARG001
    before = changes("/run")
    podman = Podman(Ledger(trial))
    podman.create(DomainSpec("db.1")).start()
    podman.destroy()
    assert [path for path in changes("/run") if path not in before and "runc" in path] == []


def test_a_container_out_of_memory_leaves_nothing_where_tierlab_was_called(
    podman: Podman, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its monitor made a file `oom` there."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    domain = podman.create(DomainSpec("db.1", Placement(memory=64 << 20)))
    domain.start()
    hungry = ["dd", "if=/dev/zero", "of=/dev/null", "bs=256M", "count=1"]
    assert domain.run(hungry, timeout=60).status != 0
    domain.destroy()
    assert list(here.iterdir()) == []


@pytest.mark.alone
def test_the_users_own_podman_is_not_touched(trial: str, traces: Traces) -> None:  # noqa: ARG001
    places = (
        *("/var/lib/containers", "/var/lib/cni", "/run/containers", "/run/libpod", "/run/runc"),
        *("/etc/cni", "/etc/containers", "/dev/shm"),
    )
    before = {place: changes(place) for place in places}
    podman = Podman(Ledger(trial))
    podman.create(DomainSpec("db.1")).start()
    podman.destroy()
    assert {place: changes(place) for place in places} == before


def groups_listed(ledger: Ledger) -> list[Path]:
    entries = ledger.account().entries
    return [Path(str(entry.what["path"])) for entry in entries if entry.kind == "cgroup"]
