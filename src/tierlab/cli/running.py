"""What ``tierlab init --own --running`` sees of a server that runs already, and of those behind."""

from __future__ import annotations

import http.client
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

from tierlab.environments.launching import launch_agent
from tierlab.environments.ledger import Ledger
from tierlab.errors import UserError
from tierlab.observe.calls import CallObserver
from tierlab.observe.followed import Followed, Front, followed, front
from tierlab.observe.followed_sockets import socket_calls
from tierlab.observe.unix_calls import UnixCallWatcher

SECONDS = 2.0
"""How long it is looked."""
PAUSE_S = 0.05
TIMEOUT_S = 5.0
UNIX_INTERVAL_S = 0.01
UNIX_SHARE = 0.7
"""How often it is looked at connections to UNIX sockets, which may be over at once."""


def look(where: str, page: str, say: Callable[[str], None]) -> Followed:
    """Ask the server for a page again and again, and see whom it calls meanwhile; what could not be
    looked at is said.

    Raises :class:`UserError` where nobody listens, or one may not look.
    """
    begin = front(where)
    if begin is None:
        raise UserError(
            f"--running {where}: no server listens there; say a port of this host, an address and"
            " a port as in 127.0.0.1:8080, or a process as in pid:1234 (as root: others' processes"
            " are not told)."
        )
    ledger = Ledger(f"init-{os.getpid()}")
    try:
        with tempfile.TemporaryDirectory(prefix="tierlab-init-") as folder:
            place = Path(folder)
            observer = CallObserver(place, place, partial(launch_agent, ledger))
            watcher = UnixCallWatcher(_each_process, UNIX_INTERVAL_S, UNIX_SHARE)
            observer.start()
            watcher.start()
            try:
                if observer.not_seen is None:
                    _ask(begin, page, time.monotonic() + SECONDS)
            finally:
                at_sockets = watcher.stop()
                calls = observer.stop()
    finally:
        ledger.close()
    if observer.not_seen is not None:
        raise UserError(f"--running {where}: who calls whom cannot be seen: {observer.not_seen}")
    if observer.left_out is not None:
        say(f"Of calls was not looked at: {observer.left_out}.")
    if watcher.not_seen is not None:
        say(f"Calls at UNIX sockets were not looked at: {watcher.not_seen}.")
        return followed(calls, begin)
    return followed(calls, begin, socket_calls(at_sockets))


def _each_process() -> dict[str, list[int]]:
    return {str(pid): [pid] for pid in psutil.pids() if pid != os.getpid()}


def _ask(begin: Front, page: str, end: float) -> None:
    answered = False
    while time.monotonic() < end:
        connection = http.client.HTTPConnection(begin.address, begin.port, timeout=TIMEOUT_S)
        with suppress(OSError, http.client.HTTPException):
            connection.request("GET", page, headers={"Connection": "close"})
            connection.getresponse().read()
            answered = True
        connection.close()
        time.sleep(PAUSE_S)
    if not answered:
        raise UserError(
            f"http://{begin.address}:{begin.port}{page}: gives no answer by HTTP; say another"
            " server with --running, or another page with --start."
        )
