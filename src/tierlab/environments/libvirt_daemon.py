"""A libvirt daemon of one trial's own: the machine's libvirt, if there is one, is never touched.

The daemon runs on the trial's network and in a mount namespace where the folders that libvirt knows
are the trial's: settings, sockets, states and logs. Neither D-Bus nor systemd is found there, so
that libvirt makes its control groups by itself. The daemon and all that it starts are in the
trial's groups, and end with them.

See https://libvirt.org/manpages/libvirtd.html and https://libvirt.org/cgroups.html.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import STDOUT

from tierlab.environments.cgroup import trial_group
from tierlab.environments.files import make_folder, share_mount_point
from tierlab.environments.host_domain import Ground
from tierlab.environments.launching import last_words, launch_program, run_to_end
from tierlab.environments.process import POLL_SECONDS, Launch, Process
from tierlab.errors import UserError
from tierlab.machine.control_groups import hierarchies, roots
from tierlab.machine.programs import SYSTEM_PATH

PROGRAMS: Mapping[str, str] = {
    "libvirtd": "libvirt-daemon",
    "virsh": "libvirt-clients",
}
"""Each with the Debian package that brings it."""

SHADOWED = ("/etc/libvirt", "/var/cache/libvirt", "/var/lib/libvirt", "/var/log/libvirt")
"""Folders that hold a machine's libvirt; `/run` is shadowed as a whole."""

ACCOUNTS = {
    "/etc/passwd": "libvirt-qemu:x:64055:64055::/nonexistent:/usr/sbin/nologin\n",
    "/etc/group": "libvirt-qemu:x:64055:\n",
}
"""The QEMU driver asks for Debian's account of it, though it runs nothing under that. Packages that
start a libvirt of the machine's make it; without them it is known to the daemon alone."""

DRIVERS = ("usr/lib/*/libvirt/connection-driver", "usr/lib64/libvirt/connection-driver")
"""Where libvirt's drivers lie, below the root: Debian's place and others'."""

START_SECONDS = 20.0
COMMAND_SECONDS = 60.0

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

_ENTER = """\
own=$1; shift
while [ "$1" != hidden ]; do mount --bind "$own$1" "$1" || exit; shift; done; shift
while [ "$1" != run ]; do umount --lazy "$1" || exit; shift; done; shift
exec "$@"
"""
"""Binds folders of the trial's over the machine's, hides mounts, and becomes the daemon."""


class LibvirtDaemon:
    """A running libvirtd with one driver (``lxc`` or ``qemu``).

    Made in an environment's `_prepare`, once its ground is there. `virsh` runs a command against
    it; any other client of libvirt opens `uri`, as root of this host::

        daemon = LibvirtDaemon(ground, "qemu")
        daemon.virsh("create", str(xml))           # or: libvirt.open(daemon.uri)

    Two daemons of one trial, for migration, have two names; they differ in their host's UUID.
    Nothing must be stopped by hand: the end of the trial, or `tierlab clean`, ends the daemon and
    whatever it has started, and removes its folder.
    """

    def __init__(self, ground: Ground, driver: str, name: str = "libvirt") -> None:
        self.driver, self.name = driver, name
        self.folder = ground.work / f".{name}"
        """Its files, as the host sees them."""
        self._ground = ground
        self._make_folders()
        self._make_groups()
        self.process = self._launch()
        self._wait()

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
        ledger = self._ground.ledger
        argv = ["virsh", "--quiet", "--connect", self.uri, *arguments]
        launch = Launch(argv, ledger.token, env={"PATH": SYSTEM_PATH, "LC_ALL": "C"})
        done = run_to_end(ledger, launch, seconds)
        if done is None:
            raise _failure(subject, arguments[0], f"no end within {seconds:g} seconds")
        if done.status != 0:
            raise _failure(subject, arguments[0], last_words(done.stderr))
        return done.stdout

    def run(self, *argv: str) -> None:
        """Run a program where the daemon lives: in its mount namespace and on its network."""
        pid = str(self.process.pid)
        entry = ["nsenter", f"--target={pid}", "--mount", "--net"]
        launch = Launch(argv, self._ground.ledger.token, prefix=entry)
        done = run_to_end(self._ground.ledger, launch, COMMAND_SECONDS)
        if done is None or done.status != 0:
            reason = "no end" if done is None else last_words(done.stderr)
            raise UserError(f"system.environment: '{argv[0]}' failed beside libvirtd: {reason}.")

    def keep(self, script: str, *arguments: str, log: Path) -> Process:
        """Start a client that lives beside the daemon, a shell script; its output goes to `log`."""
        environment = {"PATH": SYSTEM_PATH, "LC_ALL": "C"}
        argv = ["sh", "-c", script, "tierlab-libvirt", *arguments]
        launch = Launch(argv, self._ground.ledger.token, self._groups, env=environment)
        with log.open("ab") as file:
            return launch_program(self._ground.ledger, launch, file.fileno(), STDOUT)

    def _make_folders(self) -> None:
        ledger = self._ground.ledger
        for shadowed in SHADOWED:
            share_mount_point(ledger, Path(shadowed))
        make_folder(ledger, self.folder, mode=0o700)
        for shadowed in (*SHADOWED, "/run"):
            Path(f"{self.folder}{shadowed}").mkdir(parents=True)
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

    def _make_groups(self) -> None:
        """The trial's group in all trees, since libvirt uses more of them than a placement does."""
        ledger, hierarchy = self._ground.ledger, self._ground.hierarchy
        assert hierarchy is not None  # `probe` refuses a machine without
        # Before any group: the last of what a ledger lists goes first.
        hierarchy.hand_down_all(ledger)
        hierarchy.make_trial(ledger)
        for root in roots():
            folder = root / trial_group(ledger.trial)
            if not folder.exists():
                entry = ledger.add("cgroup", path=str(folder))
                folder.mkdir()
                ledger.amend(entry, inode=folder.stat().st_ino)
        self._groups = hierarchy.make(ledger, self.name).entrances()

    def _launch(self) -> Process:
        ground = self._ground
        assert ground.namespace is not None  # nor without these
        launch = Launch(
            ["libvirtd", "--pid-file", "/run/libvirtd.pid"],
            ground.ledger.token,
            self._groups,
            [*ground.namespace.entry, *self._entry()],
            {"PATH": SYSTEM_PATH, "LIBVIRT_DRIVER_DIR": str(self.folder / "drivers")},
        )
        with (self.folder / "stderr.log").open("ab") as log:
            return launch_program(ground.ledger, launch, log.fileno(), STDOUT)

    def _entry(self) -> Sequence[str]:
        return [
            *("unshare", "--mount", "--propagation", "slave"),
            *("sh", "-c", _ENTER, "tierlab-libvirt", str(self.folder)),
            *(*SHADOWED, "/run", *ACCOUNTS, "hidden", *_hidden(), "run"),
        ]

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.virsh("uri")
            except UserError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise UserError(
                        f"system.environment: libvirtd does not start: {self._last_words()};"
                        " 'tierlab doctor' says what this machine lacks."
                    ) from error
                time.sleep(POLL_SECONDS)
            else:
                return

    def _last_words(self) -> str:
        logs = (self.folder / "stderr.log", self.folder / "var/log/libvirt/libvirtd.log")
        return last_words("\n".join(log.read_text() for log in logs if log.exists()))


def _failure(subject: str, command: str, reason: str) -> UserError:
    return UserError(
        f"{subject}: 'virsh {command}' failed: {reason};"
        " 'tierlab doctor' says what this machine lacks."
    )


def driver_file(driver: str) -> Path | None:
    """The library of a driver, if it is installed."""
    name = f"libvirt_driver_{driver}.so"
    return next((path for folder in DRIVERS for path in Path("/").glob(f"{folder}/{name}")), None)


def _hidden() -> list[str]:
    """Trees of version 2 beside such of version 1: libvirt would take the wrong ones."""
    trees = hierarchies()
    if all(tree.version == 2 for tree in trees):
        return []
    return [str(tree.root) for tree in trees if tree.version == 2]
