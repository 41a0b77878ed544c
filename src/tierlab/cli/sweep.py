"""An experiment's trials one after the other: each one's report, and what failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer
from rich.console import Console

from tierlab.analysis.summary import Summary
from tierlab.cli.objectives import shortfalls
from tierlab.cli.progress import progress_on
from tierlab.errors import Interrupted, UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.report import Report, build
from tierlab.report.index import write_index
from tierlab.report.stored import stored_summary
from tierlab.tables.folder import RunFolder, create
from tierlab.tables.interruption import interruptible_queries
from tierlab.tables.manifest import Manifest
from tierlab.trial.life import run_trial
from tierlab.trial.needs import check_needs
from tierlab.trial.observation_ratio import Outcome, record_ratios
from tierlab.trial.resume import finished, remove_leftovers
from tierlab.trial.truth import TruthFolder

MISSED = 1
GO_ON = "the same command with --resume goes on"

Show = Callable[[Report], None]


def run_trials(asked: Experiment, runs: Path, show: Show, *, resume: bool = False) -> list[Path]:
    """Run an experiment's trials, and show each one's report as soon as it is there.

    With ``resume`` those that came to their end before are not run again. A trial that fails ends
    itself, and the others are run. Returns the run folders, in the order of the trials. Raises
    :class:`UserError` when any failed, and exits with status 1 when any missed the experiment's
    objective.
    """
    plans = asked.trials()
    # Progress goes to stderr, so that stdout holds the answer and nothing else.
    sweep = _Sweep(runs, len(plans), show, Console(stderr=True))
    there = sweep.resume(asked.about.name, plans) if resume else {}
    left = [plan for plan in plans if plan.trial not in there]
    # Of all trials, before the first: what is missing must not spoil the night.
    for plan in left:
        check_needs(plan)
    for plan in plans:
        if plan.trial in there:
            sweep.keep(plan, there[plan.trial])
    try:
        with interruptible_queries():
            for plan in left:
                sweep.run(plan)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {GO_ON}.") from None
    finally:
        sweep.compare_watched()
    sweep.conclude()
    return [sweep.folders[plan.trial] for plan in plans]


@dataclass
class _Sweep:
    """What has become of the trials so far; ``folders`` by the plans' ``trial``."""

    runs: Path
    count: int
    show: Show
    errors: Console
    folders: dict[str, Path] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def resume(self, experiment: str, plans: Sequence[TrialPlan]) -> dict[str, Path]:
        """Return the run folders of the plans that came to their end, and remove the others' rest.

        What is removed may still have written to a run folder, and so goes first.
        """
        for note in remove_leftovers(experiment):
            self.say(f"of a killed trial: {note}")
        there = finished(self.runs / experiment, plans)
        self.say(f"{len(there)} of {self.count} trials are there already")
        return there

    def keep(self, plan: TrialPlan, folder: Path) -> None:
        """Count a trial that was run before."""
        summary = stored_summary(folder)
        self._count(plan, folder, build(folder).summary if summary is None else summary)

    def run(self, plan: TrialPlan) -> None:
        """Run a trial. One that fails among several is said to have, and the next may be run."""
        if self.count > 1:
            self.say(self._title(plan))
        folder = create(self.runs, plan.experiment)
        try:
            summary = self._lived(plan, folder)
        except UserError as error:
            if self.count == 1:
                raise
            self.failed.append(f"{folder.path}: {error}")
            self.say(f"trial {int(plan.trial)} of {self.count} failed: {error}")
        else:
            self._count(plan, folder.path, summary)
        finally:
            self._renew_index()

    def _lived(self, plan: TrialPlan, folder: RunFolder) -> Summary:
        with progress_on(self.errors) as progress:
            manifest = run_trial(plan, folder, progress)
            progress.stage("report")
            made = _report(folder, manifest)
        self.show(made)
        if manifest.exit.state == "interrupted":
            more = f" {GO_ON.capitalize()}." if self.count > 1 else ""
            raise Interrupted(
                f"interrupted; what was measured until then is in {folder.path}.{more}"
            )
        if manifest.exit.state == "failed":
            error = manifest.exit.error or f"the trial in {folder.path} failed."
            raise UserError(TruthFolder.of(folder.path).problem() or error)
        return made.summary

    def _count(self, plan: TrialPlan, folder: Path, summary: Summary) -> None:
        self.folders[plan.trial] = folder
        where = f"{folder}: " if self.count > 1 else ""
        self.missed += [f"{where}{each}" for each in shortfalls(plan.objective, summary)]
        if summary.responses is not None:
            self.outcomes.append(Outcome(plan, folder, summary.responses.throughput))

    def compare_watched(self) -> None:
        """Say what watching cost in throughput, and let the reports say it."""
        for folder, ratio in record_ratios(self.outcomes).items():
            build(folder)
            self.say(f"{folder}: {ratio:.1%} of the throughput of the unwatched trials")

    def _renew_index(self) -> None:
        """Show all trials side by side; that it cannot be written fails no trial."""
        try:
            write_index(self.runs)
        except UserError as error:
            self.say(str(error))

    def conclude(self) -> None:
        """Say what missed the objective, and fail if a trial has."""
        for sentence in self.missed:
            self.say(f"objective missed: {sentence}")
        if self.failed:
            first, *others = self.failed
            more = f" (and {len(others)} more, named above)" if others else ""
            raise UserError(
                f"{len(self.failed)} of {self.count} trials failed; {GO_ON}: {first}{more}"
            )
        if self.missed:
            raise typer.Exit(MISSED)

    def say(self, line: str) -> None:
        """Print a line beside the answer."""
        self.errors.print(line, highlight=False, markup=False, soft_wrap=True)

    def _title(self, plan: TrialPlan) -> str:
        levels = ", ".join(f"{key} = {value}" for key, value in plan.levels.items())
        what = levels or f"repetition {plan.repetition}"
        return f"trial {int(plan.trial)} of {self.count}: {what}"


def _report(folder: RunFolder, manifest: Manifest) -> Report:
    try:
        with interruptible_queries():
            return build(folder.path)
    except UserError as error:
        # What failed first is what the user has to mend; this often only follows from it.
        first = f"{manifest.exit.error} " if manifest.exit.error else ""
        raise UserError(f"{first}{error}") from error
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; the trial is complete, and `tierlab report {folder.path}` writes its"
            " report."
        ) from None
