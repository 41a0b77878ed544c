"""Who disturbs a trial on purpose: an agent, and neighbours that a hypervisor runs.

All that they know and say goes to the truth's folder.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from tierlab.errors import UserError
from tierlab.experiment.draw import Drawn
from tierlab.observe.agent import Spawn, Verb
from tierlab.trial.stealing import Stealing
from tierlab.trial.truth import TruthFolder

END_S = 10.0
"""For undoing the last disturbance."""


class Disturber:
    """Runs the agent's verb ``disturb``, prepared before the first start and undone at the end, and
    has the neighbours compute at their times.

    Where it fails the trial fails, with a sentence in the truth's folder and one that says no more
    than that for the manifest.
    """

    def __init__(self, truth: TruthFolder, drawn: Sequence[Drawn], stealing: Stealing) -> None:
        self._truth = truth
        self._drawn = drawn
        self._stealing = stealing
        self._verb: Verb | None = None
        self._written = False
        """Whether the truth has what the neighbours did."""

    def start(self, plan: Mapping[str, Any], runtime_ns: int, spawn: Spawn) -> None:
        """Start it if it has something to do, and wait until all is prepared.

        Raises :class:`UserError` when something in it cannot be done here, or when it is not
        prepared by the time of its first disturbance.
        """
        try:
            self._stealing.begin(runtime_ns)
        except UserError as error:
            raise self._problem(str(error)) from error
        if not plan["disturbances"]:
            return
        self._verb = Verb("disturb", plan, self._truth.path, self._truth.path, spawn)
        first_ns = min(each["start_ns"] for each in plan["disturbances"])
        try:
            self._verb.wait_ready(max(1.0, (first_ns - time.time_ns()) / 1e9))
        except UserError as error:
            raise self._problem(str(error)) from error

    def check(self) -> None:
        """Raise :class:`UserError` when it has died."""
        if self._verb is not None and self._verb.died:
            raise self._problem(str(self._verb.failure()))
        try:
            self._stealing.check()
        except UserError as error:
            raise self._problem(str(error)) from error

    def finish(self) -> None:
        """Wait for its end; raise :class:`UserError` unless each disturbance came to pass."""
        if not self._drawn:
            return
        try:
            if self._verb is not None:
                self._verb.wait(END_S)
            self._write()
        except UserError as error:
            raise self._problem(str(error)) from error
        errors = {each.id: each.error for each in self._truth.happened() if not each.done}
        done = {each.id for each in self._truth.happened() if each.done}
        for drawn in self._drawn:
            if drawn.id not in done:
                why = errors.get(drawn.id) or "it did not come to pass"
                raise self._problem(
                    f"disturbance {drawn.id} ({drawn.what.class_} on {drawn.what.on}) was not done"
                    f" as asked: {why}{self._log}."
                )

    def stop(self) -> None:
        """Have it undo what it does and end; what the neighbours did so far is written down."""
        if self._verb is not None:
            self._verb.stop(END_S)
            if self._verb.summary is not None:
                self._truth.keep_summary(self._verb.summary)
            self._verb = None
        # Where the hypervisor does not answer any more there is nobody to ask.
        with suppress(UserError):
            self._write()

    def _write(self) -> None:
        if self._written or not (happened := list(self._stealing.happened())):
            return
        self._truth.add(happened)
        self._written = True

    @property
    def _log(self) -> str:
        """Where the agent says more."""
        return "" if self._verb is None else f" (log: {self._verb.log})"

    def _problem(self, sentence: str) -> UserError:
        self._truth.keep_problem(sentence)
        return UserError(f"the trial did not go as planned; {self._truth.path} says why.")
