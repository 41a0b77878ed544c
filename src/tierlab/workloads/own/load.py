"""The statements that a user brings, run into an empty database."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
from pg8000.exceptions import Error

from tierlab.errors import UserError

FORM = 2
"""Of what is made of the files; goes up when the same files are loaded in another way."""
COPY = re.compile(r"^COPY [^\n]*\bSTDIN\b", re.I | re.M)
_OF_PSQL = re.compile(
    r"""(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*+'
    |'[^']*'|"[^"]*"
    |(?<![\w$])\$((?:[^\W\d]\w*)?)\$.*?\$\1\$
    |--[^\r\n]*|/\*.*?\*/
    |(?P<line>^\\(?:restrict|unrestrict|connect)\b[^\n]*)""",
    re.X | re.M | re.DOTALL,
)
"""A `line` that pg_dump writes for psql alone; texts, names and comments, in which none is one."""


@dataclass(frozen=True)
class StatementLoader:
    """Runs files of SQL, one after the other."""

    files: Sequence[Path]
    user: str
    database: str

    @property
    def key(self) -> str:
        """Names all that the data depends on: what the files say, how it is read, and whose."""
        said = hashlib.sha256(f"{FORM} {self.user} {self.database}".encode())
        for file in self.files:
            said.update(file.read_bytes())
        return f"own-{said.hexdigest()[:24]}"

    def load(self, connection: Any) -> None:
        """Run them; `UserError` that names the file, and the statement where that is known."""
        for file in self.files:
            if hasattr(connection, "cursor"):
                _by_statements(connection, file)
            else:
                _whole(connection, file)


def _whole(connection: Any, file: Path) -> None:
    """PostgreSQL takes several statements at once, but no data after a COPY."""
    try:
        text = file.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise UserError(
            f"{file}: is not UTF-8 (byte {error.start + 1}); dump it with pg_dump --encoding=UTF8."
        ) from None
    if COPY.search(text):
        raise UserError(
            f"{file}: has COPY FROM stdin; dump it with pg_dump --inserts --no-owner"
            " --no-privileges."
        )
    text = _OF_PSQL.sub(lambda each: "" if each["line"] else each[0], text)
    if not text.strip():
        return
    try:
        connection.run(text)
        connection.run("RESET ALL")
    except Error as error:
        said = error.args[0] if error.args else error
        reason = said.get("M", said) if isinstance(said, dict) else said
        raise UserError(f"{file}: the database refuses it: {reason}.") from error


def _by_statements(connection: Any, file: Path) -> None:
    """MariaDB takes one at a time, and its dumps have bytes that are no text: they stay."""
    text = file.read_bytes().decode(errors="surrogateescape")
    with connection.cursor() as cursor:
        for statement in statements(text):
            try:
                cursor.execute(statement.encode(errors="surrogateescape"))
            except pymysql.MySQLError as error:
                raise UserError(
                    f"{file}: the database refuses {statement[:60]!r}: {error.args[-1]}."
                ) from error
    connection.commit()


def statements(text: str) -> Iterator[str]:
    """The statements of a dump of MariaDB's: ended by a semicolon that is in no quotes and no
    comment.
    """
    begin = at = 0
    while at < len(text):
        if text[at] in "'\"`":
            at = _closing(text, at)
        elif text.startswith(("-- ", "--\n", "--\r", "#"), at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            at = len(text) if end < 0 else end + 1
        elif text[at] == ";":
            if statement := text[begin:at].strip():
                yield statement
            begin = at + 1
        at += 1
    if (last := text[begin:].strip()) and not all(
        line.startswith(("--", "#")) or not line.strip() for line in last.splitlines()
    ):
        yield last


def _closing(text: str, at: int) -> int:
    """Where the quote that opens at `at` closes; the end where it does not."""
    quote = text[at]
    at += 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "\\" and quote != "`" else 1
    return at
