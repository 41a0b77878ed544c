"""A made run's requests and visits: a closed loop of users, visits nested as on four tiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from made_shape import MS, SECOND, Ints, Shape, stall_left

from tierlab.tables.schemas import SCHEMAS

PAGES = ("ViewStory", "StoriesOfTheDay", "ViewComment", "Browse", "SearchInStories", "StoreComment")
PAGE_SHARES = (0.3, 0.22, 0.2, 0.08, 0.08, 0.12)
LABELS = {
    "http": "GET /rubbos/servlet/*",
    "ajp": "GET /rubbos/servlet/*",
    "mysql": "SELECT * FROM stories WHERE id = ?",
}
PAGE_STATEMENTS = (5, 4, 5, 0, 3, 4)


def write_load(
    folder: Path, shape: Shape, span: tuple[int, int], dice: np.random.Generator
) -> None:
    """Write requests and visits, some thousand users' lives at a time, so that memory stays small.

    Rows are in order within a part only, as those of several capture threads would be.
    """
    writers = {
        name: pq.ParquetWriter(folder / f"{name}.parquet", SCHEMAS[name], compression="zstd")
        for name in ("requests", "visits")
    }
    part, next_visit = max(1, 60_000 // max(1, shape.requests // shape.users)), 1
    for first in range(0, shape.users, part):
        users = np.arange(first, min(first + part, shape.users), dtype=np.int64)
        requests, visits = _lives(users, shape, span, next_visit, dice)
        next_visit += visits.num_rows
        writers["requests"].write_table(requests)
        writers["visits"].write_table(visits)
    for writer in writers.values():
        writer.close()


def _lives(
    users: Ints, shape: Shape, span: tuple[int, int], next_visit: int, dice: np.random.Generator
) -> tuple[pa.Table, pa.Table]:
    """Return the requests and visits of some users from the start of the trial to its end."""
    each = int(1.3 * (span[1] - span[0]) / SECOND / shape.think_s) + 12
    size = (len(users), each)
    page = dice.choice(len(PAGES), size=size, p=PAGE_SHARES)
    think = (dice.exponential(shape.think_s, size) * SECOND).astype(np.int64)
    statements = np.asarray(PAGE_STATEMENTS)[page]
    web = (dice.exponential(0.4, size) * MS + 0.1 * MS).astype(np.int64)
    app = (dice.exponential(1.2, size) * MS + 0.2 * MS).astype(np.int64)
    sql = (dice.exponential(0.5, (*size, max(PAGE_STATEMENTS))) * MS + 60_000).astype(np.int64)
    sql *= np.arange(max(PAGE_STATEMENTS)) < statements[..., None]
    network = (dice.exponential(0.05, size) * MS + 0.1 * MS).astype(np.int64)
    intended = np.zeros(size, dtype=np.int64)
    retried = np.zeros(size, dtype=bool)
    clock = span[0] + (dice.exponential(shape.think_s, len(users)) * SECOND).astype(np.int64)
    for step in range(each):  # a user's next request depends on the end of the one before
        intended[:, step] = clock
        stall = stall_left(clock, shape)
        sql[:, step, 0] += np.where(statements[:, step] > 0, stall, 0)
        retried[:, step] = (stall > 0) & (dice.random(len(users)) < 0.1)
        network[:, step] += np.where(retried[:, step], 2 * SECOND, 0)
        clock = clock + network[:, step] + web[:, step] + think[:, step]
        clock = clock + np.where(statements[:, step] > 0, app[:, step], 0) + sql[:, step].sum(1)
    dynamic = statements > 0
    stay = web + np.where(dynamic, app, 0) + sql.sum(2)
    keep = intended + network + stay < span[1]
    flat = {
        "user": np.broadcast_to(users[:, None], size)[keep],
        "page": page[keep],
        "intended": intended[keep],
        "network": network[keep],
        "stay": stay[keep],
        "web": web[keep],
        "app": app[keep],
        "sql": sql[keep],
        "retried": retried[keep],
        "dynamic": dynamic[keep],
        "statements": statements[keep],
    }
    return _requests(flat, dice), _visits(flat, shape, next_visit, dice)


def _requests(flat: dict[str, Any], dice: np.random.Generator) -> pa.Table:
    count = len(flat["user"])
    lag = (dice.exponential(0.1, count) * MS).astype(np.int64).clip(max=flat["network"] // 2)
    start = flat["intended"] + lag
    end = flat["intended"] + flat["network"] + flat["stay"]
    failed = dice.random(count) < 0.0005
    columns = {
        "user": flat["user"],
        "session": flat["user"] * 10,
        "interaction": pa.array(np.asarray(PAGES, dtype=object)[flat["page"]], pa.string()),
        "request_id": pa.nulls(count, pa.string()),
        "intended_ns": flat["intended"],
        "start_ns": start,
        "connected_ns": start + (flat["network"] - lag) // 2,
        "first_byte_ns": end,
        "end_ns": end,
        "status": np.where(failed, 500, 200),
        "bytes": dice.integers(2_000, 60_000, count),
        "error": pa.array(["status 500" if each else None for each in failed], pa.string()),
        "attempts": np.where(flat["retried"], 2, 1),
    }
    schema = SCHEMAS["requests"]
    cells = [pa.array(columns[n]) if n in columns else pa.nulls(count) for n in schema.names]
    return pa.table(cells, schema.names).cast(schema)


def _visits(
    flat: dict[str, Any], shape: Shape, next_visit: int, dice: np.random.Generator
) -> pa.Table:
    """Nest each request's visits: web, in it app, in it the statements one after another."""
    count, dynamic = len(flat["user"]), flat["dynamic"]
    web_id = next_visit + np.arange(count)
    web_in = flat["intended"] + flat["network"] // 2
    app_id = next_visit + count + np.arange(int(dynamic.sum()))
    app_in = web_in[dynamic] + flat["web"][dynamic] // 2
    app_stay = flat["app"][dynamic] + flat["sql"][dynamic].sum(1)
    sql = flat["sql"][dynamic]
    used = np.arange(sql.shape[1]) < flat["statements"][dynamic][:, None]
    begins = app_in[:, None] + flat["app"][dynamic][:, None] // 2 + np.cumsum(sql, 1) - sql
    lb_in, lb_stay = begins[used], sql[used]
    lb_id = next_visit + count + len(app_id) + np.arange(len(lb_in))
    parent_app = np.broadcast_to(app_id[:, None], sql.shape)[used]
    db_id = lb_id + len(lb_id)
    hop = np.minimum(40_000, lb_stay // 4)
    database = dice.integers(0, shape.databases, len(db_id))
    pieces = [
        _piece("web.1", "http", (web_id, web_in, flat["stay"]), None),
        _piece("app.1", "ajp", (app_id, app_in, app_stay), web_id[dynamic]),
        _piece("lb.1", "mysql", (lb_id, lb_in, lb_stay), parent_app),
    ]
    for n in range(shape.databases):
        mine = database == n
        stays = (db_id[mine], lb_in[mine] + hop[mine], lb_stay[mine] - 2 * hop[mine])
        pieces.append(_piece(f"db.{n + 1}", "mysql", stays, lb_id[mine]))
    return pa.concat_tables(pieces)


def _piece(
    server: str, protocol: str, stays: tuple[Ints, Ints, Ints], parent: Ints | None
) -> pa.Table:
    """Return one server's visits; ``stays`` are their ids, arrivals and lengths."""
    visit, arrival, stay = stays
    count = len(visit)
    linked = parent is not None
    columns: dict[str, Any] = {
        "visit": visit,
        "server": pa.repeat(server, count),
        "protocol": pa.repeat(protocol, count),
        "connection": visit % 1000,
        "arrival_ns": arrival,
        "request_end_ns": arrival + 1_000,
        "reply_start_ns": arrival + stay,
        "departure_ns": arrival + stay,
        "label": pa.repeat(LABELS[protocol], count),
        "status": pa.repeat(200, count),
        "bytes_in": pa.repeat(300, count),
        "bytes_out": pa.repeat(4_000, count),
        "parent": parent if linked else pa.nulls(count, pa.int64()),
        "link": pa.repeat("id", count) if linked else pa.nulls(count, pa.string()),
        "confidence": pa.repeat(1.0, count) if linked else pa.nulls(count, pa.float64()),
    }
    schema = SCHEMAS["visits"]
    cells = [
        pa.array(columns[each.name]) if each.name in columns else pa.nulls(count, each.type)
        for each in schema
    ]
    return pa.table(cells, schema.names).cast(schema)
