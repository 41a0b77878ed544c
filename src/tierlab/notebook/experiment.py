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
    ``created`` (UTC), ``error`` and ``folder``. What was not measured is missing, never zero.

    Raises :class:`UserError` when there is no run folder in ``path``.
    """
    folders = run_folders(Path(path))
    if not folders:
        raise UserError(
            f"{path}: has no run folders; name an experiment's folder such as runs/quickstart."
        )
    return pd.DataFrame([_row(_trial(folder)) for folder in folders])


def _trial(folder: Path) -> Trial:
    run = OpenedRun(folder)
    return trial(folder, run.manifest, run.summary, run.diagnosis)


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
