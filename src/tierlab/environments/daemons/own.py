"""A daemon of one trial's own: the machine's of the same kind, if there is one, is never touched.

The daemon runs on the trial's network and in a mount namespace where the folders that it knows are
the trial's: settings, sockets, states and logs. Neither D-Bus nor systemd is found there, so that
control groups are made without them. The daemon and all that it starts are in the trial's groups,
and end with them.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import STDOUT
from typing import ClassVar

from tierlab.environments.cgroups.cgroup import trial_group
from tierlab.environments.files import make_folder, share_mount_point
from tierlab.environments.launching import last_words, launch_program, run_to_end
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.process import POLL_SECONDS, Launch, Process
from tierlab.errors import UserError
from tierlab.machine.control_groups import roots
from tierlab.machine.programs import SYSTEM_PATH

START_SECONDS = 20.0
COMMAND_SECONDS = 60.0

_ENTER = """\
own=$1; shift
while [ "$1" != hidden ]; do mount --bind "$own$1" "$1" || exit; shift; done; shift
while [ "$1" != run ]; do umount --lazy "$1" || exit; shift; done; shift
exec "$@"
"""
"""Binds folders of the trial's over the machine's, hides mounts, and becomes the daemon."""


class OwnDaemon(ABC):
    """A running daemon. Made in an environment's `_prepare`, once its ground is there.

    Nothing must be stopped by hand: the end of the trial, or `tierlab clean`, ends the daemon and
    whatever it has started, and removes its folder.
    """

    program: ClassVar[str]
    client: ClassVar[str]
    """The program by which it is told what to do."""
    shadowed: ClassVar[tuple[str, ...]]
    """Folders that hold the machine's; `/run` is shadowed as a whole."""
    replaced: ClassVar[tuple[str, ...]] = ()
    """Files of the machine's that it sees changed; `_furnish` writes them."""

    def __init__(self, ground: Ground, name: str) -> None:
        self.name = name
        self.folder = ground.work / f".{name}"
        """Its files, as the host sees them."""
        self._ground = ground
        self._make_folders()
        self._furnish()
        self._make_groups()
        self.process = self._launch()
        self._wait()

    @abstractmethod
    def _furnish(self) -> None:
        """Write its settings, below its folder."""

    @abstractmethod
    def _argv(self) -> Sequence[str]:
        """Its command line."""

    @abstractmethod
    def _greet(self) -> None:
        """Have the client ask it something; `UserError` while it does not answer."""

    def _environment(self) -> Mapping[str, str]:
        """What else it is told by variables."""
        return {}

    def _hidden(self) -> Sequence[str]:
        """Mounts of the machine's that it must not see."""
        return []

    def _logs(self) -> Sequence[Path]:
        """Where its last words may be besides its standard error."""
        return []

    def ask(
        self,
        argv: Sequence[str],
        *,
        command: str,
        subject: str,
        env: Mapping[str, str],
        seconds: float = COMMAND_SECONDS,
    ) -> str:
        """Run its client to the end; what that said, or `UserError` about `subject`.

        `command`: which of the client's commands it is, for the error.
        """
        launch = Launch(argv, self._ground.ledger.token, env=env)
        done = run_to_end(self._ground.ledger, launch, seconds)
        if done is not None and done.status == 0:
            return done.stdout
        reason = f"no end within {seconds:g} seconds" if done is None else last_words(done.stderr)
        raise UserError(
            f"{subject}: '{self.client} {command}' failed: {reason};"
            " 'tierlab doctor' says what this machine lacks."
        )

    def run(self, *argv: str) -> None:
        """Run a program where the daemon lives: in its mount namespace and on its network."""
        pid = str(self.process.pid)
        entry = ["nsenter", f"--target={pid}", "--mount", "--net"]
        launch = Launch(argv, self._ground.ledger.token, prefix=entry)
        done = run_to_end(self._ground.ledger, launch, COMMAND_SECONDS)
        if done is None or done.status != 0:
            reason = "no end" if done is None else last_words(done.stderr)
            raise UserError(
                f"system.environment: '{argv[0]}' failed beside {self.program}: {reason}."
            )

    def _make_folders(self) -> None:
        ledger = self._ground.ledger
        for shadowed in self.shadowed:
            share_mount_point(ledger, Path(shadowed))
        make_folder(ledger, self.folder, mode=0o700)
        for shadowed in (*self.shadowed, "/run"):
            Path(f"{self.folder}{shadowed}").mkdir(parents=True)

    def _make_groups(self) -> None:
        """The trial's group in all trees, since more of them are used than a placement does."""
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
            self._argv(),
            ground.ledger.token,
            self._groups,
            [*ground.namespace.entry, *self._entry()],
            {"PATH": SYSTEM_PATH, **self._environment()},
        )
        with (self.folder / "stderr.log").open("ab") as log:
            return launch_program(ground.ledger, launch, log.fileno(), STDOUT)

    def _entry(self) -> Sequence[str]:
        return [
            *("unshare", "--mount", "--propagation", "slave"),
            *("sh", "-c", _ENTER, f"tierlab-{self.name}", str(self.folder)),
            *(*self.shadowed, "/run", *self.replaced, "hidden", *self._hidden(), "run"),
        ]

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self._greet()
            except UserError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise UserError(
                        f"system.environment: {self.program} does not start: {self._last_words()};"
                        " 'tierlab doctor' says what this machine lacks."
                    ) from error
                time.sleep(POLL_SECONDS)
            else:
                return

    def _last_words(self) -> str:
        logs = (self.folder / "stderr.log", *self._logs())
        return last_words("\n".join(log.read_text() for log in logs if log.exists()))
