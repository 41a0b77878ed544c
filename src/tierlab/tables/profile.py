"""Adding a profile to a run folder that has its tables already."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from tierlab.errors import UserError
from tierlab.tables.folder import RunFolder
from tierlab.tables.streams import Stream, convert_all

WHOLE = """(dt_ns > 0 AND "binary" IS NULL AND source <> 'simulated')"""
"""A row of `counters`, as SQL: all that one domain had of an event on one PU in a tick. Others say
in which program it was, too; where an event has both, they are the same events."""

_KEPT = f"""FROM read_parquet('{{counters}}') WHERE {WHOLE}
    OR (domain, event, source) NOT IN (SELECT (domain, event, source) FROM new)"""
_KEPT_STACKS = f"FROM read_parquet('{{stacks}}') SEMI JOIN ({_KEPT}) USING (stack)"


def next_stack(folder: Path) -> int:
    """The first number that no stack of the folder has."""
    file = folder / "stacks.parquet"
    if not file.exists():
        return 0
    ((last,),) = duckdb.execute("SELECT max(stack) FROM read_parquet(?)", [str(file)]).fetchall()
    return 0 if last is None else int(last) + 1


def add_profile(streams: Path, folder: Path, host: str | None) -> None:
    """Add `counters.arrows` and `stacks.arrows` in a folder of streams to a run folder's tables.

    What these have of the same events in the same domains from the same source is replaced: to
    import a file again changes nothing. Raises :class:`UserError` when they cannot be written.
    """
    try:
        _keep_others(streams, folder)
        convert_all(streams, folder, host)
        RunFolder(folder).forget_figures()
    except (OSError, duckdb.Error) as error:
        first = str(error).splitlines()[0]
        raise UserError(
            f"{folder} cannot take the profile ({first}): make room, or mend its tables."
        ) from error


def _keep_others(streams: Path, folder: Path) -> None:
    """Write what stays of the folder's tables as streams beside the new ones."""
    counters, stacks = folder / "counters.parquet", folder / "stacks.parquet"
    if not counters.exists():
        return
    new = pa.Table.from_batches(Stream(streams / "counters.arrows").batches())
    with duckdb.connect() as db:
        db.register("new", new.select(["domain", "event", "source"]))
        _copy(db, _KEPT.format(counters=_quoted(counters)), streams / "kept.counters.arrows")
        if stacks.exists():
            kept = _KEPT_STACKS.format(stacks=_quoted(stacks), counters=_quoted(counters))
            _copy(db, kept, streams / "kept.stacks.arrows")


def _copy(db: duckdb.DuckDBPyConnection, query: str, target: Path) -> None:
    rows = db.sql(query).to_arrow_reader(100_000)
    with pa.OSFile(str(target), "wb") as file, pa.ipc.new_stream(file, rows.schema) as stream:
        for batch in rows:
            stream.write_batch(batch)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
