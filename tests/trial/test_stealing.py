"""Neighbours that steal CPU time: whose turns they are told, and what becomes of them.

That Xen's really take it is seen in tests/environments/test_xen.py and test_xen_trial.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tierlab.environments.neighbour import TimedNeighbour, Turn
from tierlab.environments.placement import Placement
from tierlab.errors import UserError
from tierlab.experiment.disturb_resources import Steal
from tierlab.experiment.draw import Drawn
from tierlab.machine.mapping import Seats
from tierlab.trial.disturber import Disturber
from tierlab.trial.stealing import Stealing
from tierlab.trial.truth import TruthFolder

S = 10**9
LATE_NS = 30_000_000
FOUND = {"app.1": Placement(pus=frozenset({2})), "db.1": Placement(pus=frozenset({1, 0}))}


class Told(TimedNeighbour):
    """Computes when it is told to, `LATE_NS` late, and in its last turn for a share `cut` of it."""

    def __init__(self, name: str, seats: Seats, cut: float) -> None:
        self.name, self.seats, self.cut = name, seats, cut
        self.did: list[str] = []
        self.has_died = False
        self.turns: Sequence[Turn] = ()

    def boot(self) -> None:
        self.did.append("boot")

    def start(self) -> None:
        self.did.append("start")

    def compute(self) -> None:
        self.did.append("compute")

    def ready(self) -> bool:
        return True

    def occupy(self, vcpus: int) -> None:
        self.did.append(f"occupy {vcpus}")

    def rest(self) -> None:
        self.did.append("rest")

    def busy(self) -> int:
        return 0

    def check(self) -> None:
        self.did.append("check")
        if self.has_died:
            raise UserError(f"{self.name}: its turns are not told any more.")

    def take(self, turns: Sequence[Turn]) -> None:
        self.turns = turns

    def taken(self) -> list[Turn]:
        *others, last = (
            replace(each, start_ns=each.start_ns + LATE_NS, end_ns=each.end_ns + LATE_NS)
            for each in self.turns
        )
        length_ns = round(self.cut * (last.end_ns - last.start_ns))
        return [*others, replace(last, end_ns=last.start_ns + length_ns)]

    def destroy(self) -> None:
        self.did.append("destroy")


class Hypervisor:
    """An environment as far as it is asked here."""

    slowness: float = 1.0

    def __init__(self, cut: float = 1.0) -> None:
        self.made: list[Told] = []
        self.cut = cut

    def create_timed_neighbour(self, name: str, seats: Seats) -> Told:
        self.made.append(Told(name, seats, self.cut))
        return self.made[-1]


def drawn(number: int, at_s: int, on: str, **keys: Any) -> Drawn:
    table = {"class": "steal", "on": on, "duration": "2s", **keys}
    return Drawn(number, at_s * S, Steal.model_validate(table))


DRAWN = (
    drawn(1, 5, "db.1", weight=4096),
    drawn(2, 20, "app.1"),
    drawn(3, 30, "db.1", weight=8192),
)


def test_each_server_has_a_neighbour_on_its_pus_which_is_told_all_its_turns() -> None:
    hypervisor = Hypervisor()
    stealing = Stealing(DRAWN, hypervisor, others=1)
    stealing.prepare(FOUND)
    stealing.begin(100 * S)
    first, second = hypervisor.made
    # The system's own neighbour is the first by number.
    assert (first.name, first.seats.vcpus) == ("neighbour.2", (0, 1))
    assert (second.name, second.seats.vcpus) == ("neighbour.3", (2,))
    assert first.turns == [Turn(105 * S, 107 * S, 4096), Turn(130 * S, 132 * S, 8192)]
    assert second.turns == [Turn(120 * S, 122 * S, 16_384)]
    stealing.check()
    stealing.stop()
    stealing.stop()
    assert first.did == ["boot", "start", "compute", "rest", "check", "destroy"]


def begun(tmp_path: Path, drawn: Sequence[Drawn], hypervisor: Hypervisor) -> Disturber:
    """Of a trial in which nothing else is done."""
    truth = TruthFolder(tmp_path / "001.truth")
    truth.create(drawn)
    stealing = Stealing(drawn, hypervisor, others=0)
    stealing.prepare(FOUND)
    disturber = Disturber(truth, drawn, stealing)
    disturber.start({"disturbances": []}, 100 * S, pytest.fail)
    return disturber


def test_the_truth_has_the_times_when_it_was(tmp_path: Path) -> None:
    disturber = begun(tmp_path, DRAWN, Hypervisor())
    disturber.check()
    disturber.finish()
    disturber.stop()
    happened = {each.id: each for each in TruthFolder(tmp_path / "001.truth").happened()}
    assert sorted(happened) == [1, 2, 3]
    assert all(each.done for each in happened.values())
    assert (happened[2].class_, happened[2].subject) == ("steal", "app.1")
    assert happened[2].start_ns == 120 * S + LATE_NS
    assert happened[3].intensity == {"weight": 8192}


def test_a_trial_that_is_broken_off_keeps_what_had_happened(tmp_path: Path) -> None:
    disturber = begun(tmp_path, DRAWN, Hypervisor())
    disturber.stop()
    disturber.stop()
    found = TruthFolder(tmp_path / "001.truth").happened()
    assert sorted(each.id for each in found) == [1, 2, 3]


def test_one_that_has_died_fails_the_trial(tmp_path: Path) -> None:
    hypervisor = Hypervisor()
    disturber = begun(tmp_path, DRAWN, hypervisor)
    disturber.check()
    hypervisor.made[1].has_died = True
    with pytest.raises(UserError, match="did not go as planned"):
        disturber.check()
    problem = TruthFolder(tmp_path / "001.truth").problem()
    assert problem is not None
    assert "neighbour.2: its turns are not told any more" in problem


def test_one_that_was_over_too_soon_fails_the_trial(tmp_path: Path) -> None:
    disturber = begun(tmp_path, [drawn(1, 5, "db.1")], Hypervisor(cut=0.4))
    with pytest.raises(UserError, match="did not go as planned"):
        disturber.finish()
    assert TruthFolder(tmp_path / "001.truth").problem() == (
        "disturbance 1 (steal on db.1) was not done as asked: it lasted 800ms only."
    )
