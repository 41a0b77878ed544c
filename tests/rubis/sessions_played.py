"""Sessions played by a description's tables alone, without pages: an oracle for the mix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LIMIT = 1_000
"""Requests of a session at most."""


class Players:
    """Users in the middle of a session each: where they are, and where Back leads them."""

    def __init__(self, count: int, home: int) -> None:
        self.home = home
        self.states = np.full(count, home)
        self.stacks = np.zeros((count, LIMIT), np.int16)
        self.depths = np.zeros(count, np.int64)

    def end(self, ending: npt.NDArray[np.bool_]) -> None:
        for name in ("states", "stacks", "depths"):
            setattr(self, name, getattr(self, name)[~ending])

    def go(
        self,
        to: npt.NDArray[np.int64],
        returning: npt.NDArray[np.bool_],
        leads_back: npt.NDArray[np.bool_],
    ) -> None:
        """Enter the states; one that can be left by Back keeps whence one came, others forget."""
        rows = np.arange(len(to))
        last = self.stacks[rows, np.maximum(self.depths - 1, 0)]
        entered = np.where(returning, np.where(self.depths > 0, last, self.home), to)
        keeping = ~returning & leads_back[entered]
        self.stacks[rows[keeping], self.depths[keeping]] = self.states[keeping]
        deeper = np.where(keeping, self.depths + 1, 0)
        self.depths = np.where(returning, np.maximum(self.depths - 1, 0), deeper)
        self.states = entered


def request_shares(description: dict[str, Any], sessions: int) -> dict[str, float]:
    """The share of each state among the requests of so many whole sessions.

    Users walk down a column with one uniform draw; beyond its sum the state repeats.
    """
    names = [state["name"] for state in description["states"]]
    cumulative, leads_back = _tables(description, names)
    back, end = len(names), len(names) + 1
    random = np.random.default_rng(3)
    players = Players(sessions, names.index(description["home"]))
    counts = np.zeros(len(names), np.int64)
    for _ in range(LIMIT):
        counts += np.bincount(players.states, minlength=len(names))
        draws = random.random(len(players.states))
        to = (cumulative[players.states] <= draws[:, None]).sum(axis=1)
        to = np.where(to > end, players.states, to)
        players.end(to == end)
        to = to[to != end]
        players.go(np.where(to == back, players.home, to), to == back, leads_back)
    return dict(zip(names, (counts / counts.sum()).tolist(), strict=True))


def _tables(
    description: dict[str, Any], names: list[str]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Each state's cumulative probabilities (columns: the states, Back, End), and whether it can
    be left by Back."""
    columns = description["sessions"][0]["transitions"]
    numbers = {name: at for at, name in enumerate([*names, "Back", "End"])}
    probabilities = np.zeros((len(names), len(numbers)))
    for name in names:
        for to, probability in columns[name]:
            probabilities[numbers[name], numbers[to]] = probability
    return probabilities.cumsum(axis=1), probabilities[:, numbers["Back"]] > 0
