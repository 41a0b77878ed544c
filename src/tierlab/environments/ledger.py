"""The ledger of a trial: what it made on this host, written down before it is made.

One JSON-lines file a trial, each line on the disk before the thing exists. What was removed is
struck off; a ledger with nothing left is deleted. So after any crash the files that remain list
exactly what `tierlab clean` has to look at, and nothing is ever looked for by name.

It lies in ``$XDG_STATE_HOME/tierlab/ledger``; without that variable in ``/var/lib/tierlab/ledger``
for root (what root makes belongs to the machine, whatever HOME says), else below
``~/.local/state``.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tierlab.environments.appending import append, append_soon, begin
from tierlab.environments.identity import Identity, identify, is_alive
from tierlab.environments.whereabouts import Place, boot_id, here
from tierlab.errors import UserError

Detail = str | int

TRIAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
"""What a trial may be called on the host: it is part of namespace, cgroup and folder names."""


def ledger_folder() -> Path:
    """Where this user's ledgers lie, whatever the working folder."""
    state = os.environ.get("XDG_STATE_HOME")
    if state:
        return Path(state) / "tierlab" / "ledger"
    if os.geteuid() == 0:
        return Path("/var/lib/tierlab/ledger")
    return Path.home() / ".local" / "state" / "tierlab" / "ledger"


@dataclass(frozen=True)
class Entry:
    """One thing that was, or was about to be, made."""

    number: int
    kind: str
    what: Mapping[str, Detail]


@dataclass(frozen=True)
class Account:
    """What a ledger file says: whose it is and what has not been struck off, oldest first."""

    path: Path
    trial: str
    token: str
    owner: Identity
    boot: str
    entries: tuple[Entry, ...]
    place: Place | None = None
    """Where its owner has its number; None where it is here, and from before it was kept."""

    @property
    def is_of_this_boot(self) -> bool:
        """Whether processes, namespaces and cgroups it lists can still exist."""
        return self.boot == boot_id()

    @property
    def is_live(self) -> bool:
        """Whether the process that wrote it still runs, or may for all that is seen from here."""
        return self.out_of_sight is not None or (self.is_of_this_boot and is_alive(self.owner))

    @property
    def out_of_sight(self) -> str | None:
        """Where its processes are, in words, if nobody here can tell whether they run."""
        return None if self.place is None else self.place.out_of_sight

    @property
    def process(self) -> str:
        """Whose it is, in words."""
        return " ".join(filter(None, (f"process {self.owner.pid}", self.out_of_sight)))


class Ledger:
    """The open ledger of a trial that runs in this process. Threads may share it."""

    def __init__(self, trial: str, folder: Path | None = None) -> None:
        if not TRIAL.fullmatch(trial):
            raise UserError(
                f"trial name '{trial}' cannot name things on this host: use up to 40 letters,"
                " digits, dots, dashes or underscores, starting with a letter or digit."
            )
        folder = ledger_folder() if folder is None else folder
        self.trial = trial
        self.token = f"{trial}.{secrets.token_hex(8)}"
        """In the environment of every process of this very trial."""
        self.path = folder / f"{trial}.jsonl"
        self._lock = threading.Lock()
        self._entries: dict[int, Entry] = {}
        self._next = 1
        owner = identify(os.getpid())
        head = {
            "op": "open",
            "trial": trial,
            "token": self.token,
            "pid": owner.pid,
            "start": owner.start,
            "boot": boot_id(),
            **asdict(here()),
        }
        self._file = _create(self.path, trial, _line(head))

    def add(self, kind: str, **what: Detail) -> Entry:
        """Write down what is about to be made; on the disk when this returns."""
        with self._lock:
            entry = Entry(self._next, kind, what)
            self._next += 1
            self._append({"op": "add", "number": entry.number, "kind": kind, "what": what})
            self._entries[entry.number] = entry
            return entry

    def amend(self, entry: Entry, **identity: Detail) -> None:
        """Write down what was not known before it was made: the identity of this very thing."""
        with self._lock:
            what = {**entry.what, **identity}
            record = {"op": "add", "number": entry.number, "kind": entry.kind, "what": what}
            self._append(record)
            self._entries[entry.number] = Entry(entry.number, entry.kind, what)

    def strike(self, entry: Entry) -> None:
        """Write down that it is gone.

        After a power failure, or on a disk that is full, it stays listed: whoever removes it again
        finds nothing.
        """
        with self._lock, contextlib.suppress(OSError):
            if self._entries.pop(entry.number, None) is not None:
                append_soon(self._file, _line({"op": "strike", "number": entry.number}))

    def others_list(self, kind: str, **what: Detail) -> bool:
        """Whether another trial's ledger has such an entry: then it is shared, and the last one
        to end must remove it.
        """
        return any(
            entry.kind == kind and what.items() <= entry.what.items()
            for account in accounts(self.path.parent)
            if account.path != self.path and account.is_of_this_boot
            for entry in account.entries
        )

    def account(self) -> Account:
        """Show what is outstanding, as `read` would from the file."""
        with self._lock:
            entries = tuple(self._entries[number] for number in sorted(self._entries))
        return Account(self.path, self.trial, self.token, identify(os.getpid()), boot_id(), entries)

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be written down any more."""
        return self._file < 0

    def close(self) -> None:
        """Delete the file if nothing is left; otherwise it stays for `tierlab clean`."""
        with self._lock:
            if self.is_closed:
                return
            os.close(self._file)
            self._file = -1
            if not self._entries:
                discard(self.path)

    def _append(self, record: Mapping[str, object]) -> None:
        try:
            append(self._file, _line(record))
        except OSError as error:
            raise _unwritable(self.path, error) from error


def _line(record: Mapping[str, object]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _unwritable(path: Path, error: OSError) -> UserError:
    return UserError(
        f"{path}: cannot write the ledger ({error.strerror}), and without it nothing may be"
        " started; make room, or set XDG_STATE_HOME to a folder that you may write to."
    )


def _create(path: Path, trial: str, head: bytes) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = begin(path, head)
    except OSError as error:
        raise _unwritable(path, error) from error
    if file is None:
        raise _taken(path, trial)
    return file


def _taken(path: Path, trial: str) -> UserError:
    account = read(path)
    if account.is_live:
        return UserError(
            f"trial {trial} runs already ({account.process});"
            " wait for its end or choose another name."
        )
    return UserError(
        f"trial {trial} left things behind when it was last run ({path});"
        " remove them with 'tierlab clean'."
    )


def read(path: Path) -> Account:
    """Read a ledger file.

    A last line that a crash cut short is passed over: what it announced was not made yet.
    """
    try:
        return _account(path, path.read_text(errors="replace"))
    except (KeyError, TypeError, ValueError):
        raise UserError(
            f"{path}: is not a ledger; look at it, and delete it if it is no use."
        ) from None


def _account(path: Path, text: str) -> Account:
    """What the lines say; KeyError, TypeError or ValueError where they are none of ours."""
    head: dict[str, object] = {}
    entries: dict[int, Entry] = {}
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            break
        if record["op"] == "open":
            head = record
        elif record["op"] == "add":
            entries[record["number"]] = Entry(record["number"], record["kind"], record["what"])
        else:
            entries.pop(record["number"], None)
    return Account(
        path=path,
        trial=str(head["trial"]),
        token=str(head["token"]),
        owner=Identity(int(str(head["pid"])), int(str(head["start"]))),
        boot=str(head["boot"]),
        entries=tuple(entries.values()),
        place=_place(head),
    )


def _place(head: Mapping[str, object]) -> Place | None:
    """Where the ledger was opened; None where it is from before that was kept."""
    if "machine" not in head:
        return None
    return Place(str(head["host"]), str(head["machine"]), int(str(head["pid_namespace"])))


def accounts(folder: Path | None = None) -> list[Account]:
    """Read every ledger of this user."""
    folder = ledger_folder() if folder is None else folder
    found = []
    for path in sorted(folder.glob("[!.]*.jsonl")):
        # A trial that ends meanwhile deletes its own.
        with contextlib.suppress(FileNotFoundError):
            found.append(read(path))
    return found


def remove_unopened(folder: Path | None = None) -> None:
    """Remove ledgers that processes which are gone had not made whole: nothing was made by then."""
    folder = ledger_folder() if folder is None else folder
    for path in folder.glob(".*.jsonl.*"):
        pid = path.suffix[1:]
        if pid.isdigit() and not Path("/proc", pid).exists() and not _is_out_of_sight(path):
            discard(path)


def _is_out_of_sight(path: Path) -> bool:
    try:
        return read(path).out_of_sight is not None
    except (UserError, FileNotFoundError):  # without a first line, or gone
        return False


def discard(path: Path) -> None:
    """Delete a ledger, and the folders above it that this leaves empty."""
    path.unlink(missing_ok=True)
    for folder in (path.parent, path.parent.parent):
        try:
            folder.rmdir()
        except OSError:
            return
