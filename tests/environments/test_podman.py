"""What is particular about containers: how soon they are ready, their signals, their traces."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Traces
from tierlab.cli.clean import clean
from tierlab.environments.base import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.podman import Podman
from tierlab.environments.podman_domain import PodmanDomain
from tierlab.environments.process import Process, stat
from tierlab.errors import UserError

pytestmark = [pytest.mark.privileged, pytest.mark.usefixtures("containers")]

READY_SECONDS = 1.0

OWNER = """
import sys
from tierlab.environments.base import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.podman import Podman

podman = Podman(Ledger(sys.argv[1]))
print("up", flush=True)
for number in range(1, 100):
    domain = podman.create(DomainSpec(f"db.{number}"))
    domain.start()
    domain.spawn(["sleep", "600"], log="out.log")
"""


@pytest.fixture
def podman(trial: str, traces: Traces) -> Iterator[Podman]:  # noqa: ARG001 - looks for what is left
    made = Podman(Ledger(trial))
    yield made
    made.destroy()


@pytest.fixture
def domain(podman: Podman) -> PodmanDomain:
    made = podman.create(DomainSpec("db.1"))
    made.start()
    return made


def test_a_container_is_ready_within_a_second(podman: Podman) -> None:
    """The best of some: the machine may be busy with other things meanwhile."""
    took = []
    for number in range(1, 6):
        domain = podman.create(DomainSpec(f"db.{number}"))
        began = time.monotonic()
        domain.start()
        assert domain.run(["true"], timeout=20).status == 0
        took.append(time.monotonic() - began)
        domain.destroy()
    print(f"ready after {sorted(took)} s")
    assert min(took) <= READY_SECONDS


def test_each_container_has_namespaces_of_its_own(podman: Podman, domain: PodmanDomain) -> None:
    other = podman.create(DomainSpec("web.1"))
    other.start()
    kinds = ("pid", "ipc", "uts", "mnt")
    seen = {
        kind: {
            str(Path(f"/proc/self/ns/{kind}").readlink()),
            *(
                one.run(["readlink", f"/proc/self/ns/{kind}"], timeout=20).stdout.strip()
                for one in (domain, other)
            ),
        }
        for kind in kinds
    }
    assert {kind: len(names) for kind, names in seen.items()} == dict.fromkeys(kinds, 3)
    assert domain.run(["hostname"], timeout=20).stdout == "db.1\n"


def test_nothing_written_beside_its_folder_reaches_the_host(domain: PodmanDomain) -> None:
    written = domain.run(["touch", "/tmp/tierlab-written", "/dev/shm/tierlab-written"], timeout=20)
    assert written.status == 0, written.stderr
    assert not Path("/tmp/tierlab-written").exists()
    assert not Path("/dev/shm/tierlab-written").exists()


def test_a_signal_reaches_the_program_and_its_end_is_told(domain: PodmanDomain) -> None:
    script = "trap 'echo heard; exit 7' USR1; echo up; while :; do sleep 0.05; done"
    process = domain.spawn(["sh", "-c", script], log="out.log")
    log = domain.folder / "out.log"
    wait_for(log, "up\n")
    process.signal(signal.SIGUSR1)
    assert process.wait(10) == 7
    assert log.read_text() == "up\nheard\n"

    killed = domain.spawn(["sleep", "60"], log="sleep.log")
    wait_until_running(domain)
    killed.signal(signal.SIGKILL)
    assert killed.wait(10) == -signal.SIGKILL


def freeze(program: int, process: Process) -> None:
    """Stop a program, and wait until who entered its container has seen that and stopped too."""
    os.kill(program, signal.SIGSTOP)
    deadline = time.monotonic() + 10
    while (found := stat(process.pid)) is None or found.state != "T":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_program_that_was_frozen_can_be_stopped_and_its_death_is_seen(
    domain: PodmanDomain,
) -> None:
    """nsenter stops itself when it sees its child stopped, and would stay so for ever."""
    process = domain.spawn(["sleep", "60"], log="out.log")
    wait_until_running(domain)
    (program,) = domain.pids()
    freeze(program, process)
    assert process.poll() is None
    os.kill(program, signal.SIGCONT)
    os.kill(program, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert process.poll() == -signal.SIGKILL


def test_a_program_is_ended_while_it_still_enters_the_container(domain: PodmanDomain) -> None:
    """A signal sent before the program is the child of who entered it went nowhere."""
    began = time.monotonic()
    process = domain.spawn(["sleep", "60"], log="out.log")
    assert process.stop(5)
    assert time.monotonic() - began < 2
    assert domain.pids() == []


def test_to_wait_for_a_program_that_was_frozen_is_told_its_death(domain: PodmanDomain) -> None:
    process = domain.spawn(["sleep", "60"], log="out.log")
    wait_until_running(domain)
    (program,) = domain.pids()
    freeze(program, process)
    os.kill(program, signal.SIGKILL)
    assert process.wait(5) == -signal.SIGKILL


def test_a_container_that_has_ended_is_one_sentence(domain: PodmanDomain) -> None:
    (init,) = pids_of_the_group(domain)
    os.kill(init, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while pids_of_the_group(domain):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert domain.pids() == []
    with pytest.raises(UserError, match=r"^db\.1: its container has ended"):
        domain.run(["true"], timeout=20)


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
        broken.setattr("tierlab.environments.podman_storage.REMOVE_SECONDS", 0.001)
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


def test_no_folder_of_the_runtime_stays_on_the_host(trial: str, traces: Traces) -> None:  # noqa: ARG001
    before = listing("/run")
    podman = Podman(Ledger(trial))
    podman.create(DomainSpec("db.1")).start()
    podman.destroy()
    assert [path for path in listing("/run") if path not in before and "runc" in path] == []


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


@pytest.mark.parametrize("seconds", [0.05, 0.3, 0.6, 1.0, 1.7])
def test_kill_9_while_containers_are_made_then_clean_leaves_nothing(
    seconds: float,
    trial: str,
    traces: Traces,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, trial], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "up\n"
        time.sleep(seconds)
        owner.kill()
    assert not traces.none()
    clean(force=False)
    assert traces.none(), traces.found()


def test_a_program_on_a_mount_of_its_own_is_refused_before_it_is_started(
    monkeypatch: pytest.MonkeyPatch, domain: PodmanDomain
) -> None:
    monkeypatch.setattr("tierlab.environments.podman_root.mount_of", lambda _: Path("/usr"))
    with pytest.raises(UserError, match=r"^db\.1: 'sleep' cannot be run .* lies on /usr, a mount"):
        domain.run(["sleep", "1"], timeout=20)


def listing(place: str) -> list[str]:
    return sorted(map(str, Path(place).rglob("*")))


def changes(place: str) -> dict[str, int]:
    """When each file below a place last changed; by name alone, a lock used again is not seen."""
    return {str(path): path.lstat().st_ctime_ns for path in sorted(Path(place).rglob("*"))}


def groups_listed(ledger: Ledger) -> list[Path]:
    entries = ledger.account().entries
    return [Path(str(entry.what["path"])) for entry in entries if entry.kind == "cgroup"]


def pids_of_the_group(domain: PodmanDomain) -> list[int]:
    """With the process that keeps the container."""
    (folder, *_) = domain.cgroups().values()
    return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]


def wait_for(log: Path, text: str) -> None:
    deadline = time.monotonic() + 10
    while log.read_text() != text:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_until_running(domain: PodmanDomain) -> None:
    """Until the program has entered the container."""
    deadline = time.monotonic() + 10
    while not any(b"sleep" in name_of(pid) for pid in domain.pids()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def name_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/comm").read_bytes()
