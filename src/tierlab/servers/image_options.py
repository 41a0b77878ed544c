"""What a file says of a server that comes as a container image."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from tierlab.environments import contents
from tierlab.environments.containers.oci_image import OciImage, find_image
from tierlab.environments.image_root import Mode, Volume
from tierlab.errors import UserError
from tierlab.servers.image_first import FirstPrograms, mistakes
from tierlab.servers.own_options import PORT, OwnOptions
from tierlab.values.kinds import Text
from tierlab.values.problem import problem, raise_all
from tierlab.values.texts import Line, Lines, LineTable

MODES: Mapping[str, Mode] = {"": "kept", "ro": "ro", "rw": "rw"}
SIGNAL = Text("a signal", r"[A-Za-z]+([0-9]|[+-][0-9]{1,2})?|[0-9]{1,2}")
MEMORY = "tmpfs"
"""The source of a volume that is in memory."""


class ImageOptions(OwnOptions):
    """How a server that comes as an image is run; what is not said here, the image says."""

    port: Annotated[int | None, PORT] = Field(default=None, examples=[8080])
    """The TCP port that it listens on; not needed beside `socket`."""

    image: Annotated[str, Line("an image")] = Field(examples=["docker.io/library/nginx:1.27"])
    """The image that it runs from, in environment "podman": a name by which podman has it on this
    machine, or the path of an archive (`podman save`) or a folder of it. What the table does not
    say (`command`, `port`, user, variables, signal), the image does; `command` is the words that
    follow its entry point."""

    image_id: Annotated[str | None, Text("an image's id", r"[0-9a-f]{12,64}")] = Field(
        default=None, examples=["2474c7cedb24"]
    )
    """Its id: an image of that name with another is refused. A run's own file has it."""

    command: Annotated[str | None, Line("a command")] = Field(
        default=None, examples=["node server.js"]
    )
    """The words that follow the image's entry point, instead of its own (Cmd); the same stands for
    addresses there as in other commands. No shell reads them, unless they begin with one."""

    entrypoint: Annotated[str | None, Line("a command")] = Field(
        default=None, examples=["/docker-entrypoint.sh"]
    )
    """What is run instead of the image's entry point, with `command` and without the image's."""

    environment: Annotated[dict[str, str], LineTable("a table of variables")] = Field(
        default_factory=dict, examples=[{"DATABASE": "postgresql://{db}/shop"}]
    )
    """Variables besides the image's, as those of other servers."""

    run_as: Annotated[str | None, Text("a user", r"[\w.-]+(:[\w.-]+)?")] = Field(
        default=None, examples=["node"]
    )
    """The user, and the group, in the image or by number. One that runs as root has the rights of
    podman's containers and no more."""

    workdir: Annotated[str | None, Text('a path that begins with "/"', r"/[^\0]*")] = Field(
        default=None, examples=["/app"]
    )
    """Its working folder in the image."""

    volumes: Annotated[tuple[str, ...] | None, Lines("volumes")] = Field(
        default=None, examples=[["data:/var/lib/data", "./conf:/etc/shop:ro"]]
    )
    """What lies where in it: a folder or file of this host (its path from the file's folder), a
    name for what is empty at first, or `tmpfs` for what is in memory. All that is written goes with
    the trial: a folder of yours is written to only where the entry ends in `:rw`."""

    stop_signal: Annotated[str | None, SIGNAL] = Field(default=None, examples=["SIGINT"])
    """The signal that stops it, instead of the image's own (STOPSIGNAL)."""

    health: Annotated[str | None, Line("a command")] = Field(
        default=None, examples=["pg_isready --quiet"]
    )
    """A command, run in it, that succeeds once it can work, instead of the image's own
    (HEALTHCHECK); "none" for neither. Not beside `ready`."""

    first: Annotated[tuple[dict[str, Any], ...] | None, FirstPrograms()] = Field(
        default=None, examples=[[{"image": "shop-migrations", "command": "migrate {db}"}]]
    )
    """Programs of images, such as migrations, that run to their end before it starts: one after the
    other, each in a container of its own, once for all instances. A table has an `image`, and may
    have a `name` and this table's keys `command`, `entrypoint`, `environment`, `run_as`, `workdir`,
    `volumes` and `within`. If one fails, so does the trial."""

    @model_validator(mode="before")
    @classmethod
    def _from_the_image(cls, table: Any) -> Any:
        """What the image alone says and the rest of a system goes by: its id, its port."""
        if not isinstance(table, dict) or not isinstance(name := table.get("image"), str):
            return table
        if isinstance(table.get("first"), list | tuple):
            table = {**table, "first": [_with_id(each) for each in table["first"]]}
        try:
            found = find_image(name)
        except UserError:
            return {"port": 1, **table}  # `_sensible_image` says it, and nothing of a port
        known: dict[str, Any] = {"image_id": found.id}
        if len(found.ports) == 1 and "socket" not in table:
            known["port"] = found.ports[0]
        return {**known, **table}

    @model_validator(mode="after")
    def _sensible_image(self) -> ImageOptions:
        raise_all(self._problems())
        return self

    def _problems(self) -> Iterator[PydanticCustomError]:
        try:
            found = find_image(self.image)
        except UserError as error:
            yield problem(str(error), "image")
            return
        if not self.listens:
            yield problem("is missing", "port")
        if self.socket is not None and self.socket[0] not in "/@":
            yield problem(
                f'is in the image: say its whole path there, such as "/run/{self.socket}"', "socket"
            )
        if self.image_id is not None and not found.id.startswith(self.image_id):
            yield problem(
                f"is not that of {self.image} on this machine, {found.id[:12]}; remove it, or bring"
                " that image",
                "image_id",
            )
        for key in ("command", "entrypoint", "health"):
            try:
                shlex.split(getattr(self, key) or "")
            except ValueError as error:
                yield problem(f"cannot be read ({error})", key)
                return
        if not words_of(self, found):
            yield problem(f"is missing: {self.image} says none itself", "command")
        for text in self.volumes or ():
            if isinstance(why := volume(text), str):
                yield problem(f"has {text!r}, {why}", "volumes")
        if self.stop_signal is not None and signal_of(self.stop_signal) is None:
            yield problem(f'is no signal of this machine: "{self.stop_signal}"', "stop_signal")
        if self.health is not None and self.ready is not None:
            yield problem("says twice when it is ready, beside `ready`; keep one", "health")
        yield from _first_problems(self.first or ())

    def texts(self) -> dict[str, str]:
        """What may speak of other servers, by its key."""
        said = {key: getattr(self, key) for key in ("command", "entrypoint", "health")}
        found = {key: text for key, text in said.items() if text is not None}
        found |= {f"environment.{name}": each for name, each in self.environment.items()}
        for number, table in enumerate(self.first or (), 1):
            texts = first_options(table).texts()
            found |= {f"first[{number}].{key}": text for key, text in texts.items()}
        return found

    @property
    def found(self) -> OciImage:
        """The image; `UserError` where it is gone."""
        return find_image(self.image)

    @property
    def laid_over(self) -> tuple[Volume, ...]:
        """Its volumes."""
        return tuple(
            each for text in self.volumes or () if isinstance(each := volume(text), Volume)
        )


def first_options(table: Mapping[str, Any]) -> ImageOptions:
    """Return what a table of `first` says, as of a server; ValidationError if that is wrong."""
    own = {key: each for key, each in table.items() if key != "name"}
    # Nobody calls it, so its port means nothing.
    return ImageOptions.model_validate({"port": 1, **own})


def _first_problems(tables: Sequence[Mapping[str, Any]]) -> Iterator[PydanticCustomError]:
    for number, table in enumerate(tables, 1):
        try:
            first_options(table)
        except ValidationError as error:
            for at, text in mistakes(error):
                yield problem(text, f"first[{number}]", *at)


def _with_id(table: Any) -> Any:
    """Return a table of `first` with the id of its image, as the run's own file has it."""
    if not isinstance(table, dict) or not isinstance(table.get("image"), str):
        return table
    try:
        return {"image_id": find_image(table["image"]).id, **table}
    except UserError:
        return table  # `first_options` says it


def words_of(options: ImageOptions, found: OciImage) -> list[str]:
    """The words of the command, by the file and the image."""
    said = None if options.command is None else shlex.split(options.command)
    if options.entrypoint is not None:
        return [*shlex.split(options.entrypoint), *(said or ())]
    return [*found.words("Entrypoint"), *(found.words("Cmd") if said is None else said)]


def signal_of(said: str) -> int | None:
    """A signal's number by its name in either case, with SIG or without, by its number, or by how
    far it is from the first or the last real-time one (signal(7)); None where there is no such.
    """
    name = said.upper().removeprefix("SIG")
    if name.isdecimal():
        return int(name) if int(name) in signal.valid_signals() else None
    if found := re.fullmatch(r"RT(MIN|MAX)([+-]\d+)", name):
        first = signal.SIGRTMIN if found[1] == "MIN" else signal.SIGRTMAX
        number = first + int(found[2])
        return number if signal.SIGRTMIN <= number <= signal.SIGRTMAX else None
    return signal.Signals.__members__.get(f"SIG{name}")


@dataclass(frozen=True)
class Health:
    """A command of an image's, and how long after a failure it is tried again."""

    words: tuple[str, ...]
    every: float


def health_of(options: ImageOptions, found: OciImage) -> Health | None:
    """When it can work, by the file or the image; None where neither says."""
    if options.health == NO_HEALTH:
        return None
    if options.health is not None:
        return Health(tuple(shlex.split(options.health)), HEALTH_SECONDS)
    test = list((found.config.get("Healthcheck") or {}).get("Test") or ())
    match test:
        case ["CMD", *words] if words:
            return Health(tuple(words), HEALTH_SECONDS)
        case ["CMD-SHELL", text]:
            return Health(("/bin/sh", "-c", text), HEALTH_SECONDS)
    return None


NO_HEALTH = "none"
HEALTH_SECONDS = 0.5
"""Between two trials: an image's own interval is one for days, not for a start."""


def volume(text: str) -> Volume | str:
    """The volume that an entry asks for, or what is wrong with the entry."""
    source, _, rest = text.partition(":")
    target, _, mode = rest.partition(":")
    if not target.startswith("/"):
        return 'which is not "SOURCE:/PLACE" or "SOURCE:/PLACE:ro" (or :rw)'
    if mode not in MODES:
        return f'whose "{mode}" is neither ro nor rw'
    if source.startswith("/"):
        found = Volume(source, target, MODES[mode])
        is_there = contents.known(source) is not None or Path(source).exists()
        return found if is_there else contents.missing(source)
    if source == MEMORY:
        return Volume("", target)
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", source):
        return Volume(source, target)
    return f'and "{source}" is neither a path nor a name of letters, digits, "_", "." and "-"'
