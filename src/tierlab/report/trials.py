"""What there is: an experiment's trials, each with its levels, its end, its figures and findings.

Read from the files of each run folder that its last report left, so that a list of hundreds of
trials takes no analysis: figures of whichever version made that, findings of this one's rules.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tierlab.analysis.requests.distribution import Distribution
from tierlab.analysis.result import Result
from tierlab.analysis.summary import Summary
from tierlab.diagnosis import Diagnosis
from tierlab.errors import UserError
from tierlab.report.stored import stored_diagnosis, summary_of_any_version
from tierlab.tables import manifest as manifests
from tierlab.tables.manifest import Manifest


class Found(Result):
    """A finding in short."""

    cause: str
    subject: str
    confidence: float
    words: str


class Trial(Result):
    """A trial in a line. Figures and findings are None where no report was made of it, and findings
    where that was by another version.

    ``factors`` are its levels; ``requests`` ended in the stretch that the figures cover, and
    ``failed`` of them failed; ``very_long`` is the share that took over ``very_long_from_s``.
    """

    experiment: str
    trial: str
    folder: str
    question: str | None
    environment: str
    created_ns: int
    factors: dict[str, Any]
    seed: int | None
    state: str
    error: str | None
    throughput: float | None
    time: Distribution | None
    requests: int | None
    failed: int | None
    very_long: float | None
    very_long_from_s: float | None
    verdict: str | None
    findings: list[Found] | None


def experiments(folder: Path) -> list[Path]:
    """Return the experiments' folders in a folder of runs, or the folder itself if it is one's.

    Raises :class:`UserError` when there is no trial in it.
    """
    if any(folder.glob(f"*/{manifests.NAME}")):
        return [folder]
    found = sorted({each.parent.parent for each in folder.glob(f"*/*/{manifests.NAME}")})
    if not found:
        raise UserError(
            f"{folder}: has no run folders; `tierlab run FILE` makes some, and --runs names where"
            " they are."
        )
    return found


def run_folders(experiment: Path) -> list[Path]:
    """Return the run folders of an experiment, in the order in which they were made."""
    found = [each.parent for each in experiment.glob(f"*/{manifests.NAME}")]
    return sorted(found, key=lambda each: (len(each.name), each.name))


def trials(experiment: Path) -> list[Trial]:
    """Return the trials of an experiment; those whose manifest cannot be read are left out."""
    found = []
    for folder in run_folders(experiment):
        try:
            manifest = manifests.read(folder)
        except UserError:
            continue
        summary = summary_of_any_version(folder)
        found.append(trial(folder, manifest, summary, stored_diagnosis(folder)))
    return found


def trial(
    folder: Path, manifest: Manifest, summary: Summary | None, found: Diagnosis | None
) -> Trial:
    """Put a trial in a line."""
    responses = None if summary is None else summary.responses
    very_long = None if summary is None else summary.very_long
    return Trial(
        experiment=manifest.experiment,
        trial=manifest.trial,
        folder=str(folder),
        question=manifest.question,
        environment=manifest.environment,
        created_ns=manifest.created_ns,
        factors=manifest.factors,
        seed=manifest.seeds.get("trial"),
        state=manifest.exit.state,
        error=manifest.exit.error,
        throughput=None if responses is None else responses.throughput,
        time=None if responses is None else responses.time,
        requests=None if responses is None else responses.count,
        failed=None if responses is None else responses.failed,
        very_long=None if very_long is None else very_long.share,
        very_long_from_s=None if very_long is None else very_long.threshold_s,
        verdict=None if found is None else found.verdict,
        findings=None if found is None else [_short(each) for each in found.findings],
    )


def _short(finding: Any) -> Found:
    return Found(
        cause=finding.cause,
        subject=finding.subject,
        confidence=finding.confidence,
        words=finding.words,
    )


def factors(of: Sequence[Trial]) -> list[str]:
    """Return the factors' keys of trials, in the order in which they were first seen."""
    return list(dict.fromkeys(key for each in of for key in each.factors))
