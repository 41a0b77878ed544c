"""`[system.NAME]` of a user's own application: what a table says of a server, and whom it calls."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from tierlab.servers.address import Address, AddressOptions
from tierlab.servers.base import Server
from tierlab.servers.command import Command, CommandOptions
from tierlab.servers.command_fault import command_fault
from tierlab.servers.image import Image
from tierlab.servers.mariadb import MariaDB
from tierlab.servers.memcached import Memcached
from tierlab.servers.nodejs import NodeJs
from tierlab.servers.own_options import FOUND, OwnOptions
from tierlab.servers.placeholders import named
from tierlab.servers.postgresql import PostgreSQL
from tierlab.servers.redis import Redis
from tierlab.values.kinds import Text
from tierlab.values.problem import problem, raise_all
from tierlab.values.section import Section
from tierlab.values.texts import Chosen, ExistingFiles, Line, Lines
from tierlab.workloads.own.reached import Reached, own_socket_problems, place_problems
from tierlab.workloads.workload import TierDeclaration

NAME = r"[a-z][a-z0-9]{0,11}"
NAME_WORDS = "up to 12 lower-case letters and digits, the first a letter"
MOST_SERVERS = 8
INSTANCES = "Instances; each is told its own address."

FORMS: Mapping[str, type[Server]] = {
    "command": Command,
    "address": Address,
    "socket": Address,
    "image": Image,
}
"""By the key that they are known by: who starts a server, or that nobody does."""
TELLING = ("image", "command", "address", "socket")
"""Those keys; of several in a table, the first tells."""
DATABASES: tuple[type[Server], ...] = (PostgreSQL, MariaDB)
"""Software that Tierlab configures, and fills for whoever brings the statements."""
CACHES: tuple[type[Server], ...] = (Redis, Memcached)
"""The same, with nothing in it at first."""
RUNTIMES: tuple[type[Server], ...] = (NodeJs,)
"""What runs a program of the user's own, and that Tierlab knows more of than its command."""
SOFTWARE = (*dict.fromkeys(FORMS.values()), *RUNTIMES, *DATABASES, *CACHES)

HOST_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?")
IDENTIFIER = Text("a name of letters, digits and _", r"[A-Za-z_][A-Za-z0-9_]{0,62}")


class Called(Section):
    """Whom a server calls."""

    name: ClassVar[str] = "web"
    """Its table's."""
    tables: ClassVar[Mapping[str, Reached]] = {}
    """How each of the servers can be reached, by the name of its table."""

    calls: Annotated[tuple[str, ...] | str | None, Chosen((), FOUND)] = Field(
        default=None, examples=[["db"]]
    )
    """The servers that it calls, by the names of their tables; without it, those that its command
    and variables speak of. "found": Tierlab looks, before a run; of a file in which no server says
    whom it calls, or speaks of another, it does that for all."""

    names: Annotated[tuple[str, ...] | None, Lines("names")] = Field(
        default=None, examples=[["database"]]
    )
    """Names besides its table's by which servers that come as images find it."""

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if not re.fullmatch(NAME, self.name):
            raise problem(f"has a name that is not {NAME_WORDS}; give it another")
        raise_all(
            problem(f"has {name!r}, which is no name of a host", "names")
            for name in self.names or ()
            if not HOST_NAME.fullmatch(name)
        )
        if isinstance(self, AddressOptions):
            raise_all(
                problem("is nothing that Tierlab can do to what it did not start; remove it", key)
                for key in ("count", "memory", "mapping", "disk")
                if self._is_changed(key)
            )
        if isinstance(self, OwnOptions):
            raise_all(self._own_problems(self))
        return self

    def _is_changed(self, key: str) -> bool:
        """Whether a key has another value than its default, which a trial's plan spells out."""
        field = type(self).model_fields.get(key)
        default = None if field is None else field.get_default(call_default_factory=True)
        return field is not None and getattr(self, key) != default

    def _own_problems(self, options: OwnOptions) -> Iterator[PydanticCustomError]:
        if isinstance(options, CommandOptions):
            yield from _command_problems(options)
        yield from place_problems(self.name, options.texts(), self.tables)
        yield from own_socket_problems(options, getattr(self, "count", 1))


class Filled(Section):
    """What a database has in it, and who may log in."""

    sql: Annotated[tuple[str, ...] | None, ExistingFiles()] = Field(
        default=None, examples=[["shop.sql"]]
    )
    """Files of statements that make its tables and fill them, one after the other, as a dump with
    inserts is (`pg_dump --inserts --no-owner --no-privileges`, `mysqldump --skip-triggers`). They
    are run once and kept."""

    user: Annotated[str, IDENTIFIER] = "own"
    """Who may log in, and owns the database."""

    password: Annotated[str | None, Line("a password")] = Field(
        default=None, examples=["$DB_PASSWORD"]
    )
    """Its password; without it, one is drawn for each trial, and told by `{NAME.password}`.
    `"$NAME"` is the variable of that name where Tierlab runs, and `"$$NAME"` is the text
    `$NAME`."""

    database: Annotated[str, IDENTIFIER] = "own"
    """The database's name."""


class Described(Called, Filled):
    """All that a file says of one server or another of its own."""


def _command_problems(options: CommandOptions) -> Iterator[PydanticCustomError]:
    if (why := command_fault(options)) is not None:
        yield problem(why, "command")
    alone = ("address",) if options.listens else ("ready", "host", "protocol", "address")
    for key in alone if options.port is None else ():
        if getattr(options, key) is not None:
            yield problem("goes with a port; say which, or remove it", key)


ANY_TIER = TierDeclaration(
    'A server of your own, of workload "own": one table each, in a request\'s order; users call the'
    " first.",
    SOFTWARE,
    most=MOST_SERVERS,
    instances=INSTANCES,
    own=Described,
)


def declared(
    tables: Mapping[str, Mapping[str, Any]], users_call: Collection[str] = ()
) -> dict[str, TierDeclaration]:
    """The tiers that the tables of a file describe, in the file's order, which is a request's.
    `users_call`: those that users call beside the first.
    """
    names = {name: _reached(table) for name, table in tables.items()}
    return {
        name: TierDeclaration(
            f'The server "{name}" of your own.',
            _software(table),
            calls=_calls(name, tables, users_call),
            most=MOST_SERVERS,
            instances=INSTANCES,
            own=_own(names, name, table),
            names=_names(table),
        )
        for name, table in tables.items()
    }


def _reached(table: Mapping[str, Any]) -> Reached:
    """How a table says that its server is called; of an image without a word its own port."""
    configured = {each.kind: each for each in (*DATABASES, *CACHES)}
    software = configured.get(table.get("server", ""))
    is_configured, has_own = software is not None, software is not None and software.socket
    at_port = is_configured or "port" in table or ("image" in table and "socket" not in table)
    return Reached(at_port=at_port, at_socket="socket" in table or bool(has_own))


def _names(table: Mapping[str, Any]) -> tuple[str, ...]:
    said = table.get("names")
    given = said if isinstance(said, list | tuple) else [said]
    return tuple(each for each in given if isinstance(each, str))


def _software(table: Mapping[str, Any]) -> tuple[type[Server], ...]:
    """The one that the table's keys speak of first."""
    meant = next((FORMS[key] for key in TELLING if key in table), Command)
    return (meant, *(each for each in SOFTWARE if each is not meant))


def _own(names: Mapping[str, Reached], name: str, table: Mapping[str, Any]) -> type[Section]:
    others = tuple(each for each in names if each != name)
    is_database = table.get("server") in {each.kind for each in DATABASES}
    bases: Any = (Called, Filled) if is_database else (Called,)
    field = Called.model_fields["calls"]
    model: type[Called] = create_model(
        "Called",
        __base__=bases,
        calls=(
            Annotated[tuple[str, ...] | str | None, Chosen(others, FOUND)],
            Field(default=None, examples=field.examples, description=CALLS),
        ),
    )
    model.name, model.tables = name, names
    return model


CALLS = "The servers that it calls, by the names of their tables."


def _calls(
    name: str, tables: Mapping[str, Mapping[str, Any]], users_call: Collection[str]
) -> tuple[str, ...]:
    """Whom a server calls: as its table says, or speaks of; as long as nobody looked, who is called
    by no other is called by the first that does not say whom it calls.
    """
    open_ = finds_calls(tables)
    said = {each: _said(each, tables) for each in tables}
    if name not in open_:
        return said[name]
    first, called = next(iter(tables)), {callee for each in said.values() for callee in each}
    left = tuple(
        each
        for each, table in tables.items()
        if each not in (*called, *users_call, name, first) and not _is_worker(table)
    )
    return left if name == next(each for each in tables if each in open_) else ()


def _said(name: str, tables: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    said = tables[name].get("calls")
    if isinstance(said, list):
        return tuple(each for each in said if each in tables and each != name)
    return () if said == FOUND else spoken_of(name, tables[name], tables)


def finds_calls(tables: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """The servers of which it is to be seen whom they call: where a table leaves it to that, or all
    do.
    """
    if len(tables) > 1 and not calls_are_said(tables):
        return frozenset(tables)
    return frozenset(name for name, table in tables.items() if table.get("calls") == FOUND)


def finds_protocols(tables: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """The same of what they speak; users speak HTTP with the first."""
    first = next(iter(tables), None)
    own = {each.kind for each in (*FORMS.values(), *RUNTIMES)}
    all_ = finds_calls(tables) == frozenset(tables)
    return frozenset(
        name
        for name, table in tables.items()
        if table.get("protocol") == FOUND
        or (
            all_
            and name != first
            and "protocol" not in table
            and _kind(table) in own
            and not _is_worker(table)
        )
    )


def _kind(table: Mapping[str, Any]) -> object:
    return table.get("server", _software(table)[0].kind)


def _is_worker(table: Mapping[str, Any]) -> bool:
    """Whether a command starts it, and it listens nowhere."""
    started = "command" in table or table.get("server") in {each.kind for each in RUNTIMES}
    return started and not {"port", "socket", "image"} & table.keys()


def spoken_of(name: str, table: Mapping[str, Any], names: Mapping[str, Any]) -> tuple[str, ...]:
    """The servers that a table's command and variables speak of."""
    listed = table.get("first")
    texts: list[Any] = []
    for each in (table, *(listed if isinstance(listed, list | tuple) else ())):
        own = each if isinstance(each, Mapping) else {}
        variables = own.get("environment")
        texts += [own.get(key) for key in ("command", "entrypoint", "health")]
        texts += variables.values() if isinstance(variables, dict) else ()
    found = (each for text in texts if isinstance(text, str) for each in named(text, names))
    return tuple(dict.fromkeys(each for each in found if each != name))


def calls_are_said(tables: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether any table says whom its server calls."""
    return any("calls" in table or spoken_of(name, table, tables) for name, table in tables.items())
