"""A short trial with one user, of which nothing is kept but what it showed."""

from __future__ import annotations

from pathlib import Path

from tierlab.errors import Interrupted, UserError
from tierlab.experiment import TrialPlan
from tierlab.tables.folder import RunFolder, create
from tierlab.tables.manifest import Manifest
from tierlab.trial.life import run_trial
from tierlab.trial.progress import Progress


def rehearse(plan: TrialPlan, runs: Path, progress: Progress) -> tuple[RunFolder, Manifest]:
    """Run the trial below ``runs``, a folder that goes soon; `UserError` where it does not live to
    its end.
    """
    folder = create(runs, plan.experiment)
    manifest = run_trial(plan, folder, progress)
    if manifest.exit.state == "interrupted":
        raise Interrupted("interrupted; everything is taken down.")
    if manifest.exit.state == "failed":
        raise UserError(manifest.exit.error or "the system did not live to the end.")
    return folder, manifest
