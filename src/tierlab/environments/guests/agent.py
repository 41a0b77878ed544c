"""Programs inside a guest, by the QEMU guest agent that is its only inhabitant at first.

Source: the agent's protocol, docs/interop/qemu-ga-ref.rst of QEMU: a line of JSON for a command,
one for its answer, over a virtio port whose other end is a UNIX socket of the hypervisor's.
"""

from __future__ import annotations

import base64
import json
import secrets
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierlab.environments.domain import Completed

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ANSWER_SECONDS = 20.0
LEAST_WAIT_SECONDS, MOST_WAIT_SECONDS = 0.005, 0.1
"""Between two looks at a command that runs: few for a long one, since looking costs the guest."""

_FLUSH = b"\xff"
"""Makes the agent forget half a command."""


class AgentSilentError(Exception):
    """The guest does not answer in time."""


class AgentGoneError(AgentSilentError):
    """Nor will it ever: its hypervisor has ended."""


@dataclass(frozen=True)
class Ended:
    """How a program ended: its status, negative for a signal, and what it said if it was kept."""

    status: int
    stdout: str
    stderr: str


class GuestAgent:
    """The agent of one guest. Threads may share it."""

    def __init__(self, path: Path) -> None:
        """`path`: the socket, at which the hypervisor listens."""
        self._link = _call(path)
        self._lock = threading.Lock()
        self._received = b""
        self._in_step = False
        """Whether the last command was answered: then there is no half a command."""

    def close(self) -> None:
        """Hang up."""
        self._link.close()

    def call_again(self, path: Path) -> None:
        """Talk to the same agent where its guest is now: programs that were started stay known."""
        with self._lock:
            self._link.close()
            self._link = _call(path)
            self._received, self._in_step = b"", False

    def answers(self, timeout: float) -> bool:
        """Whether the guest takes commands, at the latest after so many seconds."""
        try:
            self._ask("guest-ping", {}, timeout)
        except AgentSilentError:
            return False
        return True

    def start(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> int:
        """Start a program as root; its process id in the guest. What it says is kept."""
        words = [f"{name}={value}" for name, value in {"PATH": PATH, **(env or {})}.items()]
        program, *arguments = argv
        what = {"path": program, "arg": arguments, "env": words, "capture-output": True}
        return int(self._ask("guest-exec", what)["pid"])

    def ended(self, pid: int) -> Ended | None:
        """How a started program ended, asked at most once after its end; None while it runs."""
        found = self._ask("guest-exec-status", {"pid": pid})
        if not found["exited"]:
            return None
        status = -found["signal"] if "signal" in found else found.get("exitcode", 0)
        return Ended(status, _text(found.get("out-data")), _text(found.get("err-data")))

    def run(
        self, argv: Sequence[str], timeout: float, env: Mapping[str, str] | None = None
    ) -> Completed | None:
        """Run a program to its end; None if it has not ended after `timeout` seconds."""
        ended = self.wait(self.start(argv, env), timeout)
        return None if ended is None else Completed(ended.status, ended.stdout, ended.stderr)

    def wait(self, pid: int, timeout: float) -> Ended | None:
        """Wait for a started program's end; None if it still runs after `timeout` seconds."""
        deadline, pause = time.monotonic() + timeout, LEAST_WAIT_SECONDS
        while (ended := self.ended(pid)) is None:
            if time.monotonic() > deadline:
                return None
            time.sleep(pause)
            pause = min(2 * pause, MOST_WAIT_SECONDS)
        return ended

    def _ask(
        self, command: str, arguments: Mapping[str, Any], timeout: float = ANSWER_SECONDS
    ) -> Any:
        """The answer to a command; `RuntimeError` if the agent refuses it."""
        deadline, number = time.monotonic() + timeout, secrets.randbits(31)
        with self._lock:
            before = b"" if self._in_step else _FLUSH
            self._in_step = False
            self._send(before, {"execute": command, "arguments": arguments, "id": number})
            answer = self._answer(number, deadline)
            self._in_step = True
        if "return" not in answer:
            raise RuntimeError(f"{command}: {answer['error']['desc']}")
        return answer["return"]

    def _answer(self, number: int, deadline: float) -> dict[str, Any]:
        """The answer to a command, by its number; passes over what else is said.

        That may be answers to commands that were given up, complaints about half a command, or,
        on a console, what the guest's kernel says and echoes before the agent is there.
        """
        while True:
            try:
                found = json.loads(self._line(deadline))
            except ValueError:
                continue
            if isinstance(found, dict) and found.get("id") == number and "execute" not in found:
                return found

    def _send(self, before: bytes, words: Mapping[str, Any]) -> None:
        try:
            self._link.sendall(before + json.dumps(words).encode() + b"\n")
        except OSError as error:
            raise AgentGoneError(f"it hung up ({error.strerror})") from error

    def _line(self, deadline: float) -> bytes:
        while b"\n" not in self._received:
            self._link.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                more = self._link.recv(1 << 16)
            except TimeoutError as error:
                raise AgentSilentError("no answer in time") from error
            except OSError as error:
                raise AgentGoneError(f"it hung up ({error.strerror})") from error
            if not more:
                raise AgentGoneError("it hung up")
            self._received += more
        line, _, self._received = self._received.partition(b"\n")
        return line


def _call(path: Path) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(str(path))
    return link


def _text(encoded: str | None) -> str:
    return base64.b64decode(encoded or "").decode(errors="replace")
