"""How a workload declares its tables, once, and the statements that make them by dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum


class Dialect(Enum):
    """A server's own words for what the standard leaves open."""

    MARIADB = "mariadb"
    POSTGRESQL = "postgresql"


class Kind(Enum):
    """A column's type, without its length."""

    SERIAL = "serial"
    INTEGER = "integer"
    MONEY = "money"
    DEGREES = "degrees"
    TEXT = "text"
    MOMENT = "moment"
    DAY = "day"
    VARCHAR = "varchar"
    CHAR = "char"


@dataclass(frozen=True)
class Column:
    """A column; `length` in characters for VARCHAR and CHAR only."""

    name: str
    kind: Kind
    length: int = 0
    prefix_searched: bool = False
    """Whether an index that begins with it serves LIKE 'abc%'."""


def varchar(name: str, length: int, *, prefix_searched: bool = False) -> Column:
    """A text of at most `length` characters."""
    return Column(name, Kind.VARCHAR, length, prefix_searched)


def char(name: str, length: int) -> Column:
    """A text of `length` characters, filled up with blanks."""
    return Column(name, Kind.CHAR, length)


@dataclass(frozen=True)
class Reference:
    """Columns that hold the primary key of another table's row."""

    columns: tuple[str, ...]
    table: str


@dataclass(frozen=True)
class Table:
    """A table whose first column is its primary key, unless `key` has other columns."""

    name: str
    columns: tuple[Column, ...]
    indexes: tuple[tuple[str, ...], ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    numbered_after: str = ""
    """A table whose ids new rows must not take, because pages look for an id in both."""
    key: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()

    @property
    def numbers_itself(self) -> bool:
        """Whether the server gives new rows their ids."""
        return self.columns[0].kind is Kind.SERIAL


_WORDS = {
    Dialect.MARIADB: {
        Kind.SERIAL: "INTEGER NOT NULL AUTO_INCREMENT",
        Kind.INTEGER: "INTEGER NOT NULL",
        Kind.MONEY: "DECIMAL(12, 2) NOT NULL",
        Kind.DEGREES: "DECIMAL(14, 10) NOT NULL",
        Kind.TEXT: "TEXT NOT NULL",
        Kind.MOMENT: "DATETIME NOT NULL",
        Kind.DAY: "DATE NOT NULL",
    },
    Dialect.POSTGRESQL: {
        # Not an identity column: pgpool-II keeps replicas' ids equal for SERIAL only.
        Kind.SERIAL: "SERIAL",
        Kind.INTEGER: "INTEGER NOT NULL",
        Kind.MONEY: "NUMERIC(12, 2) NOT NULL",
        Kind.DEGREES: "NUMERIC(14, 10) NOT NULL",
        Kind.TEXT: "TEXT NOT NULL",
        Kind.MOMENT: "TIMESTAMP(0) NOT NULL",
        Kind.DAY: "DATE NOT NULL",
    },
}

# Compared byte by byte on both servers, so that a prefix search and a login mean the same on each.
_TABLE_OPTIONS = {
    Dialect.MARIADB: " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    Dialect.POSTGRESQL: "",
}


def table_ddl(tables: Sequence[Table], dialect: Dialect) -> Iterator[str]:
    """Statements, one by one, that make the tables with their primary keys."""
    for table in tables:
        lines = [f"  {column.name} {_type(column, dialect)}" for column in table.columns]
        key = table.key or (table.columns[0].name,)
        lines.append(f"  PRIMARY KEY ({', '.join(key)})")
        body = ",\n".join(lines)
        yield f"CREATE TABLE {table.name} (\n{body}\n){_TABLE_OPTIONS[dialect]}"


def index_ddl(tables: Sequence[Table], dialect: Dialect) -> Iterator[str]:
    """Statements that make the other indexes and constraints; quicker once the tables are full."""
    for table in tables:
        for columns in table.unique:
            yield _index("UNIQUE INDEX", table, columns, dialect)
        for columns in table.indexes:
            yield _index("INDEX", table, columns, dialect)
    for table in tables:
        for to in table.references:
            key = ", ".join(to.columns)
            yield f"ALTER TABLE {table.name} ADD FOREIGN KEY ({key}) REFERENCES {to.table}"


def _type(column: Column, dialect: Dialect) -> str:
    if column.kind in (Kind.VARCHAR, Kind.CHAR):
        return f"{column.kind.name}({column.length}) NOT NULL"
    return _WORDS[dialect][column.kind]


def _index(what: str, table: Table, columns: tuple[str, ...], dialect: Dialect) -> str:
    names = list(columns)
    searched = {column.name for column in table.columns if column.prefix_searched}
    if dialect is Dialect.POSTGRESQL and names[0] in searched:
        # PostgreSQL reads LIKE 'abc%' from an index only with this operator class.
        names[0] += " varchar_pattern_ops"
    return f"CREATE {what} {table.name}_{'_'.join(columns)} ON {table.name} ({', '.join(names)})"
