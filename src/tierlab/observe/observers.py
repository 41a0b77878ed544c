"""The agents that watch a trial: the samplers and the tracer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.observe.agent import Spawn, Verb

READY_S = 15.0


class Observers:
    """Starts and stops watching. What cannot be watched here is named, and the trial goes on."""

    def __init__(self, streams: Path, logs: Path, spawn: Spawn) -> None:
        self._streams, self._logs, self._spawn = streams, logs, spawn
        self._verbs: list[Verb] = []
        self.not_measured: dict[str, str] = {}
        self.ready_lines: dict[str, dict[str, Any]] = {}
        self.summaries: dict[str, dict[str, Any]] = {}

    def start(self, verb: str, plan: Mapping[str, Any], tables: tuple[str, ...]) -> None:
        """Start a verb that fills ``tables``; if it cannot work here, they are not measured."""
        others = set(self._streams.iterdir())
        running = Verb(verb, plan, self._streams, self._logs, self._spawn)
        self._verbs.append(running)
        try:
            running.wait_ready(READY_S)
        except UserError as error:
            self._verbs.remove(running)
            running.stop(grace=2)
            # Tables that it had only begun are not empty ones: they were not measured.
            for begun in set(self._streams.iterdir()) - others:
                begun.unlink()
            self.not_measured.update(dict.fromkeys(tables, str(error)))
            return
        self.ready_lines[verb] = running.ready_line

    def has_started(self, verb: str) -> bool:
        """Say whether a verb works here, or did."""
        return verb in self.ready_lines

    def check(self) -> None:
        """Raise :class:`UserError` when one has died."""
        for verb in self._verbs:
            if not verb.running:
                raise verb.failure()

    def stop(self) -> None:
        """Let all finish their tables."""
        while self._verbs:
            verb = self._verbs.pop()
            verb.stop()
            if verb.summary is not None:
                self.summaries[verb.name] = verb.summary
