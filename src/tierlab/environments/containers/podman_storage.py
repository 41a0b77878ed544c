"""podman with storage and settings of a trial's own: the user's containers are never touched.

Everything it writes lies below one folder of the trial's, and the machine's own containers.conf,
storage.conf and hooks are not read: see containers.conf(5) and containers-storage.conf(5).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from tierlab.environments.files import make_folder, share_folder
from tierlab.environments.identity import TOKEN, carrying
from tierlab.environments.launching import last_words, run_to_end
from tierlab.environments.ledger import Ledger
from tierlab.environments.process import Launch
from tierlab.errors import UserError
from tierlab.machine.programs import SYSTEM_PATH

REMOVE_SECONDS = 30.0
LOAD_SECONDS = 600.0
SHARED = (Path("/run/runc"), Path("/run/containers"), Path("/run/containers/networks"))
"""Folders that podman makes though nothing is kept there: runc's own by the monitor's last call,
the network's by netavark where podman prefers it."""

_ENGINE = """\
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "none"
lock_type = "file"
tmp_dir = "{folder}/tmp"
static_dir = "{folder}/root/libpod"
volume_path = "{folder}/root/volumes"
hooks_dir = ["{folder}/hooks"]
conmon_env_vars = ["PATH={path}", "{token_name}={token}"]

[network]
network_config_dir = "{folder}/networks"
"""
# runc, since crun refuses a machine with both versions of the control groups. Locks in files, since
# those in shared memory are one set for all of a user's containers and stay behind. The machine's
# hooks would run in each container, and podman locks the folder of networks even if it uses none.

_STORAGE = """\
[storage]
driver = "{driver}"
graphroot = "{folder}/root"
runroot = "{folder}/run"
[storage.options]
additionalimagestores = [{stores}]
"""


@dataclass(frozen=True)
class Storage:
    """Where a trial's podman keeps what it has; `token` is the ledger's."""

    folder: Path
    token: str
    driver: str = "vfs"
    """The plainest does where no image is ever stored or used."""
    stores: tuple[str, ...] = ()
    """Folders of the user's own images, which are only read; stored by the same driver."""

    @property
    def entrance(self) -> Path:
        """What programs need to enter a container of an image."""
        return self.folder / "entrance"

    def make(self, ledger: Ledger) -> None:
        """Make the folder, with podman's settings in it."""
        for shared in SHARED:
            share_folder(ledger, shared)
        make_folder(ledger, self.folder, kind="container storage", mode=0o700)
        (self.folder / "hooks").mkdir()
        words = {
            **{"folder": self.folder, "path": SYSTEM_PATH},
            **{"token_name": TOKEN, "token": self.token, "driver": self.driver},
            "stores": ", ".join(json.dumps(each) for each in self.stores),
        }
        (self.folder / "containers.conf").write_text(_ENGINE.format(**words))
        (self.folder / "storage.conf").write_text(_STORAGE.format(**words))

    def argv(self, *arguments: str) -> list[str]:
        """The command line of podman."""
        return ["podman", "--runtime-flag", f"root={self.folder}/runc", *arguments]

    @property
    def environment(self) -> Mapping[str, str]:
        """What must be in podman's environment."""
        return {
            "PATH": SYSTEM_PATH,
            "HOME": str(self.folder),
            "CONTAINERS_CONF": str(self.folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
        }


def load_archive(storage: Storage, ledger: Ledger, archive: str) -> None:
    """Have podman load an image into the storage; `UserError` if it cannot."""
    launch = Launch(
        storage.argv("pull", "--quiet", archive),
        ledger.token,
        env=storage.environment,
        cwd=storage.folder,
    )
    done = run_to_end(ledger, launch, LOAD_SECONDS)
    if done is None or done.status != 0:
        reason = "it takes too long" if done is None else last_words(done.stderr)
        raise UserError(f"{archive.partition(':')[2]}: podman cannot load the image ({reason}).")


def remove(storage: Storage, name: str) -> str | None:
    """Have podman remove a container with all that runs in it; the reason if it did not.

    There is nothing to do for one that was never made, nor where podman's settings are gone.
    """
    if not (storage.folder / "containers.conf").exists():
        return None
    try:
        done = subprocess.run(
            storage.argv("rm", "--force", "--ignore", "--time", "0", name),
            env={**storage.environment, TOKEN: storage.token},
            cwd=storage.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=REMOVE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"podman did not end within {REMOVE_SECONDS:g} seconds"
    except OSError as error:
        return f"podman cannot be run: {error.strerror}"
    return None if done.returncode == 0 else last_words(done.stderr)


def monitors(token: str, names: frozenset[str]) -> list[int]:
    """List what podman still has running for a container: its monitor, and what that calls.

    `names`: the container's name, and its id once it is known.
    """
    return [pid for pid in carrying(psutil.pids(), token) if not names.isdisjoint(_words(pid))]


def _words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return []
