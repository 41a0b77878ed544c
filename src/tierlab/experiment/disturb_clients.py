"""Disturbances by those who ask a server: too many at once, or too slowly."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tierlab.experiment.disturbance import Disturbance
from tierlab.experiment.subjects import ENTRY, Subject
from tierlab.servers.base import Server
from tierlab.values.kinds import Whole


class Burst(Disturbance):
    """A surge of users, beside those of `[load]`, who do not think."""

    from_outside = True
    class_: Literal["burst"] = Field(alias="class")
    on: Subject = ENTRY
    """The server."""

    users: Annotated[int, Whole(1, 100_000)] = 200
    """Users who come."""


class SlowClients(Disturbance):
    """Clients who send their requests line by line, so that each holds a worker meanwhile."""

    from_outside = True
    class_: Literal["slow_clients"] = Field(alias="class")
    on: Subject = ENTRY
    """The server."""

    clients: Annotated[int, Whole(1, 20_000)] = 400
    """How many there are; users wait where they are more than its workers."""

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Where a connection needs a worker of its own: others read what comes from all at once."""
        return "threads" in software.holdable and not software.waits_without_worker
