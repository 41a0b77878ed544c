"""Removing one thing that a ledger lists: a function for each kind.

It removes the thing only if it is the one that was made: processes by pid and start time, the rest
by path and inode number. What has another identity is left alone and reported; what is gone already
is simply struck off.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tierlab.environments.containers import podman_storage
from tierlab.environments.containers.podman_storage import Storage
from tierlab.environments.files import remove_tree
from tierlab.environments.identity import Identity, session_members, stat
from tierlab.environments.ledger import Account, Entry
from tierlab.environments.mounts import detach, mounts_below, remove_mount_point
from tierlab.environments.process import end, remove_code_map
from tierlab.environments.qemu import process as qemu_process
from tierlab.errors import UserError

VIRTUAL_MACHINE = "virtual machine"
"""As what the ledger lists one of a vCenter's."""


@dataclass(frozen=True)
class Outcome:
    """What became of an entry: `done` if it is gone for certain, `note` what was done or not."""

    entry: Entry
    done: bool
    note: str | None
    """None if there was nothing to do."""


def describe(entry: Entry) -> str:
    """Name an entry for people."""
    what = entry.what
    if entry.kind in ("container", "guest", VIRTUAL_MACHINE):
        return f"{entry.kind} {what['name']}"
    if entry.kind == "process":
        return f"process {what['pid']} ({what['program']})"
    if entry.kind == "controller":
        return f"controller {what['controller']} handed down by {what['path']}"
    return f"{entry.kind} {what['path']}"


def _remove_process(entry: Entry, account: Account, grace: float) -> Outcome:
    if not account.is_of_this_boot:
        return Outcome(entry, True, None)
    leader = Identity(int(entry.what["pid"]), int(entry.what["start"]))
    ended = end(lambda: session_members(leader, account.token), grace)
    if left := session_members(leader, account.token):
        states = ", ".join(sorted({one.state for each in left if (one := stat(each))}))
        note = (
            f"could not end {describe(entry)}, whose processes are in state {states or 'unknown'}"
        )
        return Outcome(entry, False, note)
    # Who has the number by now has its own map there.
    if (found := stat(leader.pid)) is None or found.start == leader.start:
        remove_code_map(leader.pid)
    return Outcome(entry, True, f"ended {describe(entry)}" if ended else None)


def _identity_problem(entry: Entry, path: Path) -> str | None:
    """Say why the thing at this path is not the one that was made; None if it is."""
    made = entry.what.get("inode")
    if made is not None and path.lstat().st_ino != made:
        return f"left {describe(entry)} alone: it is not the one that the trial made"
    return None


def _remove_cgroup(entry: Entry, account: Account, grace: float) -> Outcome:
    path = Path(str(entry.what["path"]))
    if not account.is_of_this_boot or not path.exists():
        return Outcome(entry, True, None)
    problem = _identity_problem(entry, path)
    if problem is not None:
        return Outcome(entry, False, problem)

    # What makes containers makes groups below, and may be removing them at the moment.
    for folder, _, _ in os.walk(path, topdown=False):
        with suppress(FileNotFoundError):
            _remove_group(Path(folder), grace)
    return Outcome(entry, True, f"removed {describe(entry)}")


def _remove_group(folder: Path, grace: float) -> None:
    """End all that is in it, and remove it."""

    def members() -> list[int]:
        try:
            return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENODEV):
                return []
            raise

    end(members, grace)
    # It stays busy for a moment after its last process has ended.
    _retry(folder.rmdir, errno.EBUSY)


def _retry(action: Callable[[], None], while_: int) -> None:
    """Try again for five seconds while that is the error."""
    deadline = None
    while True:
        try:
            return action()
        except OSError as error:
            # The first try may have had much to remove.
            deadline = deadline or time.monotonic() + 5.0
            if error.errno != while_ or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _take_controller_back(entry: Entry, account: Account, _grace: float) -> Outcome:
    root = Path(str(entry.what["path"]))
    if not account.is_of_this_boot or any(root.glob("tierlab-*/")):
        return Outcome(entry, True, None)
    try:
        (root / "cgroup.subtree_control").write_text(f"-{entry.what['controller']}")
    except OSError as error:
        # A group of others' hands it on by now: the kernel takes it from none that does.
        if error.errno != errno.EBUSY:
            raise
        return Outcome(entry, True, f"left {describe(entry)}: others use it now")
    return Outcome(entry, True, f"took back {describe(entry)}")


def _remove_namespace(entry: Entry, _account: Account, _grace: float) -> Outcome:
    """Of a trial of an earlier Tierlab, whose namespaces had names in /run/netns."""
    path = Path(str(entry.what["path"]))
    if not path.exists():
        return Outcome(entry, True, None)
    if path.stat().st_dev != path.parent.stat().st_dev:  # the namespace is bound there
        problem = _identity_problem(entry, path)
        if problem is not None:
            return Outcome(entry, False, problem)
    remove_mount_point(path)
    return Outcome(entry, True, f"removed {describe(entry)}")


def _remove_container(entry: Entry, account: Account, grace: float) -> Outcome:
    if not account.is_of_this_boot:
        return Outcome(entry, True, None)
    name, storage = str(entry.what["name"]), Path(str(entry.what["path"]))
    names = frozenset(str(entry.what[key]) for key in ("name", "id") if key in entry.what)
    problem = podman_storage.remove(Storage(storage, account.token), name)

    def members() -> list[int]:
        return podman_storage.monitors(account.token, names)

    # Its monitor calls podman once more when it ends; that must not outlive the storage.
    end(members, grace)
    if members():
        return Outcome(entry, False, f"could not end {describe(entry)}")
    if problem is not None:
        # What was just being made or unmade when its owner was killed is so no longer.
        problem = podman_storage.remove(Storage(storage, account.token), name)
    if problem is not None:
        return Outcome(entry, False, f"could not remove {describe(entry)} ({problem})")
    return Outcome(entry, True, f"removed {describe(entry)}")


def _remove_guest(entry: Entry, account: Account, grace: float) -> Outcome:
    """Ending its hypervisor ends it: the daemon that keeps it may be gone already."""
    if not account.is_of_this_boot:
        return Outcome(entry, True, None)

    def members() -> list[int]:
        return qemu_process.hypervisors(account.token, str(entry.what["name"]))

    ended = end(members, grace)
    if members():
        return Outcome(entry, False, f"could not end {describe(entry)}")
    return Outcome(entry, True, f"ended {describe(entry)}" if ended else None)


def _remove_virtual_machine(entry: Entry, account: Account, _grace: float) -> Outcome:
    """At the vCenter, which outlives this machine: as whom to log in, the user has to say again."""
    # What speaks to it takes long to load.
    from tierlab.environments.vsphere import machine
    from tierlab.environments.vsphere.session import session
    from tierlab.environments.vsphere.settings import load

    what = entry.what
    try:
        settings = load(Path(str(what["settings"])))
        if settings.address != what["address"]:
            raise UserError(f"{settings.file} names another vCenter than {what['address']}.")
        with session(settings) as opened:
            task = str(what["task"]) if "task" in what else None
            problem = machine.remove(opened, str(what["name"]), account.token, task)
    except UserError as error:
        return Outcome(entry, False, f"could not remove {describe(entry)}: {error}".rstrip("."))
    if problem is not None:
        return Outcome(entry, False, f"left {describe(entry)} alone: {problem}")
    return Outcome(entry, True, f"removed {describe(entry)}")


def _remove_storage(entry: Entry, account: Account, grace: float) -> Outcome:
    """What a crash left mounted there comes off first: the folder is deleted with all in it."""
    path = Path(str(entry.what["path"]))
    for mount in mounts_below(path):
        detach(mount)
    return _remove_folder(entry, account, grace)


def _remove_folder(entry: Entry, _account: Account, _grace: float) -> Outcome:
    path = Path(str(entry.what["path"]))
    if not path.exists():
        return Outcome(entry, True, None)
    problem = _identity_problem(entry, path)
    if problem is not None:
        return Outcome(entry, False, problem)
    if "inode" in entry.what:
        # A copy of data goes on after a kill -9: where it copies to is taken from it.
        _retry(lambda: remove_tree(path), errno.ENOTEMPTY)
    else:
        path.rmdir()  # the crash came between making it and noting its inode: it is empty
    return Outcome(entry, True, f"removed {describe(entry)}")


def _remove_empty_folder(entry: Entry, _account: Account, _grace: float) -> Outcome:
    """A folder shared with others (/run/runc): it goes only when nobody uses it."""
    path = Path(str(entry.what["path"]))
    try:
        path.rmdir()
    except OSError:
        return Outcome(entry, True, None)
    return Outcome(entry, True, f"removed {describe(entry)}")


REMOVERS: Mapping[str, Callable[[Entry, Account, float], Outcome]] = {
    "process": _remove_process,
    "cgroup": _remove_cgroup,
    "controller": _take_controller_back,
    "network namespace": _remove_namespace,
    "container": _remove_container,
    "guest": _remove_guest,
    VIRTUAL_MACHINE: _remove_virtual_machine,
    "container storage": _remove_storage,
    "folder": _remove_folder,
    "empty folder": _remove_empty_folder,
}
