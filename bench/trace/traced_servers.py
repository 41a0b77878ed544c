"""Servers in a network namespace, and the agent's capture beside them."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.environments.process import Process
from tierlab.observe.agent import Verb

READY_S = 20.0


class TracedServers:
    """A namespace of its own, and what the agent is told of the servers in it."""

    def __init__(self, trial: str, servers: Sequence[Mapping[str, Any]], folder: Path) -> None:
        self.servers = servers
        self.folder = folder
        self.native = Native(Ledger(trial))

    def stop(self) -> None:
        """End what was started and remove the namespace."""
        self.native.destroy()

    @contextmanager
    def capturing(
        self, name: str, *, messages: bool = False, threads: int = 1
    ) -> Iterator[dict[str, Any]]:
        """Capture into a new folder of this name; what the agent says at its end is filled in."""
        plan = {
            "interface": "lo",
            "servers": self.servers,
            "messages": messages,
            "threads": threads,
        }
        with self.running("capture", plan, name) as summary:
            yield summary

    @contextmanager
    def running(
        self, name_of_verb: str, plan: Mapping[str, Any], name: str
    ) -> Iterator[dict[str, Any]]:
        """Have the agent at work, into a new folder of this name; its last words are filled in."""
        out = self.folder / name
        out.mkdir()
        verb = Verb(name_of_verb, plan, out, out, self.spawn)
        deadline = time.monotonic() + READY_S
        while not verb.ready_line:
            assert time.monotonic() < deadline, verb.log.read_text()
            time.sleep(0.01)
        summary: dict[str, Any] = {}
        try:
            yield summary
        finally:
            verb.process.stop(READY_S)
        deadline = time.monotonic() + READY_S
        while verb.summary is None:
            assert time.monotonic() < deadline, verb.log.read_text()
            time.sleep(0.01)
        summary.update(verb.summary)

    @contextmanager
    def dumped(self, name: str) -> Iterator[Path]:
        """Run tcpdump on the servers' ports while the block runs; it must miss nothing."""
        path = self.folder / f"{name}.pcap"
        wanted = " or ".join(f"tcp port {server['port']}" for server in self.servers)
        command = ["tcpdump", "-i", "lo", "-Q", "in", "-s", "0", "-B", "524288", "-Z", "root"]
        command += ["--time-stamp-precision=nano", "-w", str(path), wanted]
        # Its own: in that of an earlier one, all that is waited and looked for would be there.
        log = self.folder / f"{name}.log"
        process = self.spawn(command, log)
        deadline = time.monotonic() + 20
        while not log.exists() or "listening" not in log.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        try:
            yield path
            time.sleep(1.5)  # libpcap hands packets over once a second
        finally:
            process.stop(10, signal.SIGINT)
        assert "0 packets dropped by kernel" in log.read_text()

    def run(self, command: Sequence[str], timeout: float = 120) -> str:
        """Run a program in the namespace to its end; returns what it said."""
        log = self.folder / "program.log"
        process = self.spawn(command, log)
        assert process.stdout is not None
        said = process.stdout.read().decode()
        assert process.wait(timeout) == 0, log.read_text()
        return said

    def spawn(self, argv: Sequence[str], log: Path) -> Process:
        """Start a program in the namespace."""
        return self.native.spawn(argv, log=log)
