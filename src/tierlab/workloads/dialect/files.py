"""A generated data set: a folder with a tab-separated file a table and `data.json`.

Values hold no tab, line break or backslash, so that no server's loader reads an escape in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

MANIFEST = "data.json"

Row = tuple[object, ...]


@dataclass(frozen=True)
class DataSet:
    """What a folder holds; stored in it as `data.json`."""

    seed: int
    scale: float
    load_day: str
    rows: dict[str, int]

    @classmethod
    def read(cls, folder: Path) -> DataSet:
        """The data set in a folder that `write` wrote to its end."""
        return cls(**json.loads((folder / MANIFEST).read_text()))


def write(
    folder: Path,
    tables: Iterable[tuple[str, Iterable[Row]]],
    *,
    seed: int,
    scale: float,
    load_day: date,
) -> DataSet:
    """Write `<table>.tsv` for every table, then `data.json`; each table's rows are used up first.

    The folder is made; the rest names what the rows were made from.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = {table: _write(table_file(folder, table), made) for table, made in tables}
    return write_manifest(folder, DataSet(seed, scale, load_day.isoformat(), rows))


def write_manifest(folder: Path, data: DataSet) -> DataSet:
    """Write what a folder's files hold, once they are whole; return it."""
    (folder / MANIFEST).write_text(json.dumps(asdict(data), indent=2) + "\n")
    return data


def table_file(folder: Path, table: str) -> Path:
    """The file with a table's rows, one a line, columns in the table's order."""
    return folder / f"{table}.tsv"


def _write(file: Path, rows: Iterable[Row]) -> int:
    count = 0
    with file.open("w", encoding="ascii", newline="\n", buffering=1 << 20) as out:
        for row in rows:
            out.write("\t".join(map(str, row)) + "\n")
            count += 1
    return count
