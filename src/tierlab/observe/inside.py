"""Watching from inside the domains that have a kernel of their own.

The same samplers run there as on the host, started through the domain; their tables stay in its
folder until the trial's end. Each domain's clock is read before and after, by an agent that tells
it over the trial's network, so that its tables can be put on the host's time axis.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tierlab.deploy.system import Subject
from tierlab.environments.domain import Domain, Inside
from tierlab.environments.environment import Environment
from tierlab.environments.process import Process
from tierlab.errors import UserError
from tierlab.observe import agent
from tierlab.observe.clock_reading import PORT, read_clock
from tierlab.tables.clock import ClockReading
from tierlab.tables.folder import RunFolder

READY_S = 15.0
POLL_S = 0.05
STOP_S = 10.0
CONNECT_S = 1.0

HOME = "agent"
"""The agent's folder in the domain's."""
PROGRAM, STREAMS = f"{HOME}/tierlab-agent", f"{HOME}/streams"


class _Agent:
    """A verb of the agent inside a domain; what it says goes to its log, in the domain's folder."""

    def __init__(self, domain: Domain, inside: Inside, verb: str, *arguments: str) -> None:
        self.verb, self.subject = verb, domain.spec.name
        self.log = f"{HOME}/{verb}.log"
        self._domain = domain
        argv = [str(domain.folder / PROGRAM), verb, *arguments]
        self.process: Process = inside.spawn(argv, log=self.log)

    def words(self) -> str:
        """Its log so far."""
        return self._domain.text(self.log) or ""

    def said(self) -> Iterator[dict[str, Any]]:
        """The JSON lines of its log so far."""
        for line in self.words().splitlines():
            if line.startswith("{"):
                try:
                    yield json.loads(line)
                except json.JSONDecodeError:
                    continue  # not yet written to its end

    def wait_ready(self, seconds: float) -> None:
        """Wait until it says so; `UserError` if it dies or takes too long."""
        deadline = time.monotonic() + seconds
        while not any("ready" in line for line in self.said()):
            if self.process.poll() is not None:
                raise self.failure()
            if time.monotonic() > deadline:
                raise UserError(
                    f"{self.subject}: `tierlab-agent {self.verb}` inside was not ready within"
                    f" {seconds:.0f} s."
                )
            time.sleep(POLL_S)

    def failure(self) -> UserError:
        """Describe its end with the last line of its log."""
        lines = reversed(self.words().split("\n"))
        last = next((line for line in lines if line.strip()), "it said nothing")
        return UserError(
            f"{self.subject}: `tierlab-agent {self.verb}` inside ended:"
            f" {last.removeprefix('tierlab-agent: ')}"
        )

    def summary(self) -> dict[str, Any] | None:
        """What it said at its end."""
        return next((line["summary"] for line in self.said() if "summary" in line), None)


class InsideObserver:
    """The samplers and the clock of one guest."""

    def __init__(
        self, subject: Subject, domain: Domain, inside: Inside, environment: Environment
    ) -> None:
        self.name = subject.name
        self.readings: list[ClockReading] = []
        self._address = subject.endpoint.address
        self._domain, self._inside, self._environment = domain, inside, environment
        self._agents: list[_Agent] = []
        self._words: dict[str, str] = {}
        """The logs of agents that have stopped."""

    def start(self, plan: Mapping[str, Any]) -> None:
        """Bring the agent in, read the clock and start sampling; `UserError` if it cannot be."""
        domain = self._domain
        patience = READY_S * self._environment.slowness
        domain.put(Path(agent.binary()), PROGRAM)
        domain.make_folder(STREAMS)
        plan_file = domain.write(f"{HOME}/sample.json", json.dumps(plan, indent=1) + "\n")
        self._spawn("clock", patience, "--listen", f"{self._address}:{PORT}")
        self.read_clock()
        if not plan["tables"]:
            return
        out = str(domain.folder / STREAMS)
        self._spawn("sample", patience, "--plan", str(plan_file), "--out", out)

    def _spawn(self, verb: str, patience: float, *arguments: str) -> None:
        started = _Agent(self._domain, self._inside, verb, *arguments)
        self._agents.append(started)
        started.wait_ready(patience)

    def read_clock(self) -> None:
        """Read how its clock stands to the host's."""
        seconds = CONNECT_S * self._environment.slowness
        try:
            with self._environment.connect(self._address, PORT, timeout=seconds) as link:
                self.readings.append(read_clock(link))
        except OSError as error:
            raise UserError(f"{self.name}: its clock cannot be read ({error}).") from error

    def check(self) -> None:
        """Raise `UserError` when an agent inside has died."""
        for each in self._agents:
            if each.process.poll() is not None:
                raise each.failure()

    def stop(self) -> dict[str, Any] | None:
        """Let the agents finish their tables; what the samplers say of themselves."""
        summary = None
        while self._agents:
            each = self._agents.pop()
            each.process.stop(STOP_S * self._environment.slowness, signal.SIGINT)
            summary = summary or each.summary()
            self._words[each.verb] = each.words()
        return summary

    def collect(self, folder: RunFolder) -> None:
        """Copy its tables and logs into the run folder."""
        target = streams_of(folder) / self.name
        target.parent.mkdir(exist_ok=True)
        self._domain.get(STREAMS, target)
        for verb, words in self._words.items():
            (folder.logs / f"agent.{verb}.{self.name}.log").write_text(words)


def streams_of(folder: RunFolder) -> Path:
    """Where the streams of all guests lie, each in a folder of its server's name."""
    return folder.streams / "inside"


class InsideObservers:
    """All guests of a trial. What cannot be watched inside is named, and the trial goes on."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._observers: list[InsideObserver] = []
        self.clocks: dict[str, list[ClockReading]] = {}
        self.not_measured: dict[str, str] = {}
        self.summaries: dict[str, dict[str, Any]] = {}

    def start(self, observer: InsideObserver, plan: Mapping[str, Any]) -> None:
        """Start watching one guest."""
        self.clocks[observer.name] = observer.readings
        with self._naming_failure(observer.name, "tables seen inside"):
            try:
                observer.start(plan)
            except BaseException:
                observer.stop()
                raise
            self._observers.append(observer)

    def check(self) -> None:
        """Raise :class:`UserError` when one has died."""
        for observer in self._observers:
            observer.check()

    def read_clock(self, name: str) -> None:
        """Read a guest's clock, if it is watched."""
        for observer in self._observers:
            if observer.name == name:
                with self._naming_failure(name, "clock (as it moved)"):
                    observer.read_clock()

    def stop(self) -> None:
        """Read the clocks again, let all finish their tables, and fetch these."""
        while self._observers:
            observer = self._observers.pop()
            with self._naming_failure(observer.name, "clock (at the end)"):
                observer.read_clock()
            with self._naming_failure(observer.name, "tables seen inside"):
                if (summary := observer.stop()) is not None:
                    self.summaries[observer.name] = summary
                observer.collect(self._folder)

    @contextmanager
    def _naming_failure(self, name: str, what: str) -> Iterator[None]:
        try:
            yield
        except (UserError, OSError) as error:
            self.not_measured[f"{what} of {name}"] = str(error)
