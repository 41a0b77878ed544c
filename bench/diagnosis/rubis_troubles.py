"""The troubles of RUBiS: nginx, PHP-FPM and PostgreSQL."""

from __future__ import annotations

import signal
import time

from access import Access
from trouble import (
    APP,
    DB,
    EVERYWHERE,
    HALF_S,
    SECONDS,
    WEB,
    Trouble,
    at,
    behind_a_report,
    pack_log,
)


def _vacuum(access: Access) -> None:
    access.psql(DB, "VACUUM FULL bids;")


def _reindex(access: Access) -> None:
    access.psql(DB, "REINDEX TABLE items;")


def _cluster(access: Access) -> None:
    access.psql(DB, "CLUSTER items USING items_pkey;")


def _rewrite(access: Access) -> None:
    """A column is made wider and narrower again: the table is written anew each time."""
    for kind in ("bigint", "integer"):
        access.psql(DB, f"ALTER TABLE users ALTER COLUMN rating TYPE {kind};")


def _migrate(access: Access) -> None:
    report = f"BEGIN; SELECT count(*) FROM items; SELECT pg_sleep({SECONDS}); COMMIT;"
    change = "ALTER TABLE items ALTER COLUMN description SET DEFAULT '';"
    behind_a_report(access.psql, report, change)


def _batch(access: Access) -> None:
    """A nightly correction of all items in one transaction."""
    correct = "UPDATE items SET nb_of_bids = nb_of_bids"
    access.psql(DB, f"BEGIN; {correct}; SELECT pg_sleep({HALF_S}); COMMIT;")


def _dump(access: Access) -> None:
    access.pg_dump(DB)


def _reload(access: Access) -> None:
    """PHP-FPM begins anew with its configuration, as after a deployment."""
    access.signal(access.pids(APP)[0], signal.SIGUSR2)
    time.sleep(SECONDS)


REWRITTEN = at("db", "lock", "disk", "checkpoint")
RUBIS = (
    Trouble("vacuum", DB, "VACUUM FULL of a table", REWRITTEN, _vacuum),
    Trouble("reindex", DB, "REINDEX of a table", REWRITTEN | at("db", "cpu"), _reindex),
    Trouble("cluster", DB, "CLUSTER of a table", REWRITTEN, _cluster),
    Trouble("rewrite", DB, "ALTER TABLE changes a column's type, twice", REWRITTEN, _rewrite),
    Trouble(
        "migration",
        DB,
        "ALTER TABLE waits for a report's transaction, and all others behind it",
        at("db", "lock"),
        _migrate,
    ),
    Trouble("batch", DB, "one transaction writes to every row of a table", REWRITTEN, _batch),
    Trouble("dump", DB, "pg_dump, packed", at("db", "cpu", "disk", "lock"), _dump),
    Trouble(
        "log-rotation",
        WEB,
        "the web server's logs are packed beside it",
        at("web", "cpu", "disk"),
        pack_log,
    ),
    Trouble("reload", APP, "PHP-FPM is reloaded", at("app", "restart"), _reload),
    *EVERYWHERE,
)
"""All of them."""
