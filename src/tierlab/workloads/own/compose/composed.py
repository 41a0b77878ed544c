"""The keys of a system whose servers a compose file describes."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from tierlab.values.problem import problem, raise_all
from tierlab.values.section import Section
from tierlab.values.texts import Existing, Line, Lines


class Composed(Section):
    """What an experiment file says of a compose file; the servers stand in its place once read."""

    compose: Annotated[str | None, Existing("file")] = Field(
        default=None, examples=["docker-compose.yml"]
    )
    """A compose file, each of whose services is a server, with what is said of it
    here besides. A run's own file has the servers themselves."""

    entry: Annotated[str | None, Line("a service")] = Field(default=None, examples=["web"])
    """The service of the compose file that users call; without it, the one that publishes a port,
    speaks HTTP and is called by no other."""

    services: Annotated[tuple[str, ...] | None, Lines("services")] = Field(
        default=None, examples=[["web", "db"]]
    )
    """The services of the compose file that are servers; without it, all that have no profile."""

    @model_validator(mode="after")
    def _of_a_file(self) -> Self:
        if self.compose is not None:
            raise problem("is read from experiment files alone; load the file", "compose")
        raise_all(
            problem("goes with `compose`; remove it", key)
            for key in ("entry", "services")
            if getattr(self, key) is not None
        )
        return self
