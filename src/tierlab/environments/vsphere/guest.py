"""Programs and files in a virtual machine, by the vCenter's guest operations.

These are what VMware Tools do in the guest: start a program through a shell, tell of its end, and
carry single files. So each program starts in a small script, which keeps what it says in a file.
"""

from __future__ import annotations

import io
import itertools
import shlex
import shutil
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pyVmomi import vim, vmodl

from tierlab.environments.domain import Completed
from tierlab.environments.guests.remote_process import SHELL
from tierlab.environments.launching import last_words
from tierlab.environments.vsphere.session import Session, answered
from tierlab.errors import UserError

LEAST_WAIT_SECONDS, MOST_WAIT_SECONDS = 0.02, 0.5
TRANSFER_SECONDS = DO_SECONDS = 600.0
"""For what may be large."""
SIGNALLED = 128
"""Added by a shell to the number of the signal that ended a program."""

_KEEP = """\
said=$1; shift
"$@" >"$said.out" 2>"$said.err" </dev/null
status=$?
{ wc -c <"$said.out"; cat "$said.out" "$said.err"; } >"$said"
rm "$said.out" "$said.err"
exit $status
"""
"""Runs a command and leaves what it said in one file."""


ABSENT = (
    vim.fault.GuestOperationsUnavailable,
    vim.fault.InvalidPowerState,
    vmodl.fault.ManagedObjectNotFound,
)


class GuestAbsentError(Exception):
    """The guest takes no commands yet, or not any more."""


class GuestOperations:
    """The way into one guest, as its administrator. Threads may share it."""

    def __init__(self, session: Session, vm: Any, subject: str, folder: Path) -> None:
        """`folder`: in the guest, for what is on its way; `wait_ready` makes it."""
        settings = session.settings
        self._session = session
        self._subject = subject
        self._vm = vm
        self._folder = folder
        self._numbers = itertools.count(1)
        self._idle: list[Path] = []
        """Files there that are used no more."""
        self._login = vim.vm.guest.NamePasswordAuthentication(
            username=settings.guest_user,
            password=settings.guest_password.get_secret_value(),
            interactiveSession=False,
        )

    def wait_ready(self, timeout: float) -> None:
        """Wait until the guest takes commands; `GuestAbsentError` if it does not in time."""
        deadline = time.monotonic() + timeout
        manager = self._session.content.guestOperationsManager.fileManager
        while True:
            try:
                with _talking(self._subject):
                    manager.MakeDirectoryInGuest(self._vm, self._login, str(self._folder), True)
            except GuestAbsentError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(MOST_WAIT_SECONDS)
            else:
                return

    def start(self, argv: Sequence[str]) -> int:
        """Start a program; its number at the vCenter. `GuestAbsentError` if nobody is there."""
        program, *arguments = argv
        spec = vim.vm.guest.ProcessManager.ProgramSpec(
            programPath=program, arguments=shlex.join(arguments)
        )
        manager = self._session.content.guestOperationsManager.processManager
        with _talking(self._subject):
            return int(manager.StartProgramInGuest(self._vm, self._login, spec))

    def ended(self, number: int) -> int | None:
        """Status of a started program, negative for a signal; None while it runs.

        The vCenter knows it for five minutes.
        """
        manager = self._session.content.guestOperationsManager.processManager
        with _talking(self._subject):
            found = manager.ListProcessesInGuest(self._vm, self._login, [number])
        if not found:
            raise GuestAbsentError(f"it does not know program {number} any more")
        if found[0].endTime is None:
            return None
        return _status(found[0].exitCode or 0)

    def run(self, argv: Sequence[str], timeout: float) -> Completed | None:
        """Run a command to its end; None if it has not ended after `timeout` seconds."""
        said = self.passing()
        status = self._wait(self._keep(argv, said), timeout)
        return None if status is None else Completed(status, *self._words(said))

    def succeeds(self, argv: Sequence[str], timeout: float) -> bool:
        """Whether a command does; what it says is left in the guest."""
        said = self.passing()
        status = self._wait(self._keep(argv, said), timeout)
        if status is not None:
            self._idle.append(said)
        return status == 0

    def do(self, argv: Sequence[str]) -> None:
        """Run a command that has to succeed."""
        said = self.passing()
        try:
            status = self._wait(self._keep(argv, said), DO_SECONDS)
        except GuestAbsentError as error:
            raise UserError(f"{self._subject}: its guest takes no commands ({error}).") from error
        if status == 0:
            self._idle.append(said)
            return
        why = "it takes too long" if status is None else last_words(self._words(said)[1])
        raise UserError(f"{self._subject}: '{argv[0]}' fails in the guest: {why}.")

    def passing(self) -> Path:
        """A name of a file in the guest that nobody uses, for what is only on its way."""
        return self._idle.pop() if self._idle else self._folder / str(next(self._numbers))

    def _keep(self, argv: Sequence[str], said: Path) -> int:
        return self.start([SHELL, "-c", _KEEP, "keep", str(said), *argv])

    def _wait(self, number: int, timeout: float) -> int | None:
        deadline, pause = time.monotonic() + timeout, LEAST_WAIT_SECONDS
        while (status := self.ended(number)) is None and time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(2 * pause, MOST_WAIT_SECONDS)
        return status

    def _words(self, said: Path) -> tuple[str, str]:
        """What a command said: its standard output and error."""
        content = io.BytesIO()
        self.download(said, content)
        self._idle.append(said)
        length, _, words = content.getvalue().partition(b"\n")
        out, err = words[: int(length)], words[int(length) :]
        return out.decode(errors="replace"), err.decode(errors="replace")

    def upload(self, source: IO[bytes], size: int, target: Path) -> None:
        """Write a file of the guest, in a folder that is there."""
        manager = self._session.content.guestOperationsManager.fileManager
        attributes = vim.vm.guest.FileManager.PosixFileAttributes()
        with _talking(self._subject):
            url = manager.InitiateFileTransferToGuest(
                self._vm, self._login, str(target), attributes, size, True
            )
        length = {"Content-Length": str(size), "Content-Type": "application/octet-stream"}
        request = urllib.request.Request(self._there(url), source, length, method="PUT")
        self._open(request, target).close()

    def download(self, source: Path, target: IO[bytes]) -> None:
        """Copy a file of the guest."""
        manager = self._session.content.guestOperationsManager.fileManager
        with _talking(self._subject):
            found = manager.InitiateFileTransferFromGuest(self._vm, self._login, str(source))
        request = urllib.request.Request(self._there(found.url))
        with self._open(request, source) as content:
            shutil.copyfileobj(content, target)

    def _there(self, url: str) -> str:
        """A star stands for the vCenter that was asked."""
        settings = self._session.settings
        if "//*:" in url:
            return url.replace("//*:", f"//{settings.host}:", 1)
        return url.replace("//*", f"//{settings.host}:{settings.port}", 1)

    def _open(self, request: urllib.request.Request, path: Path) -> IO[bytes]:
        try:
            opened: IO[bytes] = urllib.request.urlopen(
                request, timeout=TRANSFER_SECONDS, context=self._session.tls
            )
        except OSError as error:
            raise UserError(
                f"{path}: the vCenter does not carry this file of the guest's ({error}); look"
                " whether its disk has room."
            ) from error
        return opened


@contextmanager
def _talking(subject: str) -> Iterator[None]:
    """Tell a guest that is not there from a vCenter that refuses."""
    try:
        with answered(subject):
            yield
    except UserError as error:
        if isinstance(error.__cause__, ABSENT):
            raise GuestAbsentError(str(error)) from error
        raise


def _status(code: int) -> int:
    """Negative for a signal."""
    return SIGNALLED - code if code > SIGNALLED else code
