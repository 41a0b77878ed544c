"""What a trouble is that no class of disturbance makes, and those that any system can have.

Each is done to a system's own servers while users come, as administrators and their tools do. Some
are at bottom something that the catalogue knows (a dump holds locks), and such an answer is right;
for the others ``unknown`` is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from access import Access
from device import USERS

WEB, APP, DB = "web.1", "app.1", "db.1"
SECONDS = 1.0
"""How long a trouble lasts that does not end by itself."""

HALF_S = SECONDS / 2

LOOPS, PROGRAMS = 16, 400


@dataclass(frozen=True)
class Trouble:
    """``answers`` are the causes, each at a tier, that truly describe it, besides ``unknown``.
    ``writes`` says that it keeps the disk busy although none of them does.
    """

    name: str
    server: str
    words: str
    answers: frozenset[tuple[str, str]]
    make: Callable[[Access], None]
    writes: bool = False

    @property
    def uses_disk(self) -> bool:
        """Whether a disk that is slow meanwhile may be so by its doing."""
        return self.writes or any(cause in USERS for cause, _tier in self.answers)


def at(tier: str, *causes: str) -> frozenset[tuple[str, str]]:
    """Return these causes, each at that tier."""
    return frozenset((cause, tier) for cause in causes)


def pack_log(access: Access) -> None:
    """Pack a log of 40 MB beside the web server, as logrotate without ``delaycompress`` does."""
    log = "head -c 30000000 /dev/urandom | base64"
    access.run(WEB, "sh", "-c", f"mkdir -p tmp; {log} | gzip -9 > tmp/log.gz; rm tmp/log.gz")


def behind_a_report(ask: Callable[[str, str], None], report: str, change: str) -> None:
    """Make a change of a table that would take no time: it waits for a report's transaction, and
    everybody behind it. ``ask`` has a server run statements.
    """
    with ThreadPoolExecutor(1) as analyst:
        reported = analyst.submit(ask, DB, report)
        time.sleep(HALF_S)
        ask(DB, change)
        reported.result()


def _trace(access: Access) -> None:
    """Attach strace to all processes of the web server."""
    pids = [word for pid in access.pids(WEB) for word in ("-p", f"{pid}")]
    access.run(WEB, "timeout", f"{SECONDS}", "strace", "-f", "-tt", "-o", "/dev/null", *pids)


def _cron(access: Access) -> None:
    """A job of many short programs."""
    job = f"i=0; while [ $i -lt {PROGRAMS} ]; do /bin/true; i=$((i+1)); done"
    loops = " ".join(map(str, range(LOOPS)))
    access.run(APP, "sh", "-c", f"for n in {loops}; do sh -c '{job}' & done; wait")


def _firewall(server: str) -> Callable[[Access], None]:
    """A firewall that drops everything until all of its rules are there again."""

    def make(access: Access) -> None:
        rule = f"INPUT -d {access.address(server)} -p tcp -j DROP"
        again = f"iptables -A {rule}; sleep {SECONDS}; iptables -D {rule}"
        access.run(server, "sh", "-c", again)

    return make


EVERYWHERE = (
    Trouble(
        "strace",
        WEB,
        "strace is attached to the web server's processes",
        at("web", "freeze", "cpu"),
        _trace,
    ),
    Trouble(
        "cron",
        APP,
        f"a job forks {LOOPS * PROGRAMS:,} short programs in the application's domain",
        at("app", "cpu"),
        _cron,
    ),
    *(
        Trouble(
            f"firewall-{server.partition('.')[0]}",
            server,
            f"the firewall of {server} drops all packets to it for a second",
            at(server.partition(".")[0], "loss"),
            _firewall(server),
        )
        for server in (APP, DB)
    ),
)
"""Those of any system with these servers."""
