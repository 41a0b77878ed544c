"""What QEMU is told, and asked, while it runs a machine.

Source: QEMU's docs/interop/qmp-spec.rst: a line of JSON for a command, one for its answer, and
lines for what happens in between.
"""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any, Self

from tierlab.environments.process import POLL_SECONDS

LISTEN_SECONDS = 20.0
"""Until QEMU, which was just started, listens."""
ANSWER_SECONDS = 60.0
"""For an emulated machine on a busy host."""


class MonitorError(Exception):
    """QEMU refuses a command, or is gone."""


class Monitor:
    """A connection to the monitor of one machine; `path` is the socket at which QEMU listens."""

    def __init__(self, path: Path) -> None:
        self._link = _call(path)
        self._lines = self._link.makefile("rb")
        try:
            self._read()  # it greets
            self.ask("qmp_capabilities")
        except (OSError, MonitorError) as error:
            self.close()
            raise MonitorError(f"its monitor does not answer ({error})") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._lines.close()
        self._link.close()

    def ask(self, command: str, **arguments: Any) -> Any:
        """The answer to a command; `MonitorError` if there is none."""
        words = {"execute": command, "arguments": arguments}
        try:
            self._link.sendall(json.dumps(words).encode() + b"\n")
            while "event" in (answer := self._read()):
                continue
        except (OSError, ValueError) as error:
            raise MonitorError(f"'{command}' is not answered ({error})") from error
        if "return" not in answer:
            raise MonitorError(f"'{command}' is refused ({answer['error']['desc']})")
        return answer["return"]

    def wait_migrated(self, seconds: float) -> None:
        """Wait for the end of a migration, to or from a file; `MonitorError` if it fails."""
        deadline = time.monotonic() + seconds
        while (found := self.ask("query-migrate")).get("status") != "completed":
            if found.get("status") in ("failed", "cancelled") or time.monotonic() > deadline:
                raise MonitorError(f"its state is not carried: {found}")
            time.sleep(POLL_SECONDS)

    def _read(self) -> dict[str, Any]:
        line = self._lines.readline()
        if not line:
            raise ConnectionResetError("it hung up")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _call(path: Path) -> socket.socket:
    deadline = time.monotonic() + LISTEN_SECONDS
    while True:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.connect(str(path))
        except OSError as error:
            link.close()
            if time.monotonic() > deadline:
                raise MonitorError(f"it does not listen ({error.strerror})") from error
            time.sleep(POLL_SECONDS)
        else:
            link.settimeout(ANSWER_SECONDS)
            return link
