"""The interface of every server: render, start, ready, stop; its endpoint and soft resources.

A server says what it is (files, command, greeting); `tierlab.servers.lifecycle` brings any of
them up and down in the same way. The soft resources' names, ranges and defaults are one table in
`tierlab.experiment.soft_resources`; each server maps them to its own directives in `render`.
"""

from __future__ import annotations

import signal
import socket
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tierlab.environments.domain import Domain
from tierlab.environments.environment import Environment
from tierlab.errors import UserError

ANSWER_SECONDS = 10.0
"""How long one greeting may take."""


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens, and what is spoken there: ``http``, ``ajp`` or ``mysql``."""

    address: str
    port: int
    protocol: str

    def __str__(self) -> str:
        return f"{self.address}:{self.port}"


@dataclass(frozen=True)
class Site:
    """Where one server instance stands: its domain, its endpoint and the servers it calls."""

    environment: Environment
    domain: Domain
    endpoint: Endpoint
    upstreams: tuple[Endpoint, ...] = ()

    @property
    def subject(self) -> str:
        """The instance's name, such as ``db.1``."""
        return self.domain.spec.name

    @property
    def folder(self) -> Path:
        """The instance's own folder, as its program sees it."""
        return self.domain.folder

    def connect(self) -> socket.socket:
        """Open a TCP connection to the server."""
        where = self.endpoint
        patience = self.patience(ANSWER_SECONDS)
        return self.environment.connect(where.address, where.port, timeout=patience)

    def patience(self, seconds: float) -> float:
        """How long to wait for what takes up to `seconds` on this host's own CPUs."""
        return seconds * self.environment.slowness


class NotReadyError(Exception):
    """The server does not answer by its protocol yet; the message says how it fell short."""


class Server(ABC):
    """One software instance in a tier."""

    kind: ClassVar[str]
    programs: ClassVar[Mapping[str, str]]
    """Programs it needs, each with the Debian package that brings it."""
    start_seconds: ClassVar[float] = 60.0
    """How long it may take until it answers; generous, since hosts are shared."""
    stop_seconds: ClassVar[float] = 15.0
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    own_logs: ClassVar[tuple[str, ...]] = ("logs/console.log",)
    """Files in its folder that say why it did not start."""
    disk: ClassVar[tuple[str, ...]] = ()
    """Folders in its folder that it reads and writes as a disk's."""

    def __init__(self, site: Site, soft: Mapping[str, int]) -> None:
        self.site = site
        self.soft = soft

    @abstractmethod
    def render(self) -> dict[str, str]:
        """Write its configuration: texts by file name in its folder."""

    @abstractmethod
    def prepare(self) -> None:
        """Lay down what is no configuration: data, documents, program archives."""

    @abstractmethod
    def command(self) -> list[str]:
        """The command that runs it in the foreground."""

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
