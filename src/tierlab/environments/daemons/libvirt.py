"""A libvirt daemon of one trial's own.

See https://libvirt.org/manpages/libvirtd.html and https://libvirt.org/cgroups.html.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import STDOUT
from typing import ClassVar

from tierlab.environments.daemons.own import COMMAND_SECONDS, OwnDaemon
from tierlab.environments.launching import launch_program
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.process import Launch, Process
from tierlab.machine.control_groups import hierarchies
from tierlab.machine.programs import SYSTEM_PATH

PROGRAMS: Mapping[str, str] = {
    "libvirtd": "libvirt-daemon",
    "virsh": "libvirt-clients",
}
"""Each with the Debian package that brings it."""

SHADOWED = ("/etc/libvirt", "/var/cache/libvirt", "/var/lib/libvirt", "/var/log/libvirt")

ACCOUNTS = {
    "/etc/passwd": "libvirt-qemu:x:64055:64055::/nonexistent:/usr/sbin/nologin\n",
    "/etc/group": "libvirt-qemu:x:64055:\n",
}
"""The QEMU driver asks for Debian's account of it, though it runs nothing under that. Packages that
start a libvirt of the machine's make it; without them it is known to the daemon alone."""

DRIVERS = ("usr/lib/*/libvirt/connection-driver", "usr/lib64/libvirt/connection-driver")
"""Where libvirt's drivers lie, below the root: Debian's place and others'."""

_DAEMON = """\
host_uuid = "{uuid}"
listen_tls = 0
listen_tcp = 0
auth_unix_ro = "none"
auth_unix_rw = "none"
unix_sock_ro_perms = "0700"
unix_sock_rw_perms = "0700"
log_outputs = "3:file:/var/log/libvirt/libvirtd.log"
"""
_LXC = """\
security_driver = "none"
"""
_QEMU = """\
user = "root"
group = "root"
security_driver = "none"
stdio_handler = "file"
remember_owner = 0
cgroup_controllers = [ ]
"""
# QEMU stays in the control group that it is given from outside.
SETTINGS = {"libvirtd.conf": _DAEMON, "lxc.conf": _LXC, "qemu.conf": _QEMU}


class LibvirtDaemon(OwnDaemon):
    """A running libvirtd with one driver (``lxc`` or ``qemu``).

    `virsh` runs a command against it; any other client of libvirt opens `uri`, as root of this
    host::

        daemon = LibvirtDaemon(ground, "qemu")
        daemon.virsh("create", str(xml))           # or: libvirt.open(daemon.uri)

    Two daemons of one trial, for migration, have two names; they differ in their host's UUID.
    """

    program: ClassVar[str] = "libvirtd"
    client: ClassVar[str] = "virsh"
    shadowed: ClassVar[tuple[str, ...]] = SHADOWED
    replaced: ClassVar[tuple[str, ...]] = tuple(ACCOUNTS)

    def __init__(self, ground: Ground, driver: str, name: str = "libvirt") -> None:
        self.driver = driver
        super().__init__(ground, name)

    @property
    def uri(self) -> str:
        """Where a client of libvirt finds it."""
        return f"{self.driver}:///system?socket={self.folder}/run/libvirt/libvirt-sock"

    def virsh(
        self,
        *arguments: str,
        subject: str = "system.environment",
        seconds: float = COMMAND_SECONDS,
    ) -> str:
        """Run a command of virsh(1) to its end; what it said, or `UserError` about `subject`."""
        argv = ["virsh", "--quiet", "--connect", self.uri, *arguments]
        env = {"PATH": SYSTEM_PATH, "LC_ALL": "C"}
        return self.ask(argv, command=arguments[0], subject=subject, env=env, seconds=seconds)

    def keep(self, script: str, *arguments: str, log: Path) -> Process:
        """Start a client that lives beside the daemon, a shell script; its output goes to `log`."""
        environment = {"PATH": SYSTEM_PATH, "LC_ALL": "C"}
        argv = ["sh", "-c", script, "tierlab-libvirt", *arguments]
        launch = Launch(argv, self._ground.ledger.token, self._groups, env=environment)
        with log.open("ab") as file:
            return launch_program(self._ground.ledger, launch, file.fileno(), STDOUT)

    def _furnish(self) -> None:
        for path, account in ACCOUNTS.items():
            Path(f"{self.folder}{path}").write_text(Path(path).read_text() + account)
        # Only one is loaded: another that cannot start here would end the daemon.
        drivers = self.folder / "drivers"
        drivers.mkdir()
        library = driver_file(self.driver)
        assert library is not None  # `probe` refuses a machine without
        (drivers / library.name).symlink_to(library)
        for name, text in SETTINGS.items():
            words = text.format(uuid=uuid.uuid4())
            Path(f"{self.folder}/etc/libvirt", name).write_text(words)

    def _argv(self) -> Sequence[str]:
        return ["libvirtd", "--pid-file", "/run/libvirtd.pid"]

    def _environment(self) -> Mapping[str, str]:
        return {"LIBVIRT_DRIVER_DIR": str(self.folder / "drivers")}

    def _greet(self) -> None:
        self.virsh("uri")

    def _hidden(self) -> Sequence[str]:
        """Trees of version 2 beside such of version 1: libvirt would take the wrong ones."""
        trees = hierarchies()
        if all(tree.version == 2 for tree in trees):
            return []
        return [str(tree.root) for tree in trees if tree.version == 2]

    def _logs(self) -> Sequence[Path]:
        return [self.folder / "var/log/libvirt/libvirtd.log"]


def driver_file(driver: str) -> Path | None:
    """The library of a driver, if it is installed."""
    name = f"libvirt_driver_{driver}.so"
    return next((path for folder in DRIVERS for path in Path("/").glob(f"{folder}/{name}")), None)
