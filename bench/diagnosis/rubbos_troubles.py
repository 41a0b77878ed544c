"""The troubles of RUBBoS: httpd, Tomcat and MariaDB."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor

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

ANALYSTS = 12


def _rebuild(access: Access) -> None:
    access.mariadb(DB, "ALTER TABLE comments ENGINE=InnoDB, ALGORITHM=COPY")


def _dump(access: Access) -> None:
    access.mariadb_dump(DB)


def _reports(access: Access) -> None:
    """All reports of a dashboard at once, which no index serves."""
    query = "SELECT count(*) FROM comments a, (SELECT 1 UNION SELECT 2 UNION SELECT 3) b"
    query += " WHERE sha2(concat(a.comment, b.1), 512) LIKE '%beef'"
    with ThreadPoolExecutor(ANALYSTS) as analysts:
        list(analysts.map(lambda _: access.mariadb(DB, query), range(ANALYSTS)))


def _index(access: Access) -> None:
    """A full-text index, which cannot be made while others write."""
    access.mariadb(DB, "ALTER TABLE comments ADD FULLTEXT INDEX words (comment)")
    access.mariadb(DB, "ALTER TABLE comments DROP INDEX words")


def _migrate(access: Access) -> None:
    report = f"START TRANSACTION; SELECT count(*) FROM comments; SELECT SLEEP({SECONDS}); COMMIT"
    behind_a_report(access.mariadb, report, "ALTER TABLE comments COMMENT = 'reviewed'")


def _snapshot(access: Access) -> None:
    """What is done while a snapshot of the volume is taken."""
    hold = f"FLUSH TABLES WITH READ LOCK; SELECT SLEEP({SECONDS}); UNLOCK TABLES"
    access.mariadb(DB, hold)


def _batch(access: Access) -> None:
    """A nightly correction of all comments in one transaction."""
    correct = "UPDATE comments SET rating = rating"
    access.mariadb(DB, f"START TRANSACTION; {correct}; SELECT SLEEP({HALF_S}); COMMIT")


def _rotate(access: Access) -> None:
    """The web server is told to open a new log once the old one is packed."""
    pack_log(access)
    _reload(access)


def _reload(access: Access) -> None:
    """httpd ends its workers once they are idle and starts new ones."""
    access.signal(access.pids(WEB)[0], signal.SIGUSR1)
    time.sleep(SECONDS)


def _heap_dump(access: Access) -> None:
    """Write the application's heap to a file, as one does when memory leaks."""
    pid, file = access.pids(APP)[-1], access.folder(APP) / "tmp" / "heap.hprof"
    servers_user = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
    access.run(APP, *servers_user, "jcmd", f"{pid}", "GC.heap_dump", f"{file}")
    file.unlink()


RUBBOS = (
    Trouble(
        "rebuild",
        DB,
        "a table is rebuilt by ALTER TABLE",
        at("db", "lock", "disk", "checkpoint"),
        _rebuild,
    ),
    Trouble(
        "dump",
        DB,
        "all tables are dumped, under mariadb-dump's own locks",
        at("db", "lock", "cpu", "disk"),
        _dump,
    ),
    Trouble(
        "reports",
        DB,
        f"{ANALYSTS} reports at once that no index serves",
        at("db", "cpu", "overload"),
        _reports,
    ),
    Trouble(
        "index",
        DB,
        "a full-text index is made and taken away",
        at("db", "lock", "cpu", "overload", "disk", "checkpoint"),
        _index,
    ),
    Trouble(
        "migration",
        DB,
        "ALTER TABLE waits for a report's transaction, and all others behind it",
        at("db", "lock"),
        _migrate,
    ),
    Trouble(
        "snapshot",
        DB,
        "FLUSH TABLES WITH READ LOCK for a second, as for a snapshot",
        at("db", "lock"),
        _snapshot,
    ),
    Trouble(
        "batch",
        DB,
        "one transaction writes to every row of a table",
        at("db", "lock", "disk", "checkpoint"),
        _batch,
    ),
    Trouble(
        "log-rotation",
        WEB,
        "the web server's logs are packed beside it, and it is told",
        at("web", "cpu", "disk", "restart"),
        _rotate,
    ),
    Trouble("reload", WEB, "httpd is reloaded gracefully", at("web", "restart"), _reload),
    Trouble(
        "heap-dump",
        APP,
        "the application's heap is written to a file",
        at("app", "gc"),
        _heap_dump,
        writes=True,
    ),
    *EVERYWHERE,
)
"""All of them."""
