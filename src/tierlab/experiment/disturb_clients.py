"""Disturbances by those who ask a server: too many at once, or too slowly."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tierlab.experiment.disturbance import Disturbance
from tierlab.experiment.subjects import ENTRIES
from tierlab.servers.base import Server
from tierlab.values.kinds import Whole
from tierlab.values.word import Word


class Burst(Disturbance):
    """A surge of users, beside those of `[load]`, who do not think."""

    from_outside = True
    class_: Literal["burst"] = Field(alias="class")
    on: Annotated[str, Word(ENTRIES)] = ENTRIES[0]
    """The server."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one that is asked for pages."""
        return "http" in software.ports

    users: Annotated[int, Whole(1, 100_000)] = 200
    """Users who come."""


class SlowClients(Disturbance):
    """Clients who send their requests line by line, so that each holds a worker meanwhile."""

    from_outside = True
    class_: Literal["slow_clients"] = Field(alias="class")
    on: Annotated[str, Word(ENTRIES)] = ENTRIES[0]
    """The server."""

    clients: Annotated[int, Whole(1, 20_000)] = 400
    """How many there are; users wait where they are more than its workers."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one that is asked for pages."""
        return "http" in software.ports

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Where a connection needs a worker of its own: others read what comes from all at once."""
        workers = "threads" in software.holdable and not software.waits_without_worker
        return cls.suits(software) and workers
