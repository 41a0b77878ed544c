"""A trial's figures and findings as its last report left them in the run folder.

They are of the version that made the report: another's are computed anew.
"""

import json
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from tierlab.analysis.result import Result
from tierlab.analysis.summary import Summary
from tierlab.diagnosis import Diagnosis
from tierlab.report.replace import replace
from tierlab.tables.folder import FINDINGS, SUMMARY

BY = "tierlab"
"""Under this the files have which version they are of; older ones have no such key."""
RULES = ("analysis", "diagnosis", "tables", "topology")
"""The packages that figures and findings come from."""

Stored = TypeVar("Stored", bound=Result)


def store(summary: Summary, folder: Path) -> None:
    """Replace ``folder/summary.json`` in one step; `UserError` when it cannot be written."""
    _store(summary, folder / SUMMARY)


def store_diagnosis(found: Diagnosis, folder: Path) -> None:
    """Do the same with ``folder/findings.json``."""
    _store(found, folder / FINDINGS)


def stored_summary(folder: Path) -> Summary | None:
    """Return the figures; None where no report was made, or one by another version."""
    return _current(folder / SUMMARY, Summary)


def summary_of_any_version(folder: Path) -> Summary | None:
    """Return the figures, by whichever rules; None where there are none that can be read."""
    found = _read(folder / SUMMARY, Summary)
    return None if found is None else found[1]


def stored_diagnosis(folder: Path) -> Diagnosis | None:
    """Return the findings; None where no report was made, or one by another version."""
    return _current(folder / FINDINGS, Diagnosis)


@cache
def this_version() -> str:
    """Return Tierlab's version with a digest of its rules, which change between releases too."""
    rooms = (Path(__file__).parents[1] / name for name in RULES)
    files = sorted(file for room in rooms for file in room.rglob("*.py"))
    digest = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    return f"{version('tierlab')}+{digest[:12]}"


def _store(result: Result, file: Path) -> None:
    told = {BY: this_version()} | json.loads(result.model_dump_json())
    replace(file, json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def _current(file: Path, kind: type[Stored]) -> Stored | None:
    found = _read(file, kind)
    return None if found is None or found[0] != this_version() else found[1]


def _read(file: Path, kind: type[Stored]) -> tuple[str | None, Stored] | None:
    """Return by which version it is, and what it holds."""
    try:
        told = json.loads(file.read_bytes())
        if not isinstance(told, dict):
            return None
        by = told.pop(BY, None)
        return by, kind.model_validate_json(json.dumps(told))
    except (OSError, ValueError):
        return None
