"""Parts of visits for a run folder that has none, as a tracer of system calls would leave them.

``calls_ns`` is the time that a visit's children cover. The rest is divided by shares that suit the
server's place: queued and locks where it is long, so that slow visits differ from usual ones.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tierlab.analysis.queues.waits import PARTS
from tierlab.tables.schemas import TABLES

USUAL = {"cpu": 6.0, "runnable": 1.5, "lock": 0.8, "disk": 0.6, "other": 0.5, "connecting": 0.2}
SLOW = {"queued": 5.0, "lock": 3.0, "runnable": 2.0, "throttled": 1.0, "disk": 1.0, "stopped": 0.5}
"""Shares of a visit's own time: of what is usual for its server, and of what is beyond that."""


def add(
    folder: Path, servers: Collection[str] | None = None, share: float = 1.0, seed: int = 1
) -> None:
    """Give a ``share`` of the visits of these ``servers`` (None: of all) their parts, and their
    children a link by thread.
    """
    path = folder / "visits.parquet"
    old = pq.read_table(path)
    visits = {name: old[name].to_numpy(zero_copy_only=False) for name in ("visit", "server")}
    took = duckdb.sql("SELECT coalesce(departure_ns - arrival_ns, -1) AS took FROM old")
    took_ns = took.fetchnumpy()["took"].astype(np.int64)
    dice = np.random.default_rng(seed)
    has = (took_ns >= 0) & (dice.random(took_ns.size) < share)
    if servers is not None:
        has &= np.isin(visits["server"].astype(str), list(servers))
    parts = _parts(took_ns, np.minimum(_covered(old), took_ns), visits["server"].astype(str), dice)
    columns = {
        "process": np.full(took_ns.size, 4000),
        "thread": 4001 + visits["visit"] % 64,
        **{f"{name}_ns": parts[name] for name in PARTS},
    }
    columns["other_call"] = np.where(dice.random(took_ns.size) < 0.8, "epoll_wait", "nanosleep")
    parent = np.isin(old["parent"].to_pandas().fillna(-1).to_numpy(), visits["visit"][has])
    link = np.where(parent, "thread", old["link"].to_pandas().to_numpy())
    cells = []
    for field in TABLES["visits"]:
        if field.name in columns:
            cells.append(pa.array(columns[field.name], field.type, mask=~has))
        elif field.name == "link":
            cells.append(pa.array(link, field.type, from_pandas=True))
        else:
            cells.append(old[field.name].cast(field.type))
    pq.write_table(pa.table(cells, schema=TABLES["visits"]), path, row_group_size=100_000)


def _covered(old: pa.Table) -> np.ndarray:
    """How long each visit had a child, as far as that lies in it; children come one by one."""
    assert old is not None  # DuckDB finds the table by its name
    found = duckdb.sql(
        """SELECT coalesce(sum(greatest(0, least(child.departure_ns, old.departure_ns)
            - greatest(child.arrival_ns, old.arrival_ns)))
            FILTER (WHERE child.departure_ns IS NOT NULL), 0)::BIGINT AS covered
        FROM (SELECT *, row_number() OVER () AS place FROM old) AS old
        LEFT JOIN old AS child ON child.parent = old.visit GROUP BY place ORDER BY place"""
    )
    return found.fetchnumpy()["covered"].astype(np.int64)


def _parts(
    took_ns: np.ndarray, calls_ns: np.ndarray, server: np.ndarray, dice: np.random.Generator
) -> dict[str, np.ndarray]:
    own_ns = np.maximum(took_ns - calls_ns, 0)
    usual_ns = np.zeros_like(own_ns)
    for name in np.unique(server):
        mine = server == name
        usual_ns[mine] = np.minimum(own_ns[mine], 2 * int(np.median(own_ns[mine])))
    parts = {name: np.zeros_like(own_ns) for name in PARTS} | {"calls": calls_ns}
    for total_ns, weights in ((usual_ns, USUAL), (own_ns - usual_ns, SLOW)):
        drawn = np.array([dice.gamma(2.0, each, own_ns.size) for each in weights.values()])
        drawn /= drawn.sum(axis=0) * 1.03
        for name, each in zip(weights, drawn, strict=True):
            parts[name] = parts[name] + (total_ns * each).astype(np.int64)
    parts["sending"] = took_ns - sum(parts[name] for name in PARTS if name != "sending")
    return parts
