"""``tierlab run --find-knee FILE``: where an objective breaks, found in a few short trials."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from tierlab.analysis.knee.breaking import judged
from tierlab.analysis.knee.search import Knee, first_loads, knee, next_loads
from tierlab.analysis.knee.step import Windows, steps
from tierlab.analysis.observed import observe
from tierlab.cli.sweep import GO_ON, run_trials
from tierlab.errors import Interrupted, UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.experiment.rising import check_searchable, rising
from tierlab.report import Report
from tierlab.report.knee import FoundKnee, Knees, show_knee, write_knees
from tierlab.tables.run import Run


def find_knees(asked: Experiment, runs: Path, json: bool, *, resume: bool = False) -> Knees:
    """Search the knee of each of the experiment's trials (each combination and repetition).

    Every search is a few trials, each a run folder of the experiment's; ``knee.json`` and
    ``knee.html`` beside them have what was found so far after each of them. With ``resume``, trials
    that came to their end before are not run again.
    """
    check_searchable(asked)
    about, console = asked.about, Console()
    found: list[FoundKnee] = []
    for plan in asked.trials():
        search = _Search(asked, plan, runs, resume)
        try:
            while search.goes_on():
                told = Knees.of(about.name, about.question, [*found, search.found()])
                page = write_knees(told, runs / about.name)
        except Interrupted as interrupted:
            raise Interrupted(f"{interrupted} {GO_ON.capitalize()}.") from None
        except UserError as error:
            raise UserError(f"{error} {GO_ON.capitalize()}.") from error
        found.append(search.found())
        if not json:
            show_knee(found[-1], console)
    if json:
        typer.echo(told.model_dump_json())
    else:
        console.print(f"  {page}", style="dim", markup=False, highlight=False, soft_wrap=True)
    return told


class _Search:
    """The search for one knee: what its trials have shown so far."""

    def __init__(self, asked: Experiment, plan: TrialPlan, runs: Path, resume: bool) -> None:
        self._asked, self._plan, self._runs, self._resume = asked, plan, runs, resume
        self._windows: list[Windows] = []
        self._folders: list[Path] = []
        self._limited: list[str] = []
        self._knee: Knee | None = None
        self._closer = 0

    def goes_on(self) -> bool:
        """Run the next trial, if one more is needed, and learn from it."""
        load = self._plan.load
        most = load.rate if load.users is None else load.users
        if self._knee is None:
            loads = first_loads(most or 0)
        else:
            loads, self._closer = next_loads(self._knee, len(self._folders), self._closer)
        if not loads:
            return False
        (folder,) = self._run(rising(self._plan, loads, f"{len(self._folders) + 1:03}"))
        self._folders.append(folder)
        observed = observe(Run(folder))
        try:
            if observed.whole is not None:
                self._windows += steps(observed.db, observed.whole, observed.run.manifest)
        finally:
            observed.db.close()
        if not self._windows:
            raise UserError(f"{folder}: has no step that could be measured.")
        bounds = judged(self._plan.objective.model_dump(exclude_none=True))
        self._knee = knee(self._windows, bounds, is_closed=load.users is not None)
        return True

    def _run(self, plan: TrialPlan) -> list[Path]:
        # Some loads are more than a workload's data are for: said before anything runs.
        Experiment.from_tables(plan.as_file(), self._asked.source)
        asked = self._asked.alone(plan)
        return run_trials(asked, self._runs, self._look, resume=self._resume)

    def _look(self, made: Report) -> None:
        """Whether the driver kept pace; a trial's own answer is not what is asked for."""
        driver = made.summary.driver
        if driver is not None and driver.was_bottleneck:
            self._limited.append(made.summary.facts.trial)

    def found(self) -> FoundKnee:
        """What is known now."""
        assert self._knee is not None
        return FoundKnee(
            levels=self._plan.levels,
            trials=[folder.name for folder in self._folders],
            driver_limited=self._limited,
            knee=self._knee,
            dollars_per_month=self._asked.about.dollars_per_month,
        )
