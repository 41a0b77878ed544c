"""An experiment in a notebook: one frame of factors, figures and findings over all its trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from tierlab.errors import UserError
from tierlab.notebook.run import OpenedRun
from tierlab.report.trials import Trial, run_folders, trial


def opened_experiment(path: str | Path) -> pd.DataFrame:
    """Return a frame with a row for each trial, in the order in which they were run.

    Columns: ``trial``, ``state``, each factor by its dotted key, ``throughput`` (requests/s),
    ``mean_s``, ``p50_s``, ``p90_s``, ``p95_s``, ``p99_s``, ``p999_s`` and ``max_s`` (response
    times in seconds), ``requests``, ``failed``, ``very_long`` (a share), ``findings`` (how many),
    ``cause``, ``subject``, ``confidence`` and ``words`` of the first finding, ``seed``,
    ``created`` (UTC), ``error`` and ``folder``. What was not measured is missing, never zero; so is
    what cannot be read, with the reason as ``error``. A trial that was killed is finished first.

    Raises :class:`UserError` when there is no run folder in ``path``.
    """
    folders = run_folders(Path(path))
    if not folders:
        raise UserError(
            f"{path}: has no run folders; name an experiment's folder such as runs/quickstart."
        )
    rows = [_told(folder) for folder in folders]
    # Who can be read has the factors, in whose place they are to be.
    whole_first = sorted(rows, key=lambda row: row["state"] is None)
    return pd.DataFrame(rows, columns=[*dict.fromkeys(key for row in whole_first for key in row)])


def _told(folder: Path) -> dict[str, Any]:
    try:
        return _row(_trial(OpenedRun(folder)))
    except UserError as error:
        nothing: dict[str, Any] = dict.fromkeys(("trial", "state", *FIGURES))
        return nothing | {"trial": folder.name, "error": str(error), "folder": str(folder)}


def _trial(run: OpenedRun) -> Trial:
    try:
        return trial(run.path, run.manifest, run.summary, run.diagnosis)
    except UserError as error:
        unread = trial(run.path, run.manifest, None, None)
        return unread.model_copy(update={"error": unread.error or str(error)})


def _row(it: Trial) -> dict[str, Any]:
    times = {} if it.time is None else it.time.model_dump(exclude={"count"})
    first = it.findings[0] if it.findings else None
    return {
        "trial": it.trial,
        "state": it.state,
        **it.factors,
        "throughput": it.throughput,
        **{name: times.get(name) for name in TIMES},
        "requests": it.requests,
        "failed": it.failed,
        "very_long": it.very_long,
        "findings": None if it.findings is None else len(it.findings),
        "cause": None if first is None else first.cause,
        "subject": None if first is None else first.subject,
        "confidence": None if first is None else first.confidence,
        "words": None if first is None else first.words,
        "seed": it.seed,
        "created": pd.Timestamp(it.created_ns, unit="ns", tz="UTC"),
        "error": it.error,
        "folder": it.folder,
    }


TIMES = ("mean_s", "p50_s", "p90_s", "p95_s", "p99_s", "p999_s", "max_s")
FIGURES = (
    *("throughput", *TIMES, "requests", "failed", "very_long", "findings"),
    *("cause", "subject", "confidence", "words", "seed", "created"),
)
