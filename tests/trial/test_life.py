"""However a trial ends, it is taken down, and no signal comes in between."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tierlab.environments.files import make_folder
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.native.native import Native
from tierlab.experiment import Experiment
from tierlab.machine.clock_steps import ClockSteps
from tierlab.tables.folder import RunFolder, create
from tierlab.tables.manifest import Manifest, read
from tierlab.trial import life
from tierlab.trial.interrupt import deferred
from tierlab.trial.progress import Silent

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
PLAN = Experiment.from_tables(
    {"experiment": {"name": "e"}, "system": {"workload": "rubbos"}, "load": {"users": 1}}
).trials()[0]


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.fixture(autouse=True)
def from_a_terminal() -> Iterator[None]:
    """Whoever started the tests by nohup(1) has them ignore a hang-up."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Manifest]:
    """Run a trial whose life, and whose taking down, are these."""

    def run(living: Callable[[], None], taking_down: Callable[[], None]) -> Manifest:
        def live(trial: life._Trial) -> None:
            trial.teardown.callback(taking_down)
            living()

        monkeypatch.setattr(life._Trial, "live", live)
        return life.run_trial(PLAN, create(tmp_path, "e"), Silent())

    return run


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_trial_and_another_does_not_end_its_taking_down(
    run: Callable[..., Manifest], number: signal.Signals, tmp_path: Path
) -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    done = []

    def taking_down() -> None:
        for each in SIGNALS:
            send(each)
        done.append("down")

    manifest = run(lambda: send(number), taking_down)
    assert done == ["down"]
    assert manifest.exit.state == "interrupted"
    assert read(tmp_path / "e" / "001").exit.state == "interrupted"
    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_a_trial_that_nohup_started_outlives_its_terminal(run: Callable[..., Manifest]) -> None:
    """A hang-up ended it: that it was ignored was not heeded."""
    hang_up, before = signal.SIGHUP, signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def living() -> None:
        send(hang_up)
        with deferred():
            send(hang_up)

    try:
        manifest = run(living, lambda: send(hang_up))
        assert signal.getsignal(hang_up) == signal.SIG_IGN
    finally:
        signal.signal(hang_up, before)
    assert manifest.exit.state == "done"


def test_a_signal_does_not_disturb_the_making_of_the_tables(
    run: Callable[..., Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = []

    def finish(folder: RunFolder, manifest: Manifest) -> None:
        for each in SIGNALS:
            send(each)
        finished.append((folder.trial, manifest.exit.state))

    monkeypatch.setattr(life, "finish", finish)
    run(lambda: None, lambda: None)
    assert finished == [("001", "done")]


@pytest.mark.parametrize("step_ns", [0, 2_000_000_000])
def test_a_clock_that_was_set_meanwhile_is_in_the_manifest(
    run: Callable[..., Manifest], monkeypatch: pytest.MonkeyPatch, step_ns: int
) -> None:
    readings = iter([7, 7 + step_ns])
    monkeypatch.setattr(life, "ClockSteps", lambda: ClockSteps(lambda: next(readings)))
    manifest = run(lambda: None, lambda: None)
    said = manifest.not_measured.get("one axis of time")
    assert (said is not None) == (step_ns > 0)
    assert said is None or "set once, by up to 2.00 s forward" in said


def test_a_mistake_of_ours_is_not_hidden_and_the_trial_is_taken_down(
    run: Callable[..., Manifest],
) -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    done = []

    def living() -> None:
        raise RuntimeError("a mistake")

    with pytest.raises(RuntimeError, match="a mistake"):
        run(living, lambda: done.append("down"))
    assert done == ["down"]
    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_a_signal_while_the_ledger_is_made_leaves_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It came between the ledger's file and what removes it: an empty ledger stayed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = []

    def interrupted(trial: str) -> Ledger:
        ledger = Ledger(trial)
        made.append(ledger.path)
        send(signal.SIGINT)
        return ledger

    monkeypatch.setattr(life, "Ledger", interrupted)
    manifest = life.run_trial(PLAN, create(tmp_path, "e"), Silent())
    assert manifest.exit.state == "interrupted"
    assert made
    assert not made[0].exists()


def test_a_second_signal_while_the_environment_is_made_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It broke off the tidying up that the first had begun, and all stayed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = tmp_path / "made"

    class Interrupted(Native):
        def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
            make_folder(self._ledger, made)
            send(signal.SIGINT)
            return super()._prepare(sysctls)

        def destroy(self) -> None:
            assert made.exists()
            send(signal.SIGINT)
            super().destroy()

    monkeypatch.setattr(life, "KINDS", {PLAN.system.environment: Interrupted})
    manifest = life.run_trial(PLAN, create(tmp_path, "e"), Silent())
    assert manifest.exit.state == "interrupted"
    assert not made.exists()
    assert not list((tmp_path / "state").rglob("*.jsonl"))
