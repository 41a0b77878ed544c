"""Trials beside programs that use the same folders of the machine, above all /run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command import Command, Start
from tests.conftest import Host, host
from tests.environments.obstacle import obstacle
from tests.trial.left import check_nothing_left, traces_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

Write = Callable[..., Path]

ENVIRONMENTS = ("native", "podman")
FULL = "size=64k,nr_inodes=4"
"""Options of a file system that three files fill."""


@dataclass(frozen=True)
class Elsewhere:
    """A mount namespace with a /run of its own, held by a process, and a network of that one's."""

    pid: int
    folder: Path

    @property
    def prefix(self) -> tuple[str, ...]:
        """What a command begins with that runs there."""
        return ("nsenter", f"--target={self.pid}", "--mount", f"--wdns={self.folder}")

    def run(self, *argv: str) -> str:
        """Run another program there, on the network of its own."""
        entry = ("nsenter", f"--target={self.pid}", "--mount", "--net")
        done = subprocess.run([*entry, *argv], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Callable[[str], Elsewhere]]:
    """Make such a namespace; its argument is the options of /run's file system."""
    holders: list[subprocess.Popen[str]] = []

    def made(options: str = "size=16m") -> Elsewhere:
        script = 'mount -t tmpfs -o "mode=755,$1" tmpfs /run && echo up && exec sleep 600'
        holder = subprocess.Popen(
            [
                *("unshare", "--mount", "--net", "--propagation", "private"),
                *("sh", "-c", script, "sh", options),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        holders.append(holder)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "up\n"
        return Elsewhere(holder.pid, tmp_path)

    yield made
    for holder in holders:
        holder.kill()
        holder.communicate()


def usable(environment: str) -> str:
    if environment != "native" and (reason := obstacle(environment)) is not None:
        pytest.skip(reason)
    return environment


def check_tidy(command: Command, tierlab: Start, place: Elsewhere, before: Host) -> None:
    """Assert that nothing of a trial is left, there or here, and that `tierlab clean` sees that."""
    check_nothing_left(command, place.folder, before)
    assert f"t-001-{command.process.pid}" not in place.run("cat", "/proc/self/mounts")
    for _ in range(2):
        cleaned = tierlab("clean", prefix=place.prefix).end()
        assert (cleaned.status, cleaned.stdout) == (0, "nothing to clean\n"), cleaned.stderr


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_first_named_network_of_another_program_harms_no_trial(
    environment: str,
    tierlab: Start,
    experiment: Write,
    elsewhere: Callable[..., Elsewhere],
) -> None:
    usable(environment)
    before, place = host(), elsewhere()
    file = experiment(up=0, run=2, down=0, one_server=True)
    command = tierlab("run", file, "--environment", environment, prefix=place.prefix)
    command.wait_for("runtime")
    place.run("ip", "netns", "add", "other")
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_tidy(command, tierlab, place, before)
    assert place.run("ls", "/run").split() == ["netns"]
    assert place.run("ls", "/run/netns").split() == ["other"]


def test_clean_removes_a_killed_trial_after_another_program_named_its_first_network(
    tierlab: Start, experiment: Write, elsewhere: Callable[..., Elsewhere], tmp_path: Path
) -> None:
    before, place = host(), elsewhere()
    file = experiment(up=0, run=60, down=0, one_server=True)
    command = tierlab("run", file, prefix=place.prefix)
    command.wait_for("runtime")
    place.run("ip", "netns", "add", "other")
    command.kill()
    assert not traces_of(command, tmp_path).none(), "a killed trial cannot have tidied up"
    cleaned = tierlab("clean", prefix=place.prefix).end()
    assert cleaned.status == 0, cleaned.stderr
    check_tidy(command, tierlab, place, before)


@pytest.mark.skipif(shutil.which("podman") is None, reason="needs podman")
def test_containers_of_others_that_come_and_go_harm_no_trial(
    tierlab: Start,
    experiment: Write,
    elsewhere: Callable[..., Elsewhere],
    others_group: str,
    tmp_path: Path,
) -> None:
    usable("podman")
    before, place = host(), elsewhere()
    file = experiment(up=0, run=4, down=0, one_server=True)
    command = tierlab("run", file, "--environment", "podman", prefix=place.prefix)
    command.wait_for("runtime")
    for _ in range(2):
        place.run(*others_container(tmp_path / "theirs", others_group))
    assert command.process.poll() is None, "the containers are to come and go during the trial"
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_tidy(command, tierlab, place, before)


@pytest.fixture
def others_group() -> Iterator[str]:
    """Name a control group for podman's own, which it does not remove."""
    name = f"tierlab-others-{os.getpid()}"
    yield name
    for path in Path("/sys/fs/cgroup").glob(f"*/{name}"):
        for folder, _, _ in os.walk(path, topdown=False):
            Path(folder).rmdir()


def others_container(storage: Path, group: str) -> Sequence[str]:
    """The command that runs a container on podman's bridge to its end, with storage of its own."""
    return (
        *("podman", f"--root={storage}", "--runroot=/run/theirs", "--tmpdir=/run/libpod"),
        *("--cgroup-manager=cgroupfs", "--runtime=runc", "--storage-driver=vfs"),
        *("--events-backend=none", "run", "--rm", "--network=bridge", f"--cgroup-parent=/{group}"),
        *("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"),
        *("--security-opt=apparmor=unconfined", "--rootfs", "/:O", "/bin/true"),
    )


def fill(place: Elsewhere) -> None:
    place.run("sh", "-c", "exec 2>/dev/null; cat /dev/zero >/run/full; touch /run/1 /run/2; :")
    with pytest.raises(AssertionError, match="No space left"):
        place.run("mkdir", "/run/more")


def test_a_full_run_folder_harms_no_trial_of_bare_processes(
    tierlab: Start, experiment: Write, elsewhere: Callable[..., Elsewhere]
) -> None:
    before, place = host(), elsewhere(FULL)
    fill(place)
    command = tierlab("run", experiment(up=0, run=1, down=0, one_server=True), prefix=place.prefix)
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_tidy(command, tierlab, place, before)


def test_a_full_run_folder_is_a_sentence_where_containers_need_it(
    tierlab: Start, experiment: Write, elsewhere: Callable[..., Elsewhere]
) -> None:
    usable("podman")
    before, place = host(), elsewhere(FULL)
    fill(place)
    file = experiment(up=0, run=1, down=0, one_server=True)
    command = tierlab("run", file, "--environment", "podman", prefix=place.prefix)
    ended = command.end()
    assert ended.sentence == (
        "/run/runc: cannot make the folder (No space left on device); make room on its file system."
    )
    check_tidy(command, tierlab, place, before)
