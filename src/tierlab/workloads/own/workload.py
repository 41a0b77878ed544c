"""A user's own application, as the tables of an experiment file describe it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tierlab.environments.environment import Environment
from tierlab.servers.application import Pages
from tierlab.servers.content import Content, Fidelity, Filling
from tierlab.servers.database import Credentials
from tierlab.servers.placeholders import from_environment
from tierlab.values.section import Section
from tierlab.workloads.own import logged as logs
from tierlab.workloads.own import recorded as recordings
from tierlab.workloads.own.compose.composed import Composed
from tierlab.workloads.own.load import StatementLoader
from tierlab.workloads.own.logged import logged
from tierlab.workloads.own.pages import following
from tierlab.workloads.own.recorded import recorded
from tierlab.workloads.own.replayed import replayed
from tierlab.workloads.own.sessions import Sessions
from tierlab.workloads.own.tiers import (
    ANY_TIER,
    DATABASES,
    Filled,
    declared,
    finds_calls,
    finds_protocols,
)
from tierlab.workloads.workload import DataKey, TierDeclaration, Workload

SESSIONS = "sessions"
RECORDED = "recorded"
"""What users' think times are, unless a file says otherwise."""


class Own(Workload):
    """Servers and users that a file describes; without a file, of which there is nothing."""

    name = "own"
    hands_on_traces = True
    tables: ClassVar[Mapping[str, type[Section]]] = {SESSIONS: Sessions}
    keys = Composed
    tiers: ClassVar[Mapping[str, TierDeclaration]] = {}
    any_tier: ClassVar[TierDeclaration | None] = ANY_TIER

    def __init__(self, tables: Mapping[str, Any] | None = None) -> None:
        self._tables = dict(tables or {})

    def described(self, tables: Mapping[str, Any]) -> Own:
        """The application that these tables describe: of a class of its own, as each has."""
        servers = {name: each for name, each in tables.items() if name != SESSIONS}
        sessions = tables.get(SESSIONS)
        keys = sessions if isinstance(sessions, dict) else {"start": "/"}
        own = {
            "tiers": declared(servers, _users_call(sessions)),
            "own_think": "start" not in keys and keys.get("think", RECORDED) == RECORDED,
            "has_log": "log" in keys,
            "entry_paths": _entry_paths(servers, sessions),
            "users_call": _users_call(sessions),
            "finds_calls": finds_calls(servers),
            "finds_protocols": finds_protocols(servers),
        }
        kind: type[Own] = type("Own", (Own,), own)
        return kind(tables)

    def check(self) -> None:
        """Nothing is built; what the file names was looked for as it was read."""

    def content(self, environment: Environment, data: DataKey, fidelity: Fidelity) -> Content:  # noqa: ARG002
        """What is in its databases, those that Tierlab fills."""
        pages, kinds = Pages(environment.work, "/"), {each.kind for each in DATABASES}
        fillings = {
            name: _filling(name, table)
            for name, table in self._tables.items()
            if name != SESSIONS and table.get("server") in kinds
        }
        if not fillings:
            return Content(pages, None, Credentials.drawn(self.name), fidelity)
        first = next(iter(fillings.values()))
        return Content(pages, first.loader, first.credentials, fidelity, fillings=fillings)

    def users(self, mix: str, fidelity: Fidelity, data: DataKey) -> dict[str, Any]:  # noqa: ARG002
        """As the table of sessions says."""
        asked = Sessions.model_validate(self._tables[SESSIONS])
        own_think = asked.think == RECORDED
        if asked.har:
            files = [Path(file) for file in asked.har]
            return recorded(files, asked.expect, own_think=own_think, servers=asked.servers)
        if asked.log is not None:
            return logged(
                Path(asked.log), asked.expect, own_think=own_think, log_format=asked.log_format
            )
        pages, avoid = asked.pages or (), asked.avoid or ()
        return following(asked.start or (), pages, avoid, asked.length, asked.expect)

    def notes(self) -> tuple[str, ...]:
        """What was not understood of the recordings, or of the log."""
        asked = Sessions.model_validate(self._tables.get(SESSIONS, {"start": "/"}))
        if asked.har:
            return tuple(recordings.notes([Path(file) for file in asked.har], asked.servers))
        if asked.log is not None:
            return tuple(logs.notes(Path(asked.log), asked.log_format))
        return ()

    def replayed(self) -> dict[str, Any]:
        """The visits of the log that the table of sessions names."""
        asked = Sessions.model_validate(self._tables[SESSIONS])
        return replayed(Path(asked.log or ""), asked.expect, asked.log_format)


def _users_call(sessions: object) -> tuple[str, ...]:
    """The servers that users call beside the first."""
    named = sessions.get("servers") if isinstance(sessions, dict) else None
    names = named.values() if isinstance(named, dict) else ()
    return tuple(dict.fromkeys(each for each in names if isinstance(each, str)))


def _entry_paths(servers: Mapping[str, Any], sessions: object) -> tuple[str, ...]:
    """Where sessions start; of those that are repeated, the page by which the first server is known
    to work.
    """
    first = next(iter(servers.values()), None)
    start = sessions.get("start") if isinstance(sessions, dict) else None
    given = [start] if isinstance(start, str) else start if isinstance(start, list | tuple) else []
    ready = first.get("ready") if isinstance(first, dict) else None
    return tuple(each for each in given if isinstance(each, str)) or (str(ready or "/"),)


def _filling(name: str, table: Mapping[str, Any]) -> Filling:
    """What a table says of a database."""
    keys = {key: table[key] for key in Filled.model_fields if key in table}
    filled = Filled.model_validate(keys)
    files = [Path(file) for file in filled.sql or ()]
    loader = StatementLoader(files, filled.user, filled.database)
    return Filling(loader, _login(filled, name))


def _login(filled: Filled, name: str) -> Credentials:
    drawn = Credentials.drawn(filled.user)
    password = drawn.password
    if filled.password is not None:
        password = from_environment("password", filled.password, f"system.{name}")
    return Credentials(filled.user, password, filled.database)
