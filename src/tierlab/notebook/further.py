"""Analyses of a run that its report does not show, as a notebook asks for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from tierlab.analysis.observed import Observed
from tierlab.analysis.queues.congestion_point import CongestionPoint, congestion_points
from tierlab.analysis.queues.waits import PARTS as VISIT_PARTS
from tierlab.analysis.queues.waits import ServerWaits
from tierlab.analysis.queues.work_units import work_done
from tierlab.analysis.requests.explain_request import explain
from tierlab.analysis.resources.alternating import Alternation, alternations
from tierlab.analysis.resources.utilisation import utilisations
from tierlab.analysis.span import WINDOW_NS

PARTS = ("response", "late", "retransmission", "page", "client", "images", "rest")


def long_requests(observed: Observed) -> pd.DataFrame:
    """Return a row for each request that took very long, with where its seconds went: ``end_time``,
    ``interaction``, ``response_s`` and its parts, ``late_s`` (the driver's lateness),
    ``retransmission_s``, ``page_s`` and ``images_s`` (at the servers that users call), ``client_s``
    and ``rest_s``. No rows where there is none, or no visits were traced.
    """
    threshold = observed.very_long
    entry = observed.run.manifest.topology.entries
    found = (
        explain(observed.db, observed.measured, entry, threshold.seconds)
        if observed.measured is not None and threshold is not None and observed.run.has("visits")
        else None
    )
    if found is None:
        return pd.DataFrame(columns=["end_time", "interaction", *(f"{part}_s" for part in PARTS)])
    return pd.DataFrame(
        {
            "end_time": pd.to_datetime(found.end_ns, unit="ns", utc=True),
            "interaction": found.interaction,
        }
        | {f"{part}_s": getattr(found, f"{part}_ns") / 1e9 for part in PARTS}
    )


def congestion(observed: Observed) -> list[CongestionPoint]:
    """Return from which load on each server finishes no more work; none without visits."""
    span = observed.measured
    if span is None or not observed.in_progress:
        return []
    edge_ns = span.start_ns + WINDOW_NS * np.arange(span.duration_ns // WINDOW_NS + 1)
    load = {name: each.mean(edge_ns) for name, each in observed.in_progress.items()}
    return congestion_points(work_done(observed.db, span, load))


def turns(observed: Observed) -> list[Alternation]:
    """Return, of every two resources that are busy at times, whether they take turns in it."""
    if observed.measured is None:
        return []
    return alternations(utilisations(observed.db, observed.run.manifest, observed.measured))


def waits(found: Iterable[ServerWaits]) -> pd.DataFrame:
    """Return what visits waited for, a row for ``all`` and for the ``slowest`` of each server.

    Columns: ``server``, ``of`` (``all`` or ``slowest``), ``visits`` (how many have parts),
    ``mean_s``, the mean of each part (``queued_s``, ``cpu_s`` ... ``sending_s``),
    ``measured_share`` (of all visits), ``other_call`` and ``why``. A server without parts has one
    row, with ``why`` and no figures.
    """
    columns = ["server", "of", "visits", "mean_s", *(f"{name}_s" for name in VISIT_PARTS)]
    columns += ["measured_share", "other_call", "why"]
    rows: list[dict[str, Any]] = []
    for each in found:
        known = each.model_dump(include={"server", "measured_share", "other_call", "why"})
        if each.all is None:
            rows.append({**known, "of": "all", "visits": 0})
        for of, waiting in (("all", each.all), ("slowest", each.slowest)):
            if waiting is None:
                continue
            parts = {f"{part.name}_s": part.mean_s for part in waiting.parts}
            figures = {"of": of, "visits": waiting.visits, "mean_s": waiting.mean_s}
            rows.append({**known, **figures, **parts})
    return pd.DataFrame(rows, columns=columns)
