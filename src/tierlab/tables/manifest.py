"""``manifest.json``: what a trial was. Everything that is not a row of a table."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tierlab.errors import UserError
from tierlab.tables.clock import ClockReading
from tierlab.tables.rules import RunRules
from tierlab.topology import PROTOCOLS, Call, Seen, Topology

NAME = "manifest.json"
SOME_CALLS = "some calls"
"""Under this in ``not_measured`` is what of calls was not looked at, while others were."""
VISITS_OF, CALLS_OF = "visits of", "calls of"
"""Under these and a server's name in ``not_measured`` is why its visits, or its calls of others,
were not seen: at the UNIX socket that follows, or at the only one that it has.
"""
WAITS = "waits"
"""Under this in ``not_measured`` is why no thread was traced; under ``waits of app.1``, why none
of that server's was."""
ROOM = f"{NAME}.room"
ROOM_BYTES = 256 << 10
"""Several times what a manifest takes."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow")


class Phase(_Part):
    """A stretch of the trial: ``ramp_up``, ``runtime`` or ``ramp_down``; UTC nanoseconds."""

    name: str
    start_ns: int
    end_ns: int


class ServerPart(_Part):
    """One server: where it stood, what it spoke, how it was set.

    ``system`` is of which of several systems it is. ``port`` is 0 of one that listens at no TCP
    port; ``socket`` is the UNIX socket at which it is called, instead of the port or besides.
    Nobody calls a server with neither.
    ``worker_threads`` says whether each request has one of its ``threads`` to itself, None where
    nobody knows, and ``is_database`` whether Tierlab set it up as one; both are None in folders
    from before they were kept.
    """

    tier: str
    system: str | None = None
    server: str
    version: str | None = None
    address: str
    port: int
    socket: str | None = None
    protocol: str
    soft: dict[str, int] = Field(default_factory=dict)
    pass_through: bool = False
    worker_threads: bool | None = None
    is_database: bool | None = None

    @property
    def where(self) -> str | None:
        """Where it listens: its address and port, else its socket; None if nowhere."""
        return f"{self.address}:{self.port}" if self.port else self.socket

    @property
    def speaks_sql(self) -> bool:
        """Whether it speaks what databases do, and proxies before them."""
        known = PROTOCOLS.get(self.protocol)
        return known is not None and known.speaks_sql

    @property
    def workers(self) -> int | None:
        """How many requests it works on at once, by its ``threads``; None where these are of
        another use. Where nothing was kept they are taken for workers.
        """
        return None if self.worker_threads is False else self.soft.get("threads")


class SystemPart(_Part):
    """One of several systems: its application, its users as ``Manifest.load`` has them, and the
    rules by which a run of it passes, if it has some.
    """

    workload: str
    load: dict[str, Any]
    rules: RunRules | None = None


class VeryLong(_Part):
    """From when on a request took very long.

    With ``valley`` it is the first valley of the response times, where there is one below
    ``threshold_ns``.
    """

    threshold_ns: int = 2_000_000_000
    valley: bool = False


class Degree(_Part):
    """A server's degree of non-uniformity from so long after the start of the runtime."""

    from_ns: int
    dnu: float


class Observation(_Part):
    """How the trial was watched and what that cost.

    ``costs`` is CPU time in nanoseconds per agent (``drive``, ``sample``, ``capture``, ``link``),
    and that of perf (``profile``).
    ``throughput_ratio`` is throughput observed over unobserved, where the experiment ran both.
    """

    interval_ns: int | None = None
    cpu_source: str | None = None
    costs: dict[str, int] = Field(default_factory=dict)
    throughput_ratio: float | None = None
    summaries: dict[str, dict[str, Any]] = Field(default_factory=dict)


class Owner(_Part):
    """The process that runs it: its id and its start time in clock ticks after boot.

    ``machine`` and ``pid_namespace`` are where it has that id; older folders do not say.
    """

    pid: int
    start: int
    machine: str | None = None
    pid_namespace: int | None = None


class Exit(_Part):
    """How it ended; ``take_down`` says what went wrong when the system was removed."""

    state: Literal["running", "done", "interrupted", "failed"]
    error: str | None = None
    take_down: str | None = None


class Manifest(_Part):
    """The whole file.

    ``systems`` has each of several systems; ``load`` is then of all their users together, and
    ``rules``, by which a run of the workload passes, are theirs.
    ``clocks`` has the servers whose domain has a kernel, and so a clock, of its own: how it stood
    to the host's each time it was read; none if it could not be. ``dnu`` has the servers that are
    placed: how unevenly the mapping asked for shares out the PUs of each, if all want to run.
    ``seen`` is what was seen of the calls between the servers, where that was asked for.
    ``accelerator`` is what runs virtual machines' processors: ``kvm``, or ``tcg`` where they are
    emulated. ``emulated_pus`` is how many PUs the servers' machine has, where that is emulated
    or another one.
    """

    format: int = 1
    experiment: str
    trial: str
    question: str | None = None
    environment: str
    workload: str
    created_ns: int
    factors: dict[str, Any] = Field(default_factory=dict)
    seeds: dict[str, int] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    host: dict[str, Any] = Field(default_factory=dict)
    servers: dict[str, ServerPart] = Field(default_factory=dict)
    calls: list[Call] | None = None
    seen: list[Seen] | None = None
    mapping: dict[str, Any] = Field(default_factory=dict)
    dnu: dict[str, list[Degree]] = Field(default_factory=dict)
    accelerator: Literal["kvm", "tcg"] | None = None
    emulated_pus: int | None = None
    load: dict[str, Any] = Field(default_factory=dict)
    systems: dict[str, SystemPart] = Field(default_factory=dict)
    rules: RunRules | None = None
    very_long: VeryLong = Field(default_factory=VeryLong)
    plan: dict[str, Any] = Field(default_factory=dict)
    phases: list[Phase] = Field(default_factory=list)
    observation: Observation = Field(default_factory=Observation)
    not_measured: dict[str, str] = Field(default_factory=dict)
    inputs: list[str] = Field(default_factory=list)
    clocks: dict[str, list[ClockReading]] = Field(default_factory=dict)
    owner: Owner | None = None
    exit: Exit = Field(default_factory=lambda: Exit(state="running"))

    @property
    def topology(self) -> Topology:
        """Who calls whom of the servers that stood. Where it was not kept, as once, each tier calls
        the next.
        """
        tier_of = {name: part.tier for name, part in self.servers.items()}
        if self.calls is None:
            return Topology.chain(tier_of, {n: part.protocol for n, part in self.servers.items()})
        known = (call for call in self.calls if {call.caller, call.callee} <= tier_of.keys())
        workers = frozenset(name for name, part in self.servers.items() if part.where is None)
        return Topology(tier_of, tuple(known), workers)

    @property
    def host_name(self) -> str | None:
        """What the machine is called whose samplers wrote the tables; None in older folders."""
        name = self.host.get("name")
        return name if isinstance(name, str) else None

    @property
    def elsewhere(self) -> bool:
        """Whether the servers stand on another machine than the samplers."""
        return self.environment == "vsphere"

    @property
    def unseen_at_sockets(self) -> list[str]:
        """What ``not_measured`` has of messages at UNIX sockets."""
        prefixes = tuple(f"{each} " for each in (VISITS_OF, CALLS_OF))
        return [name for name in self.not_measured if name.startswith(prefixes)]

    def visits_unseen(self, server: str) -> bool:
        """Whether a server was called at a UNIX socket, at which its visits were not seen."""
        key = f"{VISITS_OF} {server}"
        return any(name == key or name.startswith(f"{key} at ") for name in self.not_measured)

    def phase(self, name: str) -> Phase | None:
        """Return the phase of that name, or None when the trial never reached it."""
        return next((phase for phase in self.phases if phase.name == name), None)

    def write(self, folder: Path) -> None:
        """Replace ``folder/manifest.json`` in one step.

        While the trial runs, room is kept beside it, so that how it ended can be written to a disk
        that is full by then.
        """
        part, room = folder / f"{NAME}.part", folder / ROOM
        text = self.model_dump_json(indent=2, exclude_none=False) + "\n"
        if self.exit.state == "running":
            _keep(room)
        elif room.exists():
            room.replace(part)
        try:
            with part.open("r+b" if part.exists() else "wb") as file:
                file.write(text.encode())
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
            part.replace(folder / NAME)
        finally:
            part.unlink(missing_ok=True)


def _keep(room: Path) -> None:
    """Have the disk set room aside, once."""
    if room.exists():
        return
    try:
        with room.open("xb") as file:
            os.posix_fallocate(file.fileno(), 0, ROOM_BYTES)
    except OSError:
        room.unlink(missing_ok=True)
        raise


def read(folder: Path) -> Manifest:
    """Read ``folder/manifest.json``.

    Raises :class:`UserError` when there is none or it is not a manifest.
    """
    path = folder / NAME
    try:
        return Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"{folder} is not a run folder (it has no {NAME}): "
            "name one such as runs/<experiment>/<trial>."
        ) from None
    except (ValidationError, json.JSONDecodeError, UnicodeDecodeError, OSError) as error:
        first = str(error).splitlines()[0]
        raise UserError(
            f"{path} cannot be read as a manifest ({first}): restore it or repeat the trial."
        ) from error
