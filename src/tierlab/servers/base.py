"""What every server software declares of itself, and the interface of one instance of it.

The declarations (programs, protocols, soft resources, options, memory, evidence) are the class's;
the experiment's schema, the layout, the samplers' plans and the reference page are made from them.
An instance says what it is (files, command, greeting); `tierlab.deploy.lifecycle` brings any of
them up and down in the same way.
"""

from __future__ import annotations

import signal
import socket
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from tierlab.environments.domain import Domain
from tierlab.environments.environment import Environment
from tierlab.environments.image_root import ImageRoot
from tierlab.errors import UserError
from tierlab.machine.programs import VERSION_ARGUMENT, Program
from tierlab.servers.content import Content
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.image_first import FirstProgram
from tierlab.servers.soft import SoftResource, completed
from tierlab.values.quantities import MIB
from tierlab.values.section import Section

CONSOLE = "logs/console.log"
"""In a server's folder: what its program says."""

DOCUMENTS = "htdocs"
"""Where a web server's folder has its pages. In a guest, what is read of the host's folder is asked
of the host each time."""

ANSWER_SECONDS = 10.0
"""How long one greeting may take."""


@dataclass(frozen=True)
class Site:
    """Where one server instance stands: its domain, its endpoint and the servers around it."""

    environment: Environment
    domain: Domain
    endpoint: Endpoint
    upstreams: tuple[Endpoint, ...] = ()
    """The servers that it calls."""
    tier: tuple[Endpoint, ...] = ()
    """All instances of its tier, itself among them."""
    profiled: bool = False
    """Whether it is sampled what its program is at."""
    stacks: bool = False
    """Whether these samples have their call stacks."""
    data: Path | None = None
    """What `Server.make_data` has made for the tier."""
    tiers: Mapping[str, Endpoint] = field(default_factory=dict)
    """The first server of every tier of the system, by the tier's name."""

    @property
    def subject(self) -> str:
        """The instance's name, such as ``db.1``."""
        return self.domain.spec.name

    @property
    def folder(self) -> Path:
        """The instance's own folder, as its program sees it."""
        return self.domain.folder

    def connect(self) -> socket.socket:
        """Open a connection to the server's TCP port, or to its UNIX socket if it has no port."""
        where = self.endpoint
        if where.socket is not None and not where.port:
            return self.connect_to_socket()
        patience = self.patience(ANSWER_SECONDS)
        return self.environment.connect(where.address, where.port, timeout=patience)

    def connect_to_socket(self) -> socket.socket:
        """Open a connection to the server's UNIX socket."""
        assert self.endpoint.socket is not None
        patience = self.patience(ANSWER_SECONDS)
        return self.domain.connect_unix(self.endpoint.socket, timeout=patience)

    def check_socket(self) -> None:
        """Connect to the socket of a server that has a port too; OSError if nobody listens."""
        if self.endpoint.socket is not None and self.endpoint.port:
            self.connect_to_socket().close()

    def patience(self, seconds: float) -> float:
        """How long to wait for what takes up to `seconds` on this host's own CPUs."""
        return seconds * self.environment.slowness


class NotReadyError(Exception):
    """The server does not answer by its protocol yet; the message says how it fell short."""


class Options(Section):
    """What a tier's table may say for this software alone, besides its soft resources."""


@dataclass(frozen=True)
class Settings:
    """What an experiment sets for a tier's servers: every soft resource, and the options."""

    soft: Mapping[str, int]
    options: Options


class Server(ABC):
    """One software instance in a tier."""

    kind: ClassVar[str]
    programs: ClassVar[Mapping[str, str]]
    """Programs it needs, each with the Debian package that brings it, empty where Tierlab itself
    does; the server's own first."""
    files: ClassVar[Mapping[Path, str]] = {}
    """The same of files that are no programs."""
    version_argument: ClassVar[str] = VERSION_ARGUMENT
    """By which its own program tells its version."""
    ports: ClassVar[Mapping[str, int]] = {}
    """The protocols that it speaks, each with the port that it listens on then."""
    calls: ClassVar[tuple[str, ...]] = ()
    """The protocols by which it calls others, the usual one first."""
    passes_through: ClassVar[bool] = False
    """Whether it hands bytes on without a part in the protocol: it speaks what it calls."""
    soft_resources: ClassVar[Mapping[str, SoftResource]]
    own_options: ClassVar[type[Options]] = Options
    holdable: ClassVar[tuple[str, ...]] = ()
    """Soft resources that the agent knows how to hold, the one that matters most first."""
    is_event_loop: ClassVar[bool] = False
    """Whether its one thread works on all requests in turns, in the order of their messages."""
    worker_threads: ClassVar[bool | None] = True
    """Whether each request that it works on has one of its `threads` to itself meanwhile; None of a
    program of which nobody knows."""
    waits_without_worker: ClassVar[bool] = False
    """Whether a connection needs one of its `threads` only once a request's head has come whole."""
    stands: ClassVar[bool] = False
    """Whether it runs already, started by somebody else: it is only looked at."""
    brings_root: ClassVar[bool] = False
    """Whether its program lies in a root of its own, and this host's programs are none of it."""
    is_database: ClassVar[bool] = False
    """Whether it keeps the workload's tables, and locks their rows."""
    locks_rows: ClassVar[bool] = False
    """Whether the agent knows how to lock rows in it, or a table."""
    checkpoints: ClassVar[bool] = False
    """Whether the agent knows how to have it write its changed pages."""
    empties_cache: ClassVar[bool] = False
    """Whether the agent knows how to empty its buffer pool."""
    replicates: ClassVar[bool] = False
    """Whether several databases hold the same data by it: as their cluster, or in front of them."""
    collects: ClassVar[bool] = False
    """Whether it collects garbage, when asked to as well."""
    environment: ClassVar[Mapping[str, str]] = {}
    """Variables that its program needs."""
    cluster_programs: ClassVar[Mapping[str, str]] = {}
    """Programs that several instances of a tier need besides, as `programs`."""
    cluster_files: ClassVar[Mapping[Path, str]] = {}
    """The same of files."""
    profile_programs: ClassVar[Mapping[str, str]] = {}
    """Programs that tell the names of its functions for a profile, as `programs`."""
    is_cache: ClassVar[bool] = False
    """Whether it keeps keys and values in memory, and counts how many it was asked for in vain."""
    socket: ClassVar[str | None] = None
    """In its folder, the UNIX socket at which the agent asks it about itself, and disturbs it."""
    statistics_port: ClassVar[int | None] = None
    """The port at which the agent asks it about itself where it has no such socket: at its own
    address, and not the one that is traced."""
    start_seconds: ClassVar[float] = 60.0
    """How long it may take until it answers; generous, since hosts are shared."""
    stop_seconds: ClassVar[float] = 15.0
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    last_signal: ClassVar[signal.Signals | None] = None
    """Ends the main process once its workers have ended by `stop_signal`; None where it sees to
    that at once itself."""
    restart_signal: ClassVar[signal.Signals | None] = None
    """Has the main process end its workers at once and start others; None where none does so."""
    own_logs: ClassVar[tuple[str, ...]] = (CONSOLE,)
    """Files in its folder that say why it did not start."""
    disk: ClassVar[tuple[str, ...]] = ()
    """Folders in its folder that it reads and writes as a disk's."""

    def __init__(self, site: Site, settings: Settings, content: Content) -> None:
        self.site = site
        self.soft = settings.soft
        self.options = settings.options
        self.content = content

    @classmethod
    def complete(cls, given: Mapping[str, int], options: Mapping[str, object]) -> dict[str, int]:  # noqa: ARG003 - some derive by them
        """Every soft resource: as given, by default, or derived from the others.

        `options` are as the file has them, unchecked. Raises `SoftError`.
        """
        return completed(cls.soft_resources.values(), given)

    @classmethod
    def room(cls, settings: Settings) -> int | None:  # noqa: ARG003 - the same for most
        """Memory in which one instance has all it needs and little beside, in bytes; None where
        nobody knows it.

        Measured under 1,500 users of RUBBoS: what it holds besides its heap or buffer pool.
        """
        return 64 * MIB

    @classmethod
    def spoken(cls, options: Options) -> Mapping[str, int]:  # noqa: ARG003 - the same for most
        """The protocols that it speaks, each with the port that it listens on then."""
        return cls.ports

    @classmethod
    def listens_on(cls, options: Options) -> str | None:  # noqa: ARG003
        """The address that it listens on; None where it does as it is told."""
        return None

    @classmethod
    def socket_in(cls, options: Options, folder: Path) -> str | None:  # noqa: ARG003
        """The UNIX socket at which others may call a server that has this folder; None if there is
        none.
        """
        is_called = cls.is_database or cls.is_cache
        return str(folder / cls.socket) if is_called and cls.socket is not None else None

    @classmethod
    def root(cls, options: Options) -> ImageRoot | None:  # noqa: ARG003 - most have the domain's
        """The root that its programs come in; None where the domain's has them."""
        return None

    @classmethod
    def caller_protocol(cls, options: Options, spoken: Mapping[str, int]) -> str | None:  # noqa: ARG003
        """By which protocol it calls a server that speaks these; None if it cannot."""
        return next((name for name in cls.calls if name in spoken), None)

    @classmethod
    def make_data(cls, environment: Environment, content: Content) -> Path | None:  # noqa: ARG003
        """Make what all instances of a tier start from; None where there is nothing to make."""
        return None

    @classmethod
    def versions(cls, program: Program, libraries: Path | None) -> dict[str, str | None]:  # noqa: ARG003
        """Version by name of what it consists of; None where it does not tell.

        `libraries`: the application's, where the server is one of them.
        """
        return {cls.kind: program.number}

    @abstractmethod
    def render(self) -> dict[str, str]:
        """Write its configuration: texts by file name in its folder."""

    @abstractmethod
    def prepare(self) -> None:
        """Lay down what is no configuration: data, documents, program archives."""

    @abstractmethod
    def command(self) -> list[str]:
        """The command that runs it in the foreground."""

    def variables(self) -> Mapping[str, str]:
        """Variables that its program gets."""
        return self.environment

    def first_programs(self) -> tuple[FirstProgram, ...]:
        """Programs of images that run to their end before the first instance starts."""
        return ()

    @property
    def start_within(self) -> float:
        """How long it may take until it answers, in seconds."""
        return self.start_seconds

    @property
    def stops_by(self) -> int:
        """The signal that tells its program to stop."""
        return self.stop_signal

    def program_files(self, program: Path) -> list[Path]:
        """The files on this host that its program runs from; they count as its memory."""
        return [program]

    def own_program(self, program: Path) -> Path:
        """The program to run where memory is limited: a copy of its own, where a copy would run.

        Whoever else on this host runs the same file keeps its pages in memory, at no cost to this
        domain: it could never be short of them.
        """
        return program

    def resize(self, resource: str, limit: int) -> int:  # noqa: ARG002 - refused whatever the limit
        """Give a soft resource another limit while the server runs; return the one then in force.

        `UserError` if it cannot be resized.
        """
        raise UserError(f"{self.site.subject}: {self.kind} cannot resize {resource} while it runs.")

    def last_words(self) -> dict[str, str]:
        """Ask the server, just before it is stopped, what is kept with its logs: texts by name."""
        return {}

    @abstractmethod
    def greet(self) -> None:
        """Speak its protocol once; `NotReadyError` or OSError while it does not answer in full."""
