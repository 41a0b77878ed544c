"""Which trials of an experiment are there already, so that a sweep can go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tierlab.environments.ledger import accounts
from tierlab.environments.removal import remove_account
from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.tables import manifest as manifests
from tierlab.tables.folder import NAMED
from tierlab.tables.manifest import Manifest
from tierlab.trial.complete import complete
from tierlab.trial.truth import TruthFolder, written
from tierlab.workloads.own.secrets import without_secrets


def finished(experiment: Path, plans: Sequence[TrialPlan]) -> dict[str, Path]:
    """Return the run folders of the plans that came to their end, by the plans' ``trial``.

    A folder is a plan's when its own plan has the same system, load, observation, changes,
    disturbances and seed; of several it is the last. Trials that were killed are finished first,
    so that what was measured of them can be read. Raises :class:`UserError` when one still runs.
    """
    found = {}
    for path in sorted(experiment.glob(f"*/{manifests.NAME}")):
        folder = path.parent
        complete(folder)
        if (likeness := _likeness_of(folder)) is not None:
            found[likeness] = folder
    likenesses = {plan.trial: _likeness(plan, written(plan.disturb)) for plan in plans}
    return {trial: found[each] for trial, each in likenesses.items() if each in found}


def remove_leftovers(experiment: str) -> list[str]:
    """Remove what killed trials of an experiment left: its driver may still send requests.

    Returns, in words, what was removed. Raises :class:`UserError` when something could not be.
    """
    removed = []
    for account in accounts():
        if account.trial.startswith(f"{experiment[:NAMED]}-") and not account.is_live:
            done, left = remove_account(account)
            removed += done
            if left:
                raise UserError(
                    f"{account.trial} was killed, and what it left is still there:"
                    f" {'; '.join(left)}; `tierlab clean` tries again."
                )
    return removed


def _likeness_of(folder: Path) -> str | None:
    """The likeness of a trial that is done; None of any other."""
    try:
        manifest = manifests.read(folder)
        if manifest.exit.state != "done":
            return None
        return _likeness(_planned(manifest), TruthFolder.of(folder).drawn())
    except UserError:
        return None


def _planned(manifest: Manifest) -> TrialPlan:
    """The plan of a trial that was run, completed by today's defaults."""
    (plan,) = Experiment.from_tables(manifest.plan).trials()
    return plan


def _likeness(plan: TrialPlan, disturbances: str) -> str:
    """Equal for plans that differ in nothing but the words of the question and the objective."""
    parts = without_secrets(plan.as_file())
    del parts["objective"], parts["experiment"]["question"]
    return json.dumps([parts, disturbances], sort_keys=True)
