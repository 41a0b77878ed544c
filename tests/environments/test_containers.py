"""What all containers share: how soon they are ready, their signals, their traces."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Traces
from tests.figures import figure
from tests.pace import pace, wait_until
from tierlab.cli.clean import clean
from tierlab.environments.containers.entered_domain import EnteredDomain
from tierlab.environments.domain import DomainSpec
from tierlab.environments.identity import is_alive, stat
from tierlab.environments.native.bare_neighbour import BareNeighbour
from tierlab.environments.native.host import HostEnvironment
from tierlab.environments.neighbour import Neighbour
from tierlab.environments.process import HostProcess, Process
from tierlab.errors import UserError
from tierlab.machine.mapping import Seats

pytestmark = pytest.mark.privileged

READY_SECONDS = 1.0

OWNER = """
import sys
from importlib import import_module
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger

trial, module, kind = sys.argv[1:]
ledger = Ledger(trial)
print("up", flush=True)
environment = getattr(import_module(module), kind)(ledger)
for number in range(1, 100):
    domain = environment.create(DomainSpec(f"db.{number}"))
    domain.start()
    domain.spawn(["sleep", "600"], log="out.log")
"""


@pytest.mark.alone
def test_a_container_is_ready_within_a_second(containers: HostEnvironment) -> None:
    took = []
    for number in range(1, 6):
        domain = containers.create(DomainSpec(f"db.{number}"))
        began = time.monotonic()
        domain.start()
        assert domain.run(["true"], timeout=20).status == 0
        took.append(time.monotonic() - began)
        domain.destroy()
    figure(f"ready after {sorted(took)} s")
    # What others take of the machine only adds to it.
    assert min(took) <= READY_SECONDS * pace()


def test_each_container_has_namespaces_of_its_own(
    containers: HostEnvironment, domain: EnteredDomain
) -> None:
    other = containers.create(DomainSpec("web.1"))
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


def test_nothing_written_beside_its_folder_reaches_the_host(domain: EnteredDomain) -> None:
    written = domain.run(["touch", "/tmp/tierlab-written", "/dev/shm/tierlab-written"], timeout=20)
    assert written.status == 0, written.stderr
    assert not Path("/tmp/tierlab-written").exists()
    assert not Path("/dev/shm/tierlab-written").exists()


def test_a_signal_reaches_the_program_and_its_end_is_told(domain: EnteredDomain) -> None:
    script = "trap 'echo heard; exit 7' USR1; echo up; while :; do sleep 0.05; done"
    process = domain.spawn(["sh", "-c", script], log="out.log")
    log = domain.folder / "out.log"
    wait_until(lambda: log.read_text() == "up\n", "the program's start")
    process.signal(signal.SIGUSR1)
    assert process.wait(10) == 7
    assert log.read_text() == "up\nheard\n"

    killed = domain.spawn(["sleep", "60"], log="sleep.log")
    wait_until_running(domain)
    killed.signal(signal.SIGKILL)
    assert killed.wait(10) == -signal.SIGKILL


def freeze(program: int, process: Process) -> None:
    """Stop a program, and wait until who entered its container has seen that and stopped too."""
    assert isinstance(process, HostProcess)
    enters = process.identity.pid
    os.kill(program, signal.SIGSTOP)

    def stopped() -> bool:
        found = stat(enters)
        return found is not None and found.state == "T"

    wait_until(stopped, "the stop")


def test_a_program_that_was_frozen_can_be_stopped_and_its_death_is_seen(
    domain: EnteredDomain,
) -> None:
    """nsenter stops itself when it sees its child stopped, and would stay so for ever."""
    process = domain.spawn(["sleep", "60"], log="out.log")
    wait_until_running(domain)
    (program,) = domain.pids()
    freeze(program, process)
    assert process.poll() is None
    os.kill(program, signal.SIGCONT)
    os.kill(program, signal.SIGKILL)
    wait_until(lambda: process.poll() is not None, "its death")
    assert process.poll() == -signal.SIGKILL


def test_a_program_is_ended_while_it_still_enters_the_container(domain: EnteredDomain) -> None:
    """A signal sent before the program is the child of who entered it went nowhere."""
    process = domain.spawn(["sleep", "60"], log="out.log")
    assert process.stop(20), "it had to be killed"
    assert domain.pids() == []


def test_to_wait_for_a_program_that_was_frozen_is_told_its_death(domain: EnteredDomain) -> None:
    process = domain.spawn(["sleep", "60"], log="out.log")
    wait_until_running(domain)
    (program,) = domain.pids()
    freeze(program, process)
    os.kill(program, signal.SIGKILL)
    assert process.wait(5) == -signal.SIGKILL


@pytest.mark.alone
@pytest.mark.skipif(not os.sched_getaffinity(0) >= {0, 1}, reason="needs PUs 0 and 1")
def test_each_virtual_cpu_of_a_neighbour_is_on_its_pu_and_busy(
    containers: HostEnvironment,
) -> None:
    """Who enters the programs has all PUs of the container, and stays."""
    made = containers.create_neighbour("neighbour.1", Seats((0, 1), weight=512))
    assert isinstance(made, BareNeighbour)
    made.start()
    made.compute()
    wait_until(made.ready, "each on its PU")
    there = [os.sched_getaffinity(pid) for pid in made._domain.pids()]
    assert sorted(there, key=min) == [{0}, {1}]
    for vcpus in (1, 2, 0, 2, 1, 0):
        occupied(made, vcpus)
        states = [found.state for pid in made._domain.pids() if (found := stat(pid)) is not None]
        assert states.count("T") == 2 - vcpus
    made.check()
    made.destroy()


def occupied(neighbour: Neighbour, vcpus: int) -> None:
    """Have so many of its virtual CPUs compute, and wait until they do."""
    neighbour.occupy(vcpus)
    wait_until(lambda: neighbour.busy() == vcpus, "the number that compute")


def test_a_container_that_has_ended_is_one_sentence(domain: EnteredDomain) -> None:
    init = domain._init
    assert init is not None
    os.kill(init.pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(init), "its end")
    assert domain.pids() == []
    with pytest.raises(UserError, match=r"^db\.1: its container has ended"):
        domain.run(["true"], timeout=20)


@pytest.mark.parametrize("seconds", [0.05, 0.3, 0.6, 1.0, 1.7])
def test_kill_9_while_containers_are_made_then_clean_leaves_nothing(
    seconds: float,
    kind: type[HostEnvironment],
    trial: str,
    traces: Traces,
) -> None:
    made = (kind.__module__, kind.__name__)
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, trial, *made], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "up\n"
        time.sleep(seconds)
        owner.kill()
    assert not traces.none()
    clean(force=False)
    assert traces.none(), traces.found()


def test_a_program_on_a_mount_of_its_own_is_refused_before_it_is_started(
    monkeypatch: pytest.MonkeyPatch, domain: EnteredDomain
) -> None:
    monkeypatch.setattr("tierlab.environments.containers.root.mount_of", lambda _: Path("/usr"))
    with pytest.raises(UserError, match=r"^db\.1: 'sleep' cannot be run .* lies on /usr, a mount"):
        domain.run(["sleep", "1"], timeout=20)


def wait_until_running(domain: EnteredDomain) -> None:
    """Until the program has entered the container."""
    wait_until(lambda: any(b"sleep" in name_of(pid) for pid in domain.pids()), "the entering")


def name_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/comm").read_bytes()
