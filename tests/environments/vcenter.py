"""A vCenter to test against: govmomi's simulator, whose virtual machines podman keeps.

vcsim has the whole API and keeps its books; a virtual machine with the key ``RUN.container`` is a
container behind it, in which guest operations act for real. It calls a `docker` command line, which
here is podman with storage of the test's own. Nobody but this machine reaches it.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.pace import wait_until
from tierlab.environments.cgroups.cgroup import trial_group
from tierlab.environments.containers.entered_domain import INIT
from tierlab.environments.containers.podman_storage import Storage
from tierlab.environments.identity import TOKEN
from tierlab.environments.launching import launch_program
from tierlab.environments.ledger import Ledger
from tierlab.environments.process import Launch
from tierlab.environments.removal import remove_listed
from tierlab.machine.control_groups import roots
from tierlab.machine.programs import SYSTEM_PATH

VCSIM = Path(__file__).parents[2] / ".setup" / "vcsim"
READY_SECONDS = 30.0
CONTAINER = (
    # With the host's loopback: all of its addresses are there, and nobody else is.
    *("--network=host", "--cap-add=SYS_PTRACE", "--security-opt=apparmor=unconfined"),
    *("--pids-limit=-1", "--ulimit=nofile=20000:20000", "--ulimit=nproc=32768:32768"),
    *("--stop-timeout=0", "--cgroups=no-conmon", "--cgroup-parent=/{group}"),
    *("--rootfs /:O", *INIT),
)
"""Spliced into the command line of `docker create` as it stands."""

SETTINGS = """\
address = "{address}"
user = "{user}"
authority = "{authority}"
template = "DC0_C0_RP0_VM0"
pool = "DC0_C0/Resources"
hosts = ["DC0_C0_H0", "DC0_C0_H1"]

[network]
servers = "127.0.0.0/16"
users = "127.128.0.0/12"
device = "lo"
interface = "lo"

[extra]
"RUN.container" = '{container}'
"RUN.mountdmi" = "false"
"""


@contextmanager
def vcenter(folder: Path) -> Iterator[Mapping[str, str]]:
    """Run one; yields the environment variables by which Tierlab finds it."""
    if os.geteuid() != 0:
        pytest.skip("vcsim's containers need root")
    if not VCSIM.exists():
        pytest.skip("vcsim is not built: make setup-test")
    ledger = Ledger(f"vcsim{os.getpid()}-{secrets.token_hex(2)}", folder / "ledger")
    try:
        storage = Storage(folder / "podman", ledger.token)
        storage.make(ledger)
        for root in roots():
            ledger.add("cgroup", path=str(root / trial_group(ledger.trial)))
        yield _start(folder, storage, ledger)
    finally:
        subprocess.run([folder / "docker", "rm", "--all", "--force", "--time=0"], check=False)
        left = remove_listed(ledger)
        ledger.close()
        assert not left


def _start(folder: Path, storage: Storage, ledger: Ledger) -> dict[str, str]:
    user, password = secrets.token_hex(8), secrets.token_hex(16)
    certificate(folder)
    _docker(folder, storage)
    arguments = [
        *("-l", "127.0.0.1:0", "-username", user, "-password", str(_kept(folder, password))),
        *("-tlscert", str(folder / "certificate.pem"), "-tlskey", str(folder / "key.pem")),
        *("-cluster", "1", "-host", "2", "-standalone-host", "0", "-vm", "1", "-autostart=false"),
    ]
    said = folder / "vcsim.log"
    with said.open("ab") as log:
        # conmon leaves a note in the folder that it was started in.
        path = {"PATH": f"{folder}:{SYSTEM_PATH}"}
        launch = Launch([str(VCSIM), *arguments], ledger.token, env=path, cwd=folder)
        launch_program(ledger, launch, log.fileno(), subprocess.STDOUT)
    settings = folder / "vsphere.toml"
    settings.write_text(
        SETTINGS.format(
            address=_address(said),
            user=user,
            authority=folder / "certificate.pem",
            container=" ".join(CONTAINER).format(group=trial_group(ledger.trial)),
        )
    )
    return {
        "TIERLAB_VSPHERE": str(settings),
        "TIERLAB_VSPHERE_PASSWORD": password,
        "TIERLAB_VSPHERE_GUEST_PASSWORD": secrets.token_hex(16),
    }


def _kept(folder: Path, password: str) -> Path:
    """In a file: vcsim takes one for a secret, and no command line shows it."""
    path = folder / "password"
    path.touch(mode=0o600)
    path.write_text(password)
    return path


def certificate(folder: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=vcsim", "-keyout", str(folder / "key.pem")),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-out", str(folder / "certificate.pem")),
        ],
        check=True,
        capture_output=True,
    )


def _docker(folder: Path, storage: Storage) -> None:
    """The `docker` that vcsim calls."""
    settings = {**storage.environment, TOKEN: storage.token}
    words = [f"{name}='{value}'" for name, value in settings.items()]
    script = folder / "docker"
    script.write_text(
        f'#!/bin/sh\nexport {" ".join(words)}\nexec {" ".join(storage.argv())} "$@"\n'
    )
    script.chmod(0o755)


def _address(said: Path) -> str:
    def told() -> list[str]:
        return re.findall(r"@?(127\.0\.0\.1:\d+)/sdk", said.read_text())

    wait_until(told, "vcsim's start", READY_SECONDS)
    return told()[0]
