"""The server of parallel kernels: each request is a job with threads of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tierlab import installation
from tierlab.servers.base import Server, Settings
from tierlab.servers.greetings import http_get
from tierlab.servers.soft import SoftResource, backlog, declared
from tierlab.values.kinds import Whole
from tierlab.values.quantities import MIB

PROGRAM = "tierlab-kernels"
BUILT = installation.application("kernels") / "release" / PROGRAM


class Kernels(Server):
    """One process; it brings its program along, which is one static file."""

    kind = "kernels"
    programs: ClassVar[Mapping[str, str]] = {str(BUILT): ""}
    ports: ClassVar[Mapping[str, int]] = {"http": 8080}
    soft_resources = declared(
        SoftResource(
            "threads",
            Whole(1, 1000),
            4,
            "WORKERS",
            "jobs worked on at once; a connection has one of them to itself",
        ),
        SoftResource(
            "job_threads",
            Whole(1, 256),
            4,
            "JOB_THREADS",
            "threads of a job whose request does not say how many",
        ),
        backlog(511, "BACKLOG"),
    )
    holdable = ("threads",)

    @classmethod
    def room(cls, settings: Settings) -> int:
        """What the usual jobs hold at once: the largest has three arrays of 8 MiB."""
        return settings.soft["threads"] * 32 * MIB + 64 * MIB

    def render(self) -> dict[str, str]:
        """It has no files: all is said in its command."""
        return {}

    def prepare(self) -> None:
        """The program, in the domain's own folder: a guest's root has it not."""
        self.site.domain.put(BUILT, PROGRAM)

    def command(self) -> list[str]:
        """Listen, with so many workers, threads a job, and connections that wait."""
        numbers = [str(self.soft[name]) for name in ("threads", "job_threads", "backlog")]
        return [str(self.site.folder / PROGRAM), "serve", str(self.site.endpoint), *numbers]

    def greet(self) -> None:
        """A page that is no job."""
        http_get(self.site.connect, str(self.site.endpoint), self.content.pages.ready_path)
