"""A trial's figures and findings as its last report left them in the run folder."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from tierlab.analysis.summary import Summary
from tierlab.diagnosis import Diagnosis
from tierlab.report.diagnosis import NAME as FINDINGS
from tierlab.report.replace import replace

SUMMARY = "summary.json"

Stored = TypeVar("Stored", bound=BaseModel)


def store(summary: Summary, folder: Path) -> None:
    """Replace ``folder/summary.json`` in one step; `UserError` when it cannot be written."""
    replace(folder / SUMMARY, summary.model_dump_json(indent=1) + "\n")


def stored_summary(folder: Path) -> Summary | None:
    """Return the figures; None where no report was made, or one by another version."""
    return _read(folder / SUMMARY, Summary)


def stored_diagnosis(folder: Path) -> Diagnosis | None:
    """Return the findings; None where no report was made, or one by another version."""
    return _read(folder / FINDINGS, Diagnosis)


def _read(file: Path, kind: type[Stored]) -> Stored | None:
    try:
        return kind.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None
