"""Node.js: one process, whose one thread works on all requests in turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from tierlab.servers.base import Settings
from tierlab.servers.command import LOGS, Command, CommandOptions
from tierlab.servers.soft import SoftResource, declared
from tierlab.values.kinds import Size, Whole
from tierlab.values.problem import problem, raise_all
from tierlab.values.quantities import MIB
from tierlab.values.texts import Line

PRELOAD = "preload.cjs"
"""In a server's folder: what Node.js loads before the application. It logs when the thread stood
still (`tierlab.servers.stop_log`)."""
GIVEN = "NODE_OPTIONS"
POOL = "UV_THREADPOOL_SIZE"
_HEAP = re.compile(r"--max[-_]old[-_]space[-_]size\b")
"""Options may have either dash, as Node.js reads them."""


class NodeOptions(CommandOptions):
    """What is Node.js's alone."""

    command: Annotated[str, Line("a command")] = Field(
        default="node main.js", examples=["npm start"]
    )
    """The command that runs it in the foreground, as `server = "command"` has it. `{pool}` and
    `{threads}` stand for its soft resources, there and in `environment`."""

    heap: Annotated[int, Size("32MiB", "1TiB", step="1MiB")] = 256 * MIB
    """Of V8, at most for objects that have lived for some time."""

    @model_validator(mode="after")
    def _said_once(self) -> Self:
        raise_all(self._said_elsewhere())
        return self

    def _said_elsewhere(self) -> Iterator[PydanticCustomError]:
        """Limits that its variables say, and that the file has keys for."""
        if found := _HEAP.search(self.environment.get(GIVEN, "")):
            yield problem(f"has {found[0]}; say heap instead", "environment", GIVEN)
        if self.environment.get(POOL, "{threads}") != "{threads}":
            yield problem("is said by soft.threads; remove it", "environment", POOL)


class NodeJs(Command):
    """A program of the user's own that Node.js runs. It works on as many requests at once as come
    in; those that wait are in its own queues."""

    kind = "nodejs"
    is_event_loop = True
    worker_threads = False
    programs: ClassVar[Mapping[str, str]] = {"node": "nodejs"}
    soft_resources = declared(
        SoftResource(
            "threads",
            Whole(1, 1_024),
            4,
            POOL,
            "files, names and compression worked on at once; all else is one thread's",
        ),
        SoftResource(
            "pool",
            Whole(1, 10_000),
            10,
            "{pool}",
            "connections to its database, where its command or a variable has `{pool}`",
        ),
    )
    own_options = NodeOptions
    options: NodeOptions

    @classmethod
    def room(cls, settings: Settings) -> int:
        """Node.js is some 60 MiB beside its heap."""
        assert isinstance(settings.options, NodeOptions)
        return settings.options.heap + 128 * MIB

    def render(self) -> dict[str, str]:
        """What Node.js loads first."""
        return {PRELOAD: Path(__file__).with_name("nodejs_preload.cjs").read_text()}

    def variables(self) -> dict[str, str]:
        """Node.js's own, and the application's; of options both."""
        folder, heap = self.site.folder, self.options.heap // MIB
        given = super().variables()
        options = f"--require={folder / PRELOAD} --max-old-space-size={heap}"
        return {
            POOL: str(self.soft["threads"]),
            "TIERLAB_STOP_LOG": str(folder / LOGS / "stops.log"),
            **given,
            GIVEN: " ".join(filter(None, (options, given.get(GIVEN)))),
        }
