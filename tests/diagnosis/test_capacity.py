"""A proof finds out first how many users the machine serves: its levels are shares of that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import capacity
import pytest
from campaign import Planned, Size, planned
from capacity import LESS
from conduct import TrialError
from systems import RUBBOS

from . import made_stall
from .made_stall import MS, START, TICK

SECONDS = 20
HERE = replace(RUBBOS, capacity=6_500)


def machine(folder: Path, most: float, asked: list[int]):
    """A machine whose CPUs so many users fill."""

    def conduct(trial: Planned, _: Path) -> Path:
        asked.append(trial.users)
        made = folder / trial.name
        made.mkdir(parents=True)
        made_stall.manifest().write(made)
        end_ns = range(START + TICK, START + SECONDS * 1_000 * MS + 1, TICK)
        row = {"subject": "cpu0", "dt_ns": TICK, "busy": min(1.0, trial.users / most)}
        made_stall.write(made, "cpu", [row | {"t_ns": t_ns} for t_ns in end_ns])
        return made

    return conduct


@pytest.mark.parametrize("most", [3_000, 6_500, 10_900, 12_400])
def test_the_level_is_that_of_the_day(tmp_path, most):
    """At "80 %" of a number in a file the CPUs were 46 % busy on one day, and 91 % on another."""
    asked: list[int] = []
    found = capacity.measured(HERE, 1, tmp_path, machine(tmp_path, most, asked))
    assert found == pytest.approx(most, rel=0.04)
    assert asked[-1] / most == pytest.approx(0.8, abs=0.05)
    assert len(asked) <= capacity.MOST_TRIALS


def test_a_machine_that_is_never_near_the_level_is_said(tmp_path):
    days = iter([12_000, 4_000, 12_000, 2_000])

    def changing(trial: Planned, folder: Path) -> Path:
        return machine(tmp_path, next(days), [])(trial, folder)

    with pytest.raises(SystemExit, match="more at one time than at another"):
        capacity.measured(HERE, 1, tmp_path, changing)


def test_a_trial_that_fails_is_said_in_a_sentence(tmp_path):
    def fails(trial: Planned, folder: Path) -> Path:
        raise TrialError(f"{trial.name} failed (status 1): see {folder / trial.name}.log")

    with pytest.raises(SystemExit, match=r"capacity-0 failed .* or give --capacity"):
        capacity.measured(HERE, 1, tmp_path, fails)


def test_of_a_machine_that_gives_more_and_less_what_is_between_is_taken(tmp_path):
    """74 % busy by 7,840 users, 75 % by 8,512, 88 % by 9,080: as measured one morning."""
    shares = iter([0.53, 0.74, 0.75, 0.88])

    def measured(trial: Planned, folder: Path) -> Path:
        return machine(tmp_path, trial.users / next(shares), [])(trial, folder)

    found = capacity.measured(HERE, 1, tmp_path, measured)
    assert isinstance(found, int)
    assert 10_500 <= found <= 11_300


def test_the_level_is_followed_while_the_machine_gives_more_and_less(tmp_path):
    """Of six trials at "80 %" by a number of half an hour before, four were 84 to 96 % busy."""
    size = Size(singles=9, pairs=0, control_s=60, overloads=1, system=HERE)
    gives = {"single-2": 6_500, "single-5": 5_000, "single-8": 9_000, "control-2": 8_700}
    users = {}
    for trial in capacity.followed(planned(size, 1), tmp_path):
        users[trial.name] = trial.users
        if trial.name in gives:
            machine(tmp_path / trial.name, gives[trial.name], [])(
                replace(trial, name="001"), tmp_path
            )
    assert users["single-2"] == users["single-5"] == 5_200
    assert users["single-8"] == pytest.approx(0.8 * 6_500 * LESS)
    assert users["control-0"] == pytest.approx(900, rel=0.01)
    assert users["control-2"] == pytest.approx(7_200, rel=0.01)
    again = {each.name: each.users for each in capacity.followed(planned(size, 1), tmp_path)}
    assert again == users, "a proof that is taken up again plans the same"


def test_a_trial_that_goes_well_when_tried_again_changes_no_other(tmp_path):
    """Those after it had been planned without what it says, and the folder was refused."""
    size = Size(singles=6, pairs=0, control_s=60, system=HERE)
    users = {}
    for trial in capacity.followed(planned(size, 1), tmp_path):
        users[trial.name] = trial.users
        (tmp_path / f"{trial.name}.toml").write_text(trial.text)
    machine(tmp_path / "single-2", 9_000, [])(
        Planned("001", "single", "high", "", users["single-2"]), tmp_path
    )
    again = list(capacity.followed(planned(size, 1), tmp_path))
    assert {each.name: each.users for each in again} == users
    assert all((tmp_path / f"{each.name}.toml").read_text() == each.text for each in again)


def test_a_trial_that_was_too_busy_for_its_level_is_run_once_more(tmp_path):
    """Of three trials at "80 %" two were left out at 91 and 96 %: one stood for the level."""
    size = Size(singles=6, pairs=0, control_s=60, overloads=1, system=HERE)
    gives = {"single-2": 5_700, "single-2-again": 5_000, "single-5": 5_000}
    users = {}
    for trial in capacity.followed(planned(size, 1), tmp_path):
        users[trial.name] = trial.users
        assert f'name = "{trial.name}"' in trial.text
        if trial.name in gives:
            machine(tmp_path / trial.name, gives[trial.name], [])(
                replace(trial, name="001"), tmp_path
            )
    assert [name for name in users if name.startswith("single")] == [
        *("single-0", "single-1", "single-2", "single-2-again", "single-3", "single-4", "single-5")
    ], "once, and only the one that was busier than the level by more than what is let pass"
    assert users["single-2"] == 5_200
    assert users["single-2-again"] == pytest.approx(0.8 * 5_700, rel=0.01)
    assert users["single-5"] == pytest.approx(0.8 * 5_000, rel=0.01)
