"""An experiment file for a user's own application, of what is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tierlab.servers.own_options import USUAL_PORTS
from tierlab.values.toml import as_toml

HEAD = """\
# Your own application: try it with `tierlab check FILE`, measure it with `tierlab run FILE`.
# Every key is in docs/reference/experiment.md; paths begin where this file is.
"""
FRONT = "web"
"""The server that users call."""
ABOUT: Mapping[str, str] = {
    FRONT: "The server that users call.",
    "db": "The database, which it is told of as {db.address}, {db.user} and so on.",
    "sessions": "What users do.",
}
STANDING = "A server behind it that runs already."


def own_tables(name: str, answers: Mapping[str, Any], users: int) -> dict[str, Any]:
    """The file's tables. `answers`: keys of the server, and `compose`, `database`, `sql`, `start`,
    `har` and `log` as `tierlab init --own` asks for them; None for what is not there.
    """
    given = {key: value for key, value in answers.items() if value is not None}
    server: dict[str, Any] = {
        key: given[key] for key in ("image", "command", "folder", "port", "ready") if key in given
    }
    system: dict[str, Any] = {"workload": "own"}
    if "image" in given or "compose" in given:
        system["environment"] = "podman"
    system |= {"compose": given["compose"]} if "compose" in given else {"web": server}
    if "database" in given and "compose" not in given:
        server["environment"] = {"DATABASE_URL": DATABASE_URL.format(given["database"])}
        sql = {"sql": given["sql"]} if "sql" in given else {}
        system["db"] = {"server": given["database"]} | sql
    system["sessions"] = {key: given[key] for key in ("start", "har", "log") if key in given}
    return {"experiment": {"name": name}, "system": system, "load": {"users": users}}


def standing_tables(
    name: str, servers: Sequence[Mapping[str, Any]], sessions: Mapping[str, Any], users: int
) -> dict[str, Any]:
    """The tables of a file for servers that run already, the one that users call first.

    Each has its `name` and the keys `address`, `port`, `socket`, `protocol` and `calls`.
    """
    system: dict[str, Any] = {"workload": "own", "environment": "host"}
    for number, server in enumerate(servers):
        keys = {key: value for key, value in server.items() if value and key != "name"}
        usual = USUAL_PORTS.get(server["port"], "http")
        if number == 0 or (server["port"] and usual == keys.get("protocol")):
            keys.pop("protocol", None)
        system[server["name"]] = keys
    system["sessions"] = {key: value for key, value in sessions.items() if value is not None}
    return {"experiment": {"name": name}, "system": system, "load": {"users": users}}


DATABASE_URL = "{}://{{db.user}}:{{db.password}}@{{db.address}}:{{db.port}}/{{db.database}}"


def own_template(tables: Mapping[str, Any], notes: Iterable[str] = ()) -> str:
    """The file's text, with some notes at its end."""
    text = HEAD + "\n".join(_lines(tables)) + "\n"
    return text + "".join(f"\n# {note}" for note in notes) + ("\n" if notes else "")


def _lines(tables: Mapping[str, Any]) -> Iterator[str]:
    for name, table in tables.items():
        yield f"\n[{name}]"
        yield from _keys(table)
        for below, each in table.items():
            if isinstance(each, dict):
                yield f"\n# {ABOUT.get(below, STANDING)}\n[{name}.{below}]"
                yield from (f"{key} = {as_toml(value)}" for key, value in each.items())


def _keys(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if not isinstance(value, dict):
            yield f"{key} = {as_toml(value)}"
