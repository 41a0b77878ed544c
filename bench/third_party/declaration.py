"""What each application's folder declares: ``application.toml``, beside its set-up."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

APPLICATIONS = Path(__file__).parent / "applications"
TOOLS = APPLICATIONS / "tools"


@dataclass(frozen=True)
class Truth:
    """How many requests a server says it had.

    ``log`` is a file among the run's logs of that server or, where it ran already, one in the
    application's folder. Without it the truth is what Tierlab's sampler read from the server's own
    counter of commands. ``line`` matches a request's line in the log; its group ``time`` is when.
    ``format`` tells how times are written:

    - ``epoch``: seconds since 1970; ``milliseconds``: thousandths of them;
    - ``untimed``: not at all, so that all of the run's lines and visits are compared;
    - ``counters``: not at all, and a line's group ``count`` is a number of requests;
    - else in the words of strptime(3), and UTC unless it names a zone.

    ``stamp`` tells whether the time is when the request came (``start``) or was answered (``end``).
    ``without`` matches labels of visits that the server does not log; with ``only`` no others than
    those it matches are compared.
    """

    log: str | None = None
    line: str = r"(?P<time>\S+)"
    format: str = "epoch"
    stamp: str = "end"
    without: str = "^$"
    only: str = ""

    @property
    def timed(self) -> bool:
        """Whether the log's lines have times."""
        return self.format not in ("untimed", "counters")

    @property
    def pattern(self) -> re.Pattern[str]:
        """What a request's line looks like."""
        return re.compile(self.line)


@dataclass(frozen=True)
class Application:
    """One application that others wrote, and how it is brought.

    ``socket`` says how the same is set up with UNIX sockets, ``notes`` what does not work.
    ``disturbed`` is false where no injector can reach its servers. ``parts`` names two
    servers, such as ``web.1`` and ``db.1``: the first keeps a thread for each request and calls the
    second.
    ``held`` names a database server, which is held up while the first one calls it; ``locked`` is
    the table of MariaDB that most statements need. ``crowded`` names two servers: a request at the
    first keeps its connection to the second until it needs it no more.
    """

    name: str
    title: str
    version: str
    runtime: str
    databases: tuple[str, ...]
    brought: str
    socket: str
    notes: tuple[str, ...]
    truths: Mapping[str, Truth]
    quick: bool
    disturbed: bool
    parts: tuple[str, ...]
    held: str
    locked: str
    crowded: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where its declaration lies."""
        return APPLICATIONS / self.name

    @property
    def experiment(self) -> str:
        """The text of its experiment file, as a user writes it."""
        return (self.folder / "experiment.toml").read_text("utf-8")

    @property
    def digest(self) -> str:
        """Names all that its set-up depends on."""
        files = (*sorted(self.folder.rglob("*")), *sorted(TOOLS.glob("*")))
        said = hashlib.sha256()
        for file in files:
            if file.is_file() and file.name not in ("application.toml", "experiment.toml"):
                said.update(f"{file.name}\0".encode() + file.read_bytes())
        return said.hexdigest()


def read(name: str) -> Application:
    """Return the application of that name."""
    file = APPLICATIONS / name / "application.toml"
    told: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    return Application(
        name=name,
        title=told["title"],
        version=told["version"],
        runtime=told["runtime"],
        databases=tuple(told["databases"]),
        brought=told["brought"],
        socket=told["socket"],
        notes=tuple(told.get("notes", ())),
        truths={server: Truth(**each) for server, each in told["truth"].items()},
        quick=told.get("quick", False),
        disturbed=told.get("disturbed", True),
        parts=tuple(told.get("parts", ())),
        held=told.get("held", ""),
        locked=told.get("locked", ""),
        crowded=tuple(told.get("crowded", ())),
    )


def every() -> list[Application]:
    """Return all applications, by name."""
    return [read(file.parent.name) for file in sorted(APPLICATIONS.glob("*/application.toml"))]
