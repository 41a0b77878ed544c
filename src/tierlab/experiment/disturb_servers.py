"""Disturbances that keep a server from its work: itself, its workers, its locks, its caches."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tierlab.experiment.disturbance import Disturbance
from tierlab.experiment.subjects import APPLICATION, DATABASE, ENTRY, RESOURCES, Subject
from tierlab.servers.base import Server
from tierlab.values.kinds import Size, Text, Whole
from tierlab.values.quantities import MIB
from tierlab.values.word import Word

TABLE = Text("a table's name: letters, digits and _", "[A-Za-z0-9_]{1,64}")


class Freeze(Disturbance):
    """A server stopped and continued."""

    class_: Literal["freeze"] = Field(alias="class")
    on: Subject = DATABASE
    """The server."""


class Collection(Disturbance):
    """Full garbage collections in the JVM, back to back."""

    class_: Literal["gc"] = Field(alias="class")
    on: Subject = APPLICATION
    """The server."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one that collects garbage."""
        return software.collects


class Lock(Disturbance):
    """A transaction that holds the rows, or the table, which pages need."""

    class_: Literal["lock"] = Field(alias="class")
    on: Subject = DATABASE
    """The database."""

    table: Annotated[str | None, TABLE] = Field(default=None, examples=["stories"])
    """The table; without it, the one that matters most to the workload. Of your own application,
    which it is has to be said."""

    rows: Annotated[int, Whole(0, 1_000_000)] = 0
    """Rows that are locked for update; 0 locks the whole table."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To a database in which the agent can."""
        return software.locks_rows


class Pool(Disturbance):
    """A soft resource that is held by somebody else."""

    class_: Literal["pool"] = Field(alias="class")
    on: Subject = APPLICATION
    """The server."""

    resource: Annotated[str | None, Word(RESOURCES)] = Field(default=None, examples=["pool"])
    """Such as pool (of connections to the database), threads or max_connections (of a database or
    a cache); without it, the one that matters most to the server."""

    hold: Annotated[int | None, Whole(1, 100_000)] = Field(default=None, examples=[50])
    """How many are held; without it, all."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one with a resource that others can take."""
        return bool(software.holdable)

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Not in a database or a cache, whose connections others mostly have all the time."""
        return bool(software.holdable) and not (software.is_database or software.is_cache)

    def held(self, software: type[Server]) -> str:
        """The soft resource that is meant, of such a server."""
        return self.resource or software.holdable[0]


class Restart(Disturbance):
    """A server whose workers end and are started anew, again and again until the end."""

    class_: Literal["restart"] = Field(alias="class")
    on: Subject = ENTRY
    """The server."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one whose main process starts others in their place when it is told to."""
        return software.restart_signal is not None


class Checkpoint(Disturbance):
    """A database that writes changed pages to its disk at once, again and again until the end."""

    class_: Literal["checkpoint"] = Field(alias="class")
    on: Subject = DATABASE
    """The database; its tier gets a disk limit if it has none."""

    dirty: Annotated[int, Size("1MiB", "1GiB")] = 16 * MIB
    """Pages that are changed before, of a table made for it; the buffer pool has room for them."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To a database that writes its pages when the agent asks for it."""
        return software.checkpoints


class ColdCache(Disturbance):
    """A database whose buffer pool is emptied, again and again until the end."""

    class_: Literal["cold_cache"] = Field(alias="class")
    on: Subject = DATABASE
    """The database; its tier gets a limit on reads if it has none."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To a database whose pages the agent can drive out."""
        return software.empties_cache
