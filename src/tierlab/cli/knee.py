"""``tierlab run --find-knee FILE``: where an objective breaks, found in a few short trials."""

from __future__ import annotations

import math
from pathlib import Path

import typer
from rich.console import Console

from tierlab.analysis.knee.breaking import judged
from tierlab.analysis.knee.search import (
    MOST_TRIALS,
    Knee,
    first_loads,
    is_near,
    knee,
    next_loads,
)
from tierlab.analysis.knee.step import Windows, steps
from tierlab.analysis.observed import Observed, observe
from tierlab.analysis.requests.driver import driver
from tierlab.cli.sweep import GO_ON, MISSED, run_trials
from tierlab.errors import Interrupted, UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.experiment.rising import check_searchable, rising
from tierlab.report.knee import NAME, FoundKnee, Knees, show_knee, write_knees
from tierlab.tables.run import Run


def find_knees(asked: Experiment, runs: Path, json: bool, *, resume: bool = False) -> Knees:
    """Search the knee of each of the experiment's trials (each combination and repetition).

    Every search is a few trials, each a run folder of the experiment's; ``knee.json`` and
    ``knee.html`` beside them have what was found so far after each of them. With ``resume``, trials
    that came to their end before are not run again. What was found is shown, too, where a search
    does not come to its end. Exits with status 1 when a knee is above all loads that were tried.
    """
    check_searchable(asked)
    answer = _Answer(asked, runs, json)
    for plan in asked.trials():
        search = _Search(asked, plan, runs, resume)
        try:
            while search.goes_on():
                answer.write(search.found())
        except (Interrupted, UserError) as ended:
            if search.has_shown_something:
                answer.add(search.found())
            answer.conclude()
            raise type(ended)(_going_on(str(ended))) from ended
        answer.add(search.found())
    answer.conclude()
    if any(each.knee.load is None for each in answer.found):
        raise typer.Exit(MISSED)
    return answer.told


def _going_on(said: str) -> str:
    """What is said with how to go on, which what ended a trial may say itself."""
    return said if GO_ON in said else f"{said} {GO_ON.capitalize()}."


class _Answer:
    """The knees that were found, beside the run folders and in the terminal."""

    def __init__(self, asked: Experiment, runs: Path, json: bool) -> None:
        self._about, self._folder, self._json = asked.about, runs / asked.about.name, json
        self._console = Console()
        self.found: list[FoundKnee] = []

    @property
    def told(self) -> Knees:
        """All of it."""
        return Knees.of(self._about.name, self._about.question, self.found)

    def write(self, going_on: FoundKnee) -> None:
        """Keep what a search has found so far."""
        told = Knees.of(self._about.name, self._about.question, [*self.found, going_on])
        write_knees(told, self._folder)

    def add(self, found: FoundKnee) -> None:
        """Keep and show what a search has found in the end."""
        self.found.append(found)
        write_knees(self.told, self._folder)
        if not self._json:
            show_knee(found, self._console)

    def conclude(self) -> None:
        """Say where all of it is; or, for programs, all of it."""
        if not self.found:
            return
        if self._json:
            typer.echo(self.told.model_dump_json())
        else:
            page = f"  {self._folder / NAME}"
            self._console.print(page, style="dim", markup=False, highlight=False, soft_wrap=True)


class _Search:
    """The search for one knee: what its trials have shown so far."""

    def __init__(self, asked: Experiment, plan: TrialPlan, runs: Path, resume: bool) -> None:
        self._asked, self._plan, self._runs, self._resume = asked, plan, runs, resume
        self._windows: list[Windows] = []
        self._folders: list[Path] = []
        self._limited: list[str] = []
        self._knee: Knee | None = None
        self._closer = 0
        of, is_closed = plan.system, plan.load.users is not None
        self._most = of.application.most_users(of.scale) if is_closed else None

    @property
    def has_shown_something(self) -> bool:
        """Whether a trial of it came to its end."""
        return self._knee is not None

    def goes_on(self) -> bool:
        """Run the next trial, if one more is needed, and learn from it."""
        load = self._plan.load
        if self._knee is None:
            loads = first_loads((load.rate if load.users is None else load.users) or 0)
        else:
            most = math.inf if self._most is None else self._most
            loads, self._closer = next_loads(self._knee, len(self._folders), self._closer, most)
        if not loads:
            return False
        (folder,) = self._run(rising(self._plan, loads, f"{len(self._folders) + 1:03}"))
        self._folders.append(folder)
        observed = observe(Run(folder))
        try:
            if observed.whole is not None:
                self._windows += steps(observed.db, observed.whole, observed.run.manifest)
                self._judge_driver(observed)
        finally:
            observed.db.close()
        if not self._windows:
            raise UserError(f"{folder}: has no step that could be measured.")
        bounds = judged(self._plan.objective.model_dump(exclude_none=True))
        self._knee = knee(self._windows, bounds, is_closed=load.users is not None)
        return True

    def _run(self, plan: TrialPlan) -> list[Path]:
        # A load that is out of its range is refused before anything runs.
        Experiment.from_tables(plan.as_file(), self._asked.source)
        asked = self._asked.alone(plan)
        # A trial's own answer is not what is asked for.
        return run_trials(asked, self._runs, lambda _: None, resume=self._resume)

    def _judge_driver(self, observed: Observed) -> None:
        """Note whether the driver kept pace, in a trial that was there before as in a new one."""
        if observed.measured is None or observed.whole is None:
            return
        manifest = observed.run.manifest
        cost_ns, whole_ns = manifest.observation.costs.get("drive"), observed.whole.duration_ns
        found = driver(observed.db, observed.measured, cost_ns, whole_ns)
        if found is not None and found.was_bottleneck:
            self._limited.append(manifest.trial)

    def found(self) -> FoundKnee:
        """What is known now."""
        assert self._knee is not None
        return FoundKnee(
            levels=self._plan.levels,
            trials=[folder.name for folder in self._folders],
            driver_limited=self._limited,
            knee=self._knee,
            limited=self._limited_by(self._knee),
            dollars_per_month=self._asked.about.dollars_per_month,
        )

    def _limited_by(self, found: Knee) -> str | None:
        """Why no larger load is tried, where the knee is above those that were."""
        if found.load is not None:
            return None
        if self._most is not None and is_near(found.steps[-1].load, self._most):
            scale = self._plan.system.scale
            return (
                f"The data of system.scale {scale:g} are for {self._most:,} users: a larger scale"
                " is needed to try more."
            )
        if len(self._folders) - self._closer >= MOST_TRIALS:
            key = "rate" if self._plan.load.users is None else "users"
            return f"After {MOST_TRIALS} trials it was not reached: begin with a larger load.{key}."
        return None
