"""A session with a vCenter: its objects by name, and its tasks to their ends.

Source: the vSphere Web Services API, spoken by pyVmomi.
"""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from pyVim.connect import Disconnect, SmartConnect
from pyVmomi import vim, vmodl

from tierlab.environments.vsphere.settings import Settings
from tierlab.errors import UserError

CONNECT_SECONDS = 20
TASK_SECONDS = 1800.0
"""A clone may copy a disk."""
LEAST_WAIT_SECONDS, MOST_WAIT_SECONDS = 0.02, 1.0


class Session:
    """A login at the vCenter of the settings. Threads may share it."""

    def __init__(self, settings: Settings) -> None:
        """Log in; `UserError` with the reason if that is refused."""
        self.settings = settings
        self.tls = _tls(settings)
        with answered(f"vCenter {settings.address}"):
            self._instance = SmartConnect(
                host=settings.host,
                port=settings.port,
                user=settings.user,
                pwd=settings.password.get_secret_value(),
                sslContext=self.tls,
                httpConnectionTimeout=CONNECT_SECONDS,
            )
            self.content = self._instance.RetrieveContent()

    def close(self) -> None:
        """Log out; a vCenter that is gone has forgotten the session anyhow."""
        Disconnect(self._instance)

    def time(self) -> datetime:
        """The vCenter's clock."""
        found: datetime = self._instance.CurrentTime()
        return found

    def task(self, name: str) -> vim.Task:
        """The task that the vCenter calls so, whether or not it still knows it."""
        return vim.Task(name, self._instance._stub)

    def find(self, kind: Any, path: str) -> Any:
        """The one object of a kind with this name, or with this end of its path."""
        found = self.all(kind, path)
        if len(found) == 1:
            return found[0]
        many = f"{len(found)} objects are" if found else "nothing is"
        raise UserError(
            f"{self.settings.file}: '{path}': {many} called so at vCenter"
            f" {self.settings.address} ({kind.__name__}); name one, by more of its path if need be."
        )

    def all(self, kind: Any, path: str) -> list[Any]:
        """All objects of a kind with this name, or with this end of their paths."""
        *above, name = path.split("/")
        content = self.content
        view = content.viewManager.CreateContainerView(content.rootFolder, [kind], True)
        try:
            return [each for each in view.view if each.name == name and _is_below(each, above)]
        finally:
            view.Destroy()


@contextmanager
def session(settings: Settings) -> Iterator[Session]:
    """A session for as long as the context."""
    opened = Session(settings)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def answered(who: str) -> Iterator[None]:
    """Make what the vCenter refuses, or that it is out of reach, one sentence about `who`."""
    try:
        yield
    except vmodl.MethodFault as fault:
        raise UserError(f"{who}: {reason(fault)}.") from fault
    except (OSError, http.client.HTTPException) as error:
        raise UserError(f"{who}: does not answer ({error}).") from error


def finish(task: vim.Task, who: str) -> Any:
    """Wait for a task's end; its result. `UserError` about `who` if it fails."""
    deadline, pause = time.monotonic() + TASK_SECONDS, LEAST_WAIT_SECONDS
    with answered(who):
        while (info := task.info).state in ("queued", "running"):
            if time.monotonic() > deadline:
                raise UserError(f"{who}: {info.descriptionId} takes over {TASK_SECONDS:g} seconds.")
            time.sleep(pause)
            pause = min(2 * pause, MOST_WAIT_SECONDS)
        if info.error is not None:
            raise info.error
        return info.result


def reason(fault: vmodl.MethodFault) -> str:
    """Why the vCenter refuses, in its own words."""
    if isinstance(fault, vim.fault.InvalidLogin):
        return "does not know this user and password"
    kind = type(fault).__name__.rpartition(".")[2]
    cause = fault.faultCause
    words = fault.msg or (cause.msg if cause is not None else None)
    return f"{kind}: {' '.join(words.split())}" if words else kind


def _tls(settings: Settings) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=settings.authority)
    except OSError as error:
        raise UserError(
            f"{settings.file}: `authority`: {settings.authority} holds no certificates ({error});"
            " name a file of PEM certificates."
        ) from error


def _is_below(entity: vim.ManagedEntity, above: list[str]) -> bool:
    parent = entity.parent
    for name in reversed(above):
        if parent is None or parent.name != name:
            return False
        parent = parent.parent
    return True
