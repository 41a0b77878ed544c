"""What each application's folder declares: ``application.toml`` beside its set-up and experiment."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

APPLICATIONS = Path(__file__).parent / "applications"


@dataclass(frozen=True)
class Truth:
    """How many requests a server says it had.

    ``log`` is a file among the run's logs of that server, or where it ran already one in the
    application's folder; ``line`` matches one request's line in it, whose group ``time`` is when. ``format`` is how the time is written: ``epoch`` for seconds
    since 1970, ``milliseconds`` for thousandths of them, in the words of strptime(3), then UTC unless it names a zone, 
    ``untimed`` where the lines have no time and all of the run's are counted, or ``counters``
    where each line has a number of statements and their text. ``stamp`` tells
    whether that is when the request came or when its reply was sent. Without ``log`` the truth is
    what Tierlab's sampler read from the server's own counter of commands. ``without`` matches the
    labels of visits that the server does not log; with ``only`` no others are compared.
    """

    log: str | None = None
    line: re.Pattern[str] = re.compile(r"(?P<time>\S+)")
    format: str = "epoch"
    stamp: str = "end"
    without: re.Pattern[str] | None = None
    only: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Application:
    """One application that others wrote, and how it is brought."""

    name: str
    title: str
    version: str
    runtime: str
    databases: tuple[str, ...]
    brought: str
    socket: str
    folder: Path
    quick: bool = False
    disturbed: bool = True
    truths: Mapping[str, Truth] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def experiment(self) -> str:
        """The text of its experiment file, as a user writes it."""
        return (self.folder / "experiment.toml").read_text("utf-8")

    @property
    def digest(self) -> str:
        """Names all that its set-up depends on."""
        said = hashlib.sha256()
        for file in sorted(self.folder.rglob("*")):
            if file.is_file() and file.name not in ("application.toml", "experiment.toml"):
                said.update(f"{file.relative_to(self.folder)}\0".encode() + file.read_bytes())
        return said.hexdigest()


def read(name: str) -> Application:
    """Return the application of that name."""
    folder = APPLICATIONS / name
    told: dict[str, Any] = tomllib.loads((folder / "application.toml").read_text("utf-8"))
    truths = {server: _truth(each) for server, each in told.pop("truth", {}).items()}
    listed = {key: tuple(told.pop(key, ())) for key in ("databases", "notes")}
    return Application(name=name, folder=folder, truths=truths, **listed, **told)


def every() -> list[Application]:
    """Return all applications, by name."""
    return [read(file.parent.name) for file in sorted(APPLICATIONS.glob("*/application.toml"))]


def _truth(told: Mapping[str, str]) -> Truth:
    patterns = {key: re.compile(told[key]) for key in ("line", "without", "only") if key in told}
    texts = {key: told[key] for key in ("log", "format", "stamp") if key in told}
    return Truth(**texts, **patterns)  # type: ignore[arg-type]
