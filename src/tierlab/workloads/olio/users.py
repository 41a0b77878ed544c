"""Who uses Olio and how: the workload description that the driver plays.

Its form is that of `agent/crates/drive/src/workload.rs`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from importlib import resources
from typing import Any

from tierlab.errors import UserError
from tierlab.servers.content import Fidelity
from tierlab.values.quantities import MILLISECOND
from tierlab.workloads.olio import pictures
from tierlab.workloads.olio.operations import CYCLE_NS, states
from tierlab.workloads.olio.population import PEOPLE_PER_USER, Population
from tierlab.workloads.sessions.delay import cycle
from tierlab.workloads.sessions.description import FIDELITIES
from tierlab.workloads.text.dictionary import dictionary

HOME = "HomePage"
MIX = "cloudstone"
CACHED = 0.6
"""The share of the sessions whose browser has the static files from before."""
START_GAP_NS = 100 * MILLISECOND
"""From the start of a user to that of the next, as in the published run."""
NO_LIMIT = 2**32 - 1
"""Of requests of one session: it ends by logging out only."""


def matrix() -> dict[str, dict[str, float]]:
    """The published transition matrix: for each operation the shares of the next ones, 0..1."""
    file = resources.files(__package__) / "mixes" / f"{MIX}.csv"
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    return {
        row.pop("from\\to"): {to: float(percent) / 100 for to, percent in row.items()}
        for row in rows
    }


def users(mix: str, fidelity: Fidelity, population: Population) -> dict[str, Any]:
    """The description of the mix for a data set of this population."""
    if mix != MIX:
        raise UserError(f"load.mix: there is no mix {mix!r}; choose {MIX}")
    if fidelity not in FIDELITIES:
        raise UserError(f"load.fidelity must be one of {', '.join(FIDELITIES)}, not {fidelity!r}")
    return {
        "name": f"olio {mix} {fidelity}",
        "home": HOME,
        "states": states(fidelity, population),
        "sessions": [
            {
                "name": "user",
                "share": 1.0,
                "identity": {
                    # No two users are ever the same person.
                    "numbers": (0, PEOPLE_PER_USER - 1),
                    "stride": population.concurrent,
                    "values": {"user_name": "user{n}", "password": "{n}"},
                },
                "transitions": _walked(matrix()),
            }
        ],
        "delay": cycle(CYCLE_NS),
        "rules": {
            "session_limit": NO_LIMIT,
            "start": {"every": {"gap_ns": START_GAP_NS}},
            "failed_if": "ERROR",
            "after_failure": "next",
            "browser": True,
            # The published client has an event in mind whoever it is logged in as.
            "keep_remembered": True,
            "redirects": "within",
            "cache": {"cached": CACHED, "since": _beginning(population.load_day)},
        },
        "files": [
            {"name": name, "path": str(pictures.folder() / name), "type": kind}
            for name, kind in pictures.UPLOADED.items()
        ],
        "dictionary": list(dictionary().words),
    }


def _walked(rows: Mapping[str, Mapping[str, float]]) -> dict[str, list[tuple[str, float]]]:
    return {
        origin: [(to, share) for to, share in row.items() if share > 0]
        for origin, row in rows.items()
    }


def _beginning(day: date) -> str:
    """A day as HTTP writes it; the published client asks by that of the run."""
    return format_datetime(datetime.combine(day, time(), UTC), usegmt=True)
