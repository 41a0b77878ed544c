"""Node.js: one process, whose one thread works on all requests in turns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from tierlab.servers.base import Settings
from tierlab.servers.command import LOGS, Command, CommandOptions
from tierlab.servers.soft import SoftResource, declared
from tierlab.values.kinds import Size, Whole
from tierlab.values.quantities import MIB
from tierlab.values.texts import Line

PRELOAD = "preload.cjs"
"""In a server's folder: what Node.js loads before the application. It logs when the thread stood
still (`tierlab.servers.stop_log`)."""


class NodeOptions(CommandOptions):
    """What is Node.js's alone."""

    command: Annotated[str, Line("a command")] = Field(
        default="node main.js", examples=["npm start"]
    )
    """The command that runs it in the foreground, as `server = "command"` has it. `{pool}` and
    `{threads}` stand for its soft resources, there and in `environment`."""

    heap: Annotated[int, Size("32MiB", "1TiB", step="1MiB")] = 256 * MIB
    """Of V8, at most for objects that have lived for some time."""


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
            "UV_THREADPOOL_SIZE",
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
        """Node.js's own, and the application's."""
        folder, heap = self.site.folder, self.options.heap // MIB
        return {
            "NODE_OPTIONS": f"--require={folder / PRELOAD} --max-old-space-size={heap}",
            "UV_THREADPOOL_SIZE": str(self.soft["threads"]),
            "TIERLAB_STOP_LOG": str(folder / LOGS / "stops.log"),
        } | super().variables()
