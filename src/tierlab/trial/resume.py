"""Which trials of an experiment are there already, so that a sweep can go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
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
    for folder in _folders(experiment):
        complete(folder)
    found = {}
    for each in done(experiment):
        try:
            disturbances = TruthFolder.of(each.folder).drawn()
        except UserError:
            continue
        found[_likeness(each.plan, disturbances)] = each.folder
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


@dataclass(frozen=True)
class Done:
    """A trial that came to its end, and its plan, completed by today's defaults."""

    folder: Path
    manifest: Manifest
    plan: TrialPlan


def done(experiment: Path) -> list[Done]:
    """Return those of an experiment, the earliest first; what cannot be read is none."""
    found = []
    for folder in _folders(experiment):
        try:
            manifest = manifests.read(folder)
            if manifest.exit.state == "done":
                found.append(Done(folder, manifest, _planned(manifest)))
        except UserError:
            continue
    return found


def _folders(experiment: Path) -> list[Path]:
    return [path.parent for path in sorted(experiment.glob(f"*/{manifests.NAME}"))]


def _planned(manifest: Manifest) -> TrialPlan:
    (plan,) = Experiment.from_tables(manifest.plan).trials()
    return plan


def _likeness(plan: TrialPlan, disturbances: str) -> str:
    """Equal for plans that differ in nothing but the words of the question and the objective."""
    parts = without_secrets(plan.as_file())
    del parts["objective"], parts["experiment"]["question"]
    return json.dumps([parts, disturbances], sort_keys=True)
