"""``tierlab init``: write a commented experiment file to start from."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tierlab.cli.asked import Answers, completed
from tierlab.cli.input_notes import say_assumed, say_notes
from tierlab.cli.running import look
from tierlab.environments.behind_port import behind
from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.experiment.own_template import own_tables, own_template, standing_tables
from tierlab.experiment.template import template
from tierlab.observe.followed import Standing
from tierlab.report.replace import put
from tierlab.topology import Seen
from tierlab.workloads.own.compose.expand import Expanded, expanded, published
from tierlab.workloads.own.paths import anchored
from tierlab.workloads.own.recorded import further_hosts
from tierlab.workloads.own.site import port_of

USERS = 20


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("experiment.toml"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    own: Annotated[bool, typer.Option("--own", help="For your own application.")] = False,
    command: Annotated[
        str | None, typer.Option(help="--own: the command that starts it.", show_default=False)
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(help="--own: the image that it comes as, instead.", show_default=False),
    ] = None,
    compose: Annotated[
        str | None,
        typer.Option(help="--own: a compose file of all servers, instead.", show_default=False),
    ] = None,
    folder: Annotated[
        str | None, typer.Option(help="--own: its folder, from the file's own.", show_default=False)
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="--own: the port that it listens on.", show_default=False)
    ] = None,
    ready: Annotated[
        str | None,
        typer.Option(help="--own: a page that it answers once it can work.", show_default=False),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(help="--own: postgresql or mariadb, if it has one.", show_default=False),
    ] = None,
    sql: Annotated[
        str | None, typer.Option(help="--own: a file that fills the database.", show_default=False)
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="--own: a page to start from.", show_default=False)
    ] = None,
    har: Annotated[
        str | None, typer.Option(help="--own: a browser's recording.", show_default=False)
    ] = None,
    log: Annotated[
        str | None, typer.Option(help="--own: an access log.", show_default=False)
    ] = None,
    running: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="--own: a server that runs already: a port, an address and a port, or pid:N.",
            show_default=False,
        ),
    ] = None,
    users: Annotated[
        int | None, typer.Option(min=1, help="--own: how many users.", show_default=str(USERS))
    ] = None,
) -> None:
    """Write a commented experiment file: every key, with its default.

    With --own a short one for your own application, of what the options say; what they do not is
    asked for. With --running besides, one for a server that runs on this host and for those that it
    calls: it is asked for the page of --start for two seconds, and they are found.
    """
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name the file to write, such as {path}/mine.toml.")
    if path.exists() and not force:
        raise UserError(f"{path}: exists already; name another file, or add --force.")
    answers = Answers(
        *(command, image, compose, folder, port, ready, database, sql, start, har, log)
    )
    others = {"running": running, "users": users}
    said = [*answers.given(), *(name for name, value in others.items() if value is not None)]
    if said and not own:
        raise UserError(f"init: --{said[0]} is of your own application; add --own.")
    users = users or USERS
    if running is not None:
        users_do = {"start": start, "har": har, "log": log}
        if other := [name for name in answers.given() if name not in users_do]:
            raise UserError(
                f"init: --{other[0]} does not go with --running, whose servers run already; leave"
                " one of them out."
            )
        _write(path, _standing(path, running, users_do, users))
        typer.echo(f"Wrote {path}. Try it: tierlab check {path}")
        return
    if own:
        _write_own(path, completed(answers), users)
        typer.echo(f"Wrote {path}. Try it: tierlab check {path}")
        return
    _write(path, template(_name(path)))
    typer.echo(f"Wrote {path}. Change what you like, then: tierlab run {path}")


def _write_own(path: Path, answers: dict[str, Any], users: int) -> None:
    """Write a file for one's own application; `UserError` for all that is wrong with it.

    What a compose file leaves open is said in the experiment file: it is written all the same,
    unless it would replace one in which that may have been said.
    """
    tables, note = _with_further_servers(path, own_tables(_name(path), answers, users))
    system = anchored(tables["system"], path.parent)
    try:
        brought, asked = _read(path, tables)
    except UserError as error:
        if path.exists() or not Path(system.get("compose", "")).is_file():
            raise
        _write(path, own_template(tables))
        raise UserError(f"{path} is written, and lacks something yet: {error}") from None
    _write(path, own_template(tables))
    say_assumed(brought.notes)
    say_notes(asked.trials()[0].systems)
    if note:
        typer.echo(note)


def _with_further_servers(path: Path, tables: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the tables with the servers that users call beside the first, and what to print of
    them. They are left out if they are all that is wrong with the file.
    """
    further = _further_servers(anchored(tables["system"], path.parent))
    if not further:
        return tables, ""
    sessions = {**tables["system"]["sessions"], "servers": further}
    named = {**tables, "system": {**tables["system"], "sessions": sessions}}
    listed = ", ".join(f"{host} ({server})" for host, server in further.items())
    try:
        _read(path, named)
    except UserError as error:
        with suppress(UserError):
            _read(path, tables)
            return tables, f"note   requests of the recording to {listed} are left out: {error}"
    return named, f"found  hosts of the recording by their published ports: {listed}"


def _read(path: Path, tables: dict[str, Any]) -> tuple[Expanded, Experiment]:
    """Return what an experiment file with these tables brings; `UserError` for what is wrong."""
    brought = expanded(anchored(tables["system"], path.parent))
    return brought, Experiment.from_tables({**tables, "system": brought.system}, str(path))


def _further_servers(system: dict[str, Any]) -> dict[str, str]:
    """Return the hosts to which recordings went beside the site and that are servers of the compose
    file, by their published ports. Empty too if a file cannot be read.
    """
    files = system["sessions"].get("har") or []
    try:
        ports = published(system)
        hosts = further_hosts(
            [Path(file) for file in ([files] if isinstance(files, str) else files)]
        )
    except UserError:
        return {}  # reading the experiment says it
    at = {host: port_of(host) for host in hosts}
    return {host: ports[port] for host, port in at.items() if port in ports}


def _standing(path: Path, where: str, users_do: dict[str, str | None], users: int) -> str:
    """The text of a file for servers that run already; `UserError` where none is found."""
    if not any(users_do.values()):
        users_do["start"] = "/"
    seen = look(where, users_do["start"] or "/", typer.echo)
    servers = [asdict(each) | {"calls": list(each.calls)} for each in seen.servers]
    tables = standing_tables(_name(path), servers, users_do, users)
    checked = {**tables, "system": anchored(tables["system"], path.parent)}
    asked = Experiment.from_tables(checked, str(path))
    say_notes(asked.trials()[0].systems)
    for each in seen.servers:
        typer.echo(f"found  {each.name} at {each.where}{_calling(each)}")
        if each.port and (unseen := behind(each.address, each.port).unseen):
            typer.echo(f"note   {each.name}: {unseen}; Tierlab does not measure them.")
    return own_template(tables, list(map(_elsewhere, seen.elsewhere)))


def _calling(server: Standing) -> str:
    spoken = f" ({server.protocol})" if server.protocol else ""
    return spoken + (f", which calls {' and '.join(server.calls)}" if server.calls else "")


def _elsewhere(call: Seen) -> str:
    protocol = f" ({call.protocol})" if call.protocol else ""
    return (
        f"{call.caller} also calls {call.address}:{call.port}{protocol}: elsewhere, or by IPv6;"
        " Tierlab does not see what happens there."
    )


def _write(path: Path, text: str) -> None:
    """All of the text or, when the disk is full, nothing."""
    try:
        put(path, text)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}.") from None


def _name(path: Path) -> str:
    """The experiment's name after the file's, in the letters that a name may have."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._")[:64]
    return name or "experiment"
