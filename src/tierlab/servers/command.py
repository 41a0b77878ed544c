"""A server of the user's own that a command starts: Tierlab knows of it what the file says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from tierlab.servers.base import CONSOLE, NotReadyError, Options, Server, Settings
from tierlab.servers.greetings import http2_get, http_answers
from tierlab.servers.own_options import ADDRESS, OwnOptions
from tierlab.servers.placeholders import filled, from_environment
from tierlab.servers.soft import SoftResource
from tierlab.values.texts import Existing, Line, Lines, LineTable

SHELL = re.compile(r"[|&;<>()$`*?~#]")
"""What a command has that only a shell understands."""
ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
"""How a variable begins that a command has before its program."""
NO_EXEC = re.compile(rf"[|&;]|^\s*(?:exec\s|{ASSIGNED.pattern})")
"""Before what a shell takes no `exec`: lists, and what begins with one or with a variable."""
LIST = re.compile(r"[|&;]")
"""What a command has that consists of several: there a new line may begin another one."""
FILES = "files"
"""In a server's folder: the copy of the user's own."""
HOME = "home"
LOGS = "logs"


class CommandOptions(OwnOptions):
    """How a server of the user's own is started."""

    command: Annotated[str, Line("a command")] = Field(examples=["node server.js"])
    """The command that runs it in the foreground. `{port}`, `{address}`, `{socket}` and `{folder}`
    stand for its own; `{db}`, `{db.address}`, `{db.port}`, `{db.socket}`, the socket's folder
    `{db.socket_folder}`, and of a database that Tierlab fills `{db.user}`, `{db.password}` and
    `{db.database}` for those of the server `db`."""

    folder: Annotated[str | None, Existing("folder")] = Field(default=None, examples=["shop"])
    """Its working folder, from the file's own. Each server works on a copy, which goes with it:
    what it writes there is in nobody's way, and every trial begins with the same."""

    environment: Annotated[dict[str, str], LineTable("a table of variables")] = Field(
        default_factory=dict, examples=[{"DATABASE": "postgresql://{db}/shop"}]
    )
    """Variables that it needs, with the same that stands for others' addresses; `"$NAME"` is the
    variable of that name where Tierlab runs, and `"$$NAME"` is the text `$NAME`. PORT and HOST are
    there unless said otherwise."""

    address: Annotated[str | None, ADDRESS] = Field(default=None, examples=["127.0.0.1"])
    """The address that it listens on, where it cannot be told its own: in the trial's network,
    which no other program of this host is in. Without `command`, where it runs already, in
    environment "host": it is asked and looked at, and neither started nor stopped."""

    says: Annotated[str | None, Line("a text")] = Field(default=None, examples=["waiting for jobs"])
    """A text that it prints once it can work. Without it, and without a port or a socket, it is
    ready as soon as it runs."""

    logs: Annotated[tuple[str, ...] | None, Lines("paths in its folder")] = Field(
        default=None, examples=[["log/production.log"]]
    )
    """Its log files, in its folder; they are kept with the run. What it prints is kept anyway."""

    def texts(self) -> dict[str, str]:
        """The command and the variables."""
        variables = {f"environment.{name}": each for name, each in self.environment.items()}
        return {"command": self.command, **variables}


class Command(Server):
    """One program of the user's own."""

    kind = "command"
    programs: ClassVar[Mapping[str, str]] = {}
    soft_resources: ClassVar[Mapping[str, SoftResource]] = {}
    own_options = CommandOptions
    worker_threads: ClassVar[bool | None] = None
    stop_seconds = 10.0
    disk = (FILES,)

    options: CommandOptions

    @classmethod
    def spoken(cls, options: Options) -> Mapping[str, int]:
        """What the file says."""
        assert isinstance(options, CommandOptions)
        return {options.speaks(): options.port or 0} if options.listens else {}

    @classmethod
    def listens_on(cls, options: Options) -> str | None:
        """Where the file says so."""
        assert isinstance(options, CommandOptions)
        return options.address

    @classmethod
    def socket_in(cls, options: Options, folder: Path) -> str | None:
        """As the file says; a relative path begins in its working folder."""
        assert isinstance(options, CommandOptions)
        if options.socket is None or options.socket.startswith("@"):
            return options.socket
        return str(folder / (HOME if options.folder is None else FILES) / options.socket)

    @classmethod
    def caller_protocol(cls, options: Options, spoken: Mapping[str, int]) -> str | None:  # noqa: ARG003
        """It calls whom it calls."""
        return next(iter(spoken))

    @classmethod
    def room(cls, settings: Settings) -> int | None:  # noqa: ARG003
        """Nobody but the user knows."""
        return None

    @property
    def start_within(self) -> float:
        """As the file says."""
        return self.options.within_ns / 1e9

    @property
    def _files(self) -> Path:
        return self.site.folder / (HOME if self.options.folder is None else FILES)

    def _filled(self, text: str) -> str:
        endpoint = self.site.endpoint
        own = {
            "address": endpoint.address,
            "port": str(endpoint.port),
            "folder": str(self._files),
            **({} if endpoint.socket is None else {"socket": endpoint.socket}),
            **{name: str(limit) for name, limit in self.soft.items()},
        }
        return filled(text, own, self.site.tiers, self.content.login)

    def render(self) -> dict[str, str]:
        """It has its own configuration."""
        return {}

    def prepare(self) -> None:
        """A copy of its folder."""
        domain = self.site.domain
        domain.make_folder(LOGS)
        domain.make_folder(HOME)
        if self.options.folder is not None:
            domain.put(Path(self.options.folder), FILES)
        if (socket := self.site.endpoint.socket) is not None:
            folder = Path(socket).parent
            if folder.is_relative_to(self._files) and folder != self._files:
                domain.make_folder(str(folder.relative_to(self.site.folder)))

    def command(self) -> list[str]:
        """In its folder, by a shell only where it has words of a shell's."""
        folder, command = str(self._files), self._filled(self.options.command)
        if SHELL.search(command):
            if not LIST.search(command):
                command = " ".join(command.splitlines())
            text = command if NO_EXEC.search(command) else f"exec {command}"
            return ["sh", "-c", f'cd "$1" && {text}', "sh", folder]
        given, words = split_command(command)
        program = ["env", *given, *words] if given else words
        return ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder, *program]

    def variables(self) -> dict[str, str]:
        """Its own, and what many look for."""
        endpoint, key = self.site.endpoint, f"system.{self.site.subject.rpartition('.')[0]}"
        given = {
            name: self._filled(from_environment(name, value, f"{key}.environment"))
            for name, value in self.options.environment.items()
        }
        return {
            "HOME": str(self.site.folder / HOME),
            "HOST": endpoint.address,
            **({"PORT": str(endpoint.port)} if endpoint.port else {}),
        } | given

    def last_words(self) -> dict[str, str]:
        """Its own log files."""
        found = {}
        for name in self.options.logs or ():
            text = self.site.domain.text(f"{FILES}/{name}")
            if text is not None:
                found[f"{LOGS}/{name.replace('/', '_')}"] = text
        return found

    def greet(self) -> None:
        """What it says, if the file has that; a page if the file names one; else a connection."""
        says = self.options.says
        if says is not None and says not in (self.site.domain.text(CONSOLE) or ""):
            raise NotReadyError(f'it has not said "{says}"')
        if not self.site.endpoint.listens:
            return
        if self.options.ready is not None:
            get = http2_get if self.site.endpoint.protocol == "http2" else http_answers
            get(self.site.connect, self.options.called(self.site.endpoint), self.options.ready)
        else:
            self.site.connect().close()
        self.site.check_socket()


def split_command(command: str) -> tuple[list[str], list[str]]:
    """The variables that are set for it alone, and its words without an `exec` before them, as a
    shell reads them; ValueError where it could not.
    """
    words = shlex.split(command)
    given = list(takewhile(ASSIGNED.match, words))
    left = words[len(given) :]
    return given, left[1:] if left[:1] == ["exec"] else left
