"""The same run as a coarser observation would have seen it: longer ticks, or no messages."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from tierlab.tables.schemas import SCHEMAS

LEVELS = {
    "memory": {"total", "free", "available", "cached", "anonymous", "dirty", "writeback"}
    | {"swap_used"},
    "disk": {"in_flight"},
    "tcp": {"established"},
    "listen": {"accept_queue", "backlog"},
    "process": {"resident", "threads"},
    "domain": {"memory", "memory_limit", "processes", "weight"},
    "net": {"backlog"},
    "soft": {"in_use", "waiting", "limit"},
    "database": {"threads_connected", "threads_running", "idle_in_transaction"}
    | {"row_lock_waiting", "table_lock_waiting", "checkpoints_running", "vacuums_running"}
    | {"checkpoint_age"}
    | {"pending_fsyncs", "pending_reads", "pending_writes"},
}
"""What is read at a tick's end: a longer tick keeps the last value."""

SHARES = {
    "cpu": {"busy", "user", "system", "iowait", "irq", "steal"},
    "disk": {"busy", "queue_length"},
    "pressure": {"some", "full"},
}
"""What holds over a tick: a longer one has the mean. All else is a sum."""

TICKED = [name for name, schema in SCHEMAS.items() if "dt_ns" in schema.names]


def coarser(run: Path, target: Path, tick_ns: int) -> Path:
    """Copy a run with its sampled tables joined to ticks of ``tick_ns``."""
    shutil.copytree(run, target)
    for name in TICKED:
        file = target / f"{name}.parquet"
        if file.exists():
            _join(file, name, tick_ns)
    return target


def without_messages(run: Path, target: Path) -> Path:
    """Copy a run as if no message had been captured."""
    shutil.copytree(run, target, ignore=shutil.ignore_patterns("visits.parquet"))
    return target


def _join(file: Path, name: str, tick_ns: int) -> None:
    schema = SCHEMAS[name]
    keys, values = ["subject"], []
    for column in schema:
        quoted = f'"{column.name}"'
        if column.name in ("t_ns", "dt_ns", "subject"):
            continue
        if column.type in ("string",) or column.name in ("process", "thread", "port"):
            if column.name in ("name", "state"):
                values.append(f"last({quoted} ORDER BY t_ns) AS {quoted}")
            else:
                keys.append(quoted)
        elif column.name in LEVELS.get(name, set()):
            values.append(f"last({quoted} ORDER BY t_ns) AS {quoted}")
        elif column.name in SHARES.get(name, set()):
            values.append(f"sum({quoted} * dt_ns) / sum(dt_ns) AS {quoted}")
        else:
            values.append(f"sum({quoted})::BIGINT AS {quoted}")
    part = file.with_suffix(".part")
    names = ", ".join(f'"{column.name}"' for column in schema)
    group = ", ".join(keys)
    duckdb.execute(
        f"""COPY (SELECT {names} FROM (
            SELECT max(t_ns) AS t_ns, sum(dt_ns)::BIGINT AS dt_ns, {", ".join([*keys, *values])}
            FROM read_parquet('{file}') GROUP BY {group}, t_ns // {tick_ns}
        ) ORDER BY t_ns) TO '{part}' (FORMAT parquet)"""
    )
    part.replace(file)
