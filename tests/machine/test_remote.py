"""The shape of another machine: a real sshd on this one, which lets in by a key of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.machine import remote, topology
from tierlab.machine.hwloc import pus_at

SSHD = "/usr/sbin/sshd"
ADDRESS = "127.77.1.1"
SEPARATION = Path("/run/sshd")
"""sshd does not start without this folder, which an init system makes."""

pytestmark = [
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for sshd"),
    pytest.mark.skipif(not Path(SSHD).exists(), reason="needs openssh-server"),
]


@dataclass(frozen=True)
class Machine:
    """What answers at `source`; `programs` is the PATH of whoever logs in."""

    source: str
    programs: Path


def key(path: Path) -> Path:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(command, check=True)
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, sshd: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while True:
        assert sshd.poll() is None
        try:
            socket.create_connection((ADDRESS, port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


def private_ssh(folder: Path, settings: str) -> None:
    """Put a program `ssh` there with settings of its own; ssh does not look for them in $HOME."""
    (folder / "settings").write_text(settings)
    program = folder / "ssh"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/settings "$@"\n')
    program.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    own, known = key(tmp_path / "own"), key(tmp_path / "server")
    shutil.copy(own.with_suffix(".pub"), tmp_path / "authorized")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "lstopo-no-graphics"):
        (programs / name).symlink_to(str(shutil.which(name)))
    port = free_port()
    options = {
        "HostKey": known,
        "AuthorizedKeysFile": tmp_path / "authorized",
        "StrictModes": "no",
        "UsePAM": "no",
        "PidFile": "none",
        "SetEnv": f"PATH={programs}",
    }
    made = not SEPARATION.exists()
    SEPARATION.mkdir(exist_ok=True)
    command = [SSHD, "-D", "-f", "/dev/null", "-o", f"ListenAddress={ADDRESS}:{port}"]
    for name, value in options.items():
        command += ["-o", f"{name}={value}"]
    sshd = subprocess.Popen(command)
    home = tmp_path / "home"
    home.mkdir()
    private_ssh(
        home,
        f"IdentityFile {own}\nIdentitiesOnly yes\nUserKnownHostsFile {home}/known\n"
        "StrictHostKeyChecking accept-new\n",
    )
    monkeypatch.setenv("PATH", f"{home}:{os.environ['PATH']}")
    try:
        wait_for(port, sshd)
        yield Machine(f"ssh://root@{ADDRESS}:{port}", programs)
    finally:
        sshd.terminate()
        sshd.wait(10)
        if made:
            SEPARATION.rmdir()


def test_a_machine_behind_ssh_is_the_machine(machine: Machine) -> None:
    here, there = topology.read(), topology.read(machine.source)
    # A host may give and take a virtual machine's memory meanwhile: a node's size is not compared.
    assert there.nodes.keys() == here.nodes.keys()
    assert replace(there, nodes=here.nodes) == here
    package = f"package:{here.packages[0]}"
    assert pus_at(package, machine.source) == pus_at(package)
    with pytest.raises(UserError, match=rf"no place on machine '{machine.source}'"):
        pus_at("package:99", machine.source)


def test_what_is_missing_there_is_said(machine: Machine) -> None:
    (machine.programs / "lstopo-no-graphics").unlink()
    with pytest.raises(UserError, match=r"hwloc is not there; install the package hwloc-nox"):
        remote.export(machine.source)


def test_a_machine_that_does_not_let_in_is_said(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "authorized").write_text("")
    with pytest.raises(UserError, match=r"ssh does not get there \(.*Permission denied"):
        remote.export(machine.source)


@pytest.mark.usefixtures("machine")
def test_a_machine_that_is_not_there_is_said() -> None:
    with pytest.raises(UserError, match=r"ssh does not get there \(.*refused"):
        remote.export(f"ssh://{ADDRESS}:{free_port()}")
