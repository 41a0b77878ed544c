"""A trial's answer as JSON: figures, findings and folder."""

from pathlib import Path

from tierlab.analysis.summary import Summary
from tierlab.diagnosis import Diagnosis, Finding
from tierlab.diagnosis.finding import Verdict


class Reported(Summary):
    """A trial's figures, why some requests took long, and the run folder that holds all of it."""

    folder: str
    verdict: Verdict
    findings: list[Finding]


def reported(summary: Summary, found: Diagnosis, folder: Path) -> Reported:
    """Put a trial's figures and findings in one object."""
    return Reported(
        **dict(summary), folder=str(folder), verdict=found.verdict, findings=found.findings
    )
