"""A run folder, opened: its manifest and every table that it has."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow

from tierlab.errors import UserError
from tierlab.tables import manifest as manifests
from tierlab.tables.manifest import Manifest
from tierlab.tables.schemas import INSIDE, OUTSIDE, PROFILE, SCHEMAS, SQL_TYPES, TABLES

if TYPE_CHECKING:
    from ibis.expr.types import Table


class Run:
    """One trial's folder.

    ``run.requests``, ``run.visits``, ``run.cpu`` ... are Ibis tables; ``run.connect()`` is a DuckDB
    connection on which each of them is a view of that name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: Manifest = manifests.read(path)
        self._there = {name for name in TABLES if self._file(name).exists()}
        # Where no domain has a kernel of its own there is no inside to be missed.
        wanted = SCHEMAS | (INSIDE | OUTSIDE if self.manifest.clocks else {})
        # A profile is made where one is asked for: then the manifest says why there is none.
        wanted |= {name: PROFILE[name] for name in PROFILE if name in self.manifest.not_measured}
        self.missing: dict[str, str] = {
            name: self.manifest.not_measured.get(name, "the trial wrote no such table")
            for name in wanted
            if name not in self._there
        }

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.parquet"

    def has(self, name: str) -> bool:
        """Say whether the trial measured that table."""
        return name in self._there

    def connect(
        self, *, memory_limit: str = "1500MB", threads: int = 2
    ) -> duckdb.DuckDBPyConnection:
        """Return a new in-memory DuckDB connection with a view per table.

        A table that was not measured is there too, with its columns and no rows, so that queries
        need no second form; :meth:`has` tells the two apart.
        """
        connection = duckdb.connect(
            config={
                "memory_limit": memory_limit,
                "threads": threads,
                "preserve_insertion_order": False,
            }
        )
        for name, schema in TABLES.items():
            if self.has(name):
                self._show(connection, name)
            else:
                # Not `schema.empty_table()`: it has pandas loaded.
                empty = pyarrow.Table.from_batches([], schema)
                connection.register(f"empty_{name}", empty)
                connection.execute(f"CREATE VIEW {name} AS FROM empty_{name}")
        return connection

    def _show(self, connection: duckdb.DuckDBPyConnection, name: str) -> None:
        """Create a table's view. It has every column of the schema that may be null: a folder of an
        older version lacks some of them in its file.
        """
        path = str(self._file(name)).replace("'", "''")
        try:
            connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{path}')")
        except duckdb.Error as error:
            raise UserError(
                f"{self._file(name)} cannot be read as Parquet "
                f"({str(error).splitlines()[0]}): remove it to report the rest of the run."
            ) from error
        there = set(connection.view(name).columns)
        schema = TABLES[name]
        if any(field.nullable and field.name not in there for field in schema):
            columns = ", ".join(
                f'"{field.name}"' if field.name in there else self._null(field)
                for field in schema
                if field.nullable or field.name in there
            )
            connection.execute(
                f"CREATE OR REPLACE VIEW {name} AS SELECT {columns} FROM read_parquet('{path}')"
            )

    def _null(self, field: pyarrow.Field[Any]) -> str:
        """Return the SQL of a column that the file lacks: null of the schema's type. `protocol` is
        known all the same where all servers that users call speak the same one.
        """
        value = "NULL"
        if field.name == "protocol":
            servers, entries = self.manifest.servers, self.manifest.topology.entries
            spoken = {servers[entry].protocol for entry in entries}
            if len(spoken) == 1:
                value = "'{}'".format(spoken.pop().replace("'", "''"))
        return f'{value}::{SQL_TYPES[field.type]} AS "{field.name}"'

    @cached_property
    def _ibis(self) -> Any:
        import ibis

        return ibis.duckdb.from_connection(self._shown())

    def _shown(self) -> duckdb.DuckDBPyConnection:
        """The connection behind the Ibis tables."""
        return self.connect()

    def table(self, name: str) -> Table:
        """Return a table as an Ibis expression.

        Raises :class:`UserError` when there is no such table or it was not measured.
        """
        if name not in TABLES:
            raise UserError(f"there is no table `{name}`: the tables are {', '.join(TABLES)}.")
        if not self.has(name):
            of_profile = name in PROFILE
            nobody = "no profile was made" if of_profile else "no server had a kernel of its own"
            reason = self.missing.get(name, nobody)
            raise UserError(f"`{name}` was not measured in {self.path}: {reason}.")
        return self._ibis.table(name)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name not in TABLES:
            raise AttributeError(name)
        return self.table(name)

    @property
    def tables(self) -> list[str]:
        """The tables that the trial measured."""
        return [name for name in TABLES if self.has(name)]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def __repr__(self) -> str:
        has = ", ".join(self.tables)
        return f"<Run {self.manifest.experiment}/{self.manifest.trial} at {self.path}: {has}>"
