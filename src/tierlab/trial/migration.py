"""A server moves to another host in the middle of a trial, and what its users notice of that."""

from __future__ import annotations

import itertools
import time
from dataclasses import asdict
from typing import Any

from tierlab.deploy.systems import Systems
from tierlab.environments.environment import Environment
from tierlab.errors import UserError
from tierlab.observe.echoes import Echoes, longest_silence, lost
from tierlab.observe.inside import InsideObservers
from tierlab.tables.folder import RunFolder


class Migrations:
    """Moves servers of a system, each once the echoes of its host are heard."""

    def __init__(
        self, system: Systems, environment: Environment, inside: InsideObservers, folder: RunFolder
    ) -> None:
        self._system, self._environment = system, environment
        self._inside, self._logs = inside, folder.logs
        self._numbers = itertools.count(1)

    def make(self, subject: str, host: str) -> dict[str, Any]:
        """Move a server; what is known of it afterwards, in nanoseconds and bytes.

        A guest's clock stands still with it: it is read on both sides.
        """
        endpoint = next(each.endpoint for each in self._system.places if each.name == subject)
        self._inside.read_clock(subject)
        log = self._logs / f"echoes.{subject}.{next(self._numbers)}.log"
        with Echoes(self._environment, endpoint.address, log) as echoes:
            start_ns = time.time_ns()
            moved = self._system.move(subject, host)
            end_ns = time.time_ns()
        self._inside.read_clock(subject)
        usual = longest_silence(echoes.answers, 0, start_ns)
        silence = longest_silence(echoes.answers, start_ns, end_ns)
        if usual is None or silence is None:
            raise UserError(f"{subject}: too few echoes were answered to time its move; see {log}.")
        return {
            "start_ns": start_ns,
            "duration_ns": end_ns - start_ns,
            "silence": asdict(silence),
            "usual_silence_ns": usual.duration_ns,
            "echoes_lost": lost(echoes.answers),
            **asdict(moved),
        }
