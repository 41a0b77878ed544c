"""What ``tierlab init --own`` needs to know: given by options, or asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import typer

from tierlab.errors import UserError

DATABASES = ("postgresql", "mariadb")
OF_SERVERS = ("command", "image", "folder", "port", "ready", "database", "sql")
"""What a compose file says itself."""


@dataclass
class Answers:
    """Of the options; None where one is not given."""

    command: str | None
    image: str | None
    compose: str | None
    folder: str | None
    port: int | None
    ready: str | None
    database: str | None
    sql: str | None
    start: str | None
    har: str | None
    log: str | None

    def keys(self) -> dict[str, Any]:
        """By name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def given(self) -> list[str]:
        """The names of those that are given."""
        return [name for name, value in self.keys().items() if value is not None]


def completed(answers: Answers) -> dict[str, Any]:
    """The answers, those that are missing asked for on a terminal; elsewhere `UserError`."""
    if answers.compose and (other := [each for each in answers.given() if each in OF_SERVERS]):
        raise UserError(
            f"init: --{other[0]} does not go with --compose, whose file says its servers; leave one"
            " of them out."
        )
    missing = [name for name in _needed(answers) if getattr(answers, name) is None]
    if not any((answers.start, answers.har, answers.log)):
        missing.append("start")
    if missing and not sys.stdin.isatty():
        options = " and ".join(f"--{name}" for name in missing)
        raise UserError(
            f"init --own: {options} must be given where nobody can be asked (users are said by"
            " --start, --har or --log)."
        )
    if missing:
        _ask(answers)
    if answers.sql and not answers.database:
        raise UserError(f"init: --sql fills a database; say --database {' or '.join(DATABASES)}.")
    return answers.keys()


def _needed(answers: Answers) -> tuple[str, ...]:
    """What of its server has to be said: an image or a compose file says it itself."""
    return () if answers.image or answers.compose else ("command", "port")


def _ask(answers: Answers) -> None:
    """Ask for all that no option says."""
    if _needed(answers):
        _ask_of_the_server(answers)
    if not any((answers.start, answers.har, answers.log)):
        said = typer.prompt(
            "A recording (.har), an access log, or a page to start from", default="/"
        )
        setattr(answers, _users(said), said)


def _ask_of_the_server(answers: Answers) -> None:
    question("command", "The command that starts your server", answers, str)
    if answers.folder is None and typer.confirm("Does it need a folder of files?", default=True):
        question("folder", "That folder, from the file's own", answers, str)
    question("port", "The port that it listens on", answers, int)
    if answers.ready is None:
        said = typer.prompt("A page that it answers once it can work (empty: none)", default="")
        answers.ready = said or None
    if answers.database is None:
        said = typer.prompt(f"A database ({' or '.join(DATABASES)}; empty: none)", default="")
        answers.database = said or None
    if answers.database is not None and answers.sql is None:
        said = typer.prompt("A file of SQL that fills it (empty: none)", default="")
        answers.sql = said or None


def question(name: str, text: str, answers: Answers, kind: Callable[[str], Any]) -> None:
    """Ask for an answer that no option gives."""
    if getattr(answers, name) is None:
        setattr(answers, name, typer.prompt(text, type=kind))


def _users(said: str) -> str:
    """Which key an answer about the users is."""
    if said.startswith("/") and not Path(said).is_file():
        return "start"
    return "har" if ".har" in Path(said).suffixes else "log"
