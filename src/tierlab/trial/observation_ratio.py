"""What watching costs in throughput: watched trials over the same trials unwatched."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tierlab.experiment import TrialPlan
from tierlab.tables import manifest as manifests


@dataclass(frozen=True)
class Outcome:
    """A finished trial: its plan, its folder and its throughput in requests per second."""

    plan: TrialPlan
    folder: Path
    throughput: float


def record_ratios(outcomes: Sequence[Outcome]) -> dict[Path, float]:
    """Write the ratio into every watched trial that has unwatched ones beside it.

    The ratio is the trial's throughput over the median of the unwatched trials that differ from it
    in nothing but ``[observe]`` and the seed. Returns it by folder.
    """
    unwatched: dict[str, list[float]] = {}
    for outcome in outcomes:
        if not _is_watched(outcome.plan):
            unwatched.setdefault(_likeness(outcome.plan), []).append(outcome.throughput)
    ratios = {}
    for outcome in outcomes:
        beside = unwatched.get(_likeness(outcome.plan))
        if beside and _is_watched(outcome.plan) and (base := statistics.median(beside)) > 0:
            ratio = outcome.throughput / base
            manifest = manifests.read(outcome.folder)
            manifest.observation.throughput_ratio = ratio
            manifest.write(outcome.folder)
            ratios[outcome.folder] = ratio
    return ratios


def _is_watched(plan: TrialPlan) -> bool:
    return bool(plan.observe.samplers) or plan.observe.messages


def _likeness(plan: TrialPlan) -> str:
    """Equal for trials that differ only in how they are watched and in their seed."""
    parts = plan.as_file()
    del parts["observe"], parts["experiment"]
    return json.dumps(parts, sort_keys=True)
