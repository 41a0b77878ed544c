"""Makes a data set with tpchgen-cli, which writes the same bytes as the specification's dbgen."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from datetime import date
from pathlib import Path
from typing import IO

from tierlab.errors import UserError
from tierlab.workloads.dialect.files import DataSet, table_file, write_manifest
from tierlab.workloads.tpch.schema import TABLES

PROGRAM = "tpchgen-cli"
PIECE = 1 << 20


def generator() -> str:
    """Where the program is: beside this Python's own, or on PATH; `UserError` if it is missing."""
    found = shutil.which(PROGRAM, path=sysconfig.get_path("scripts")) or shutil.which(PROGRAM)
    if found is None:
        raise UserError(
            f"the program '{PROGRAM}' is missing; install with 'pip install {PROGRAM}'."
        )
    return found


def generate(folder: Path, *, scale: float, load_day: date) -> DataSet:
    """Write the data set's files into a folder. All of it follows from the scale, the dates too:
    `load_day` is only noted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = {
        table.name: _write(table.name, table_file(folder, table.name), scale) for table in TABLES
    }
    return write_manifest(folder, DataSet(0, scale, load_day.isoformat(), rows))


def _write(table: str, file: Path, scale: float) -> int:
    """Write a table's rows; return how many there are."""
    command = [generator(), "tbl", "--stdout", "--quiet", "-s", f"{scale:f}", "-T", table]
    with file.open("wb") as out, subprocess.Popen(command, stdout=subprocess.PIPE) as made:
        assert made.stdout is not None
        rows = _converted(made.stdout, out)
    if made.returncode != 0:
        raise UserError(f"'{PROGRAM}' failed with status {made.returncode} at table {table}.")
    return rows


def _converted(source: IO[bytes], target: IO[bytes]) -> int:
    """From fields that each end with a bar, to fields with tabs between them; no value has either.

    Returns the number of lines.
    """
    rows, rest = 0, b""
    while piece := source.read(PIECE):
        # A bar at the end may be a line's last: it waits for what follows.
        piece = rest + piece
        rest = piece[-1:] if piece.endswith(b"|") else b""
        piece = piece[: len(piece) - len(rest)]
        rows += piece.count(b"\n")
        target.write(piece.replace(b"|\n", b"\n").replace(b"|", b"\t"))
    return rows
