"""Real troubles that no class of disturbance makes: what administrators and their tools do.

Each is done to RUBBoS' own servers while users come. Some of them are at bottom something that the
catalogue knows (a dump holds locks), and such an answer is right; for the others ``unknown`` is.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from access import Access

WEB, APP, DB = "web.1", "app.1", "db.1"
SECONDS = 1.0
"""How long a trouble lasts that does not end by itself."""


@dataclass(frozen=True)
class Trouble:
    """``answers`` are the causes, each at a tier, that truly describe it, besides ``unknown``."""

    name: str
    server: str
    words: str
    answers: frozenset[tuple[str, str]]
    make: Callable[[Access], None]


def _rebuild(access: Access) -> None:
    access.sql(DB, "ALTER TABLE comments ENGINE=InnoDB, ALGORITHM=COPY")


def _dump(access: Access) -> None:
    access.dump(DB)


def _report(access: Access) -> None:
    """Three reports at once that no index serves, as an analyst's."""
    query = "SELECT count(*) FROM comments a, (SELECT 1 UNION SELECT 2 UNION SELECT 3) b"
    query += " WHERE sha2(concat(a.comment, b.1), 512) LIKE '%beef'"
    with ThreadPoolExecutor(3) as analysts:
        list(analysts.map(lambda _: access.sql(DB, query), range(3)))


def _analyze(access: Access) -> None:
    access.sql(DB, "ANALYZE TABLE comments PERSISTENT FOR ALL; CHECK TABLE comments EXTENDED")


def _trace(access: Access) -> None:
    """Attach strace to all threads of the database."""
    pid = f"{access.pids(DB)[0]}"
    access.run(DB, "timeout", f"{SECONDS}", "strace", "-f", "-o", "/dev/null", "-p", pid)


def _rotate(access: Access) -> None:
    """Pack a log of 40 MB beside the server, as logrotate without ``delaycompress`` does, and tell
    it to open a new one.
    """
    log = "head -c 30000000 /dev/urandom | base64"
    access.run(WEB, "sh", "-c", f"mkdir -p tmp; {log} | gzip -9 > tmp/log.gz; rm tmp/log.gz")
    _reload(access)


def _reload(access: Access) -> None:
    """httpd ends its workers once they are idle and starts new ones."""
    access.signal(access.pids(WEB)[0], signal.SIGUSR1)
    time.sleep(SECONDS)


def _cron(access: Access) -> None:
    """A job of many short programs."""
    job = "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i+1)); done"
    access.run(APP, "sh", "-c", f"for n in 1 2 3 4 5 6 7 8; do sh -c '{job}' & done; wait")


def _heap_dump(access: Access) -> None:
    """Write the application's heap to a file, as one does when memory leaks."""
    pid, file = access.pids(APP)[-1], access.folder(APP) / "tmp" / "heap.hprof"
    servers_user = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
    access.run(APP, *servers_user, "jcmd", f"{pid}", "GC.heap_dump", f"{file}")
    file.unlink()


def _firewall(access: Access) -> None:
    """A firewall that drops everything until all of its rules are there again."""
    rule = f"INPUT -d {access.address(DB)} -p tcp -j DROP"
    again = f"iptables -A {rule}; sleep {SECONDS}; iptables -D {rule}"
    access.run(DB, "sh", "-c", again)


RESTARTED = frozenset({("restart", "web")})
TROUBLES = (
    Trouble(
        "rebuild",
        DB,
        "a table is rebuilt by ALTER TABLE",
        frozenset({("lock", "db"), ("disk", "db"), ("checkpoint", "db")}),
        _rebuild,
    ),
    Trouble(
        "dump",
        DB,
        "all tables are dumped, under mariadb-dump's own locks",
        frozenset({("lock", "db"), ("cpu", "db"), ("disk", "db")}),
        _dump,
    ),
    Trouble(
        "reports",
        DB,
        "three reports at once that no index serves",
        frozenset({("cpu", "db"), ("overload", "db")}),
        _report,
    ),
    Trouble(
        "analyze",
        DB,
        "a table's statistics are made anew and its pages checked",
        frozenset({("cpu", "db"), ("overload", "db"), ("disk", "db"), ("lock", "db")}),
        _analyze,
    ),
    Trouble(
        "strace",
        DB,
        "strace is attached to the database's threads",
        frozenset({("freeze", "db"), ("cpu", "db")}),
        _trace,
    ),
    Trouble(
        "log-rotation",
        WEB,
        "the web server's logs are packed beside it, and it is told",
        frozenset({("cpu", "web"), ("disk", "web"), ("restart", "web")}),
        _rotate,
    ),
    Trouble("reload", WEB, "httpd is reloaded gracefully", RESTARTED, _reload),
    Trouble(
        "cron",
        APP,
        "a job forks 3,200 short programs in the application's domain",
        frozenset({("cpu", "app")}),
        _cron,
    ),
    Trouble(
        "heap-dump",
        APP,
        "the application's heap is written to a file",
        frozenset({("gc", "app")}),
        _heap_dump,
    ),
    Trouble(
        "firewall",
        DB,
        "the database's firewall drops all packets for a second",
        frozenset({("loss", "db")}),
        _firewall,
    ),
)
"""All of them."""
