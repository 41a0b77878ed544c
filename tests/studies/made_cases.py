"""Trials of a study whose runs are given, so that every value is known beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tierlab.analysis.comparing.blocks import Blocks
from tierlab.studies.cases import Case, Trial
from tierlab.tables.manifest import Degree, Manifest, ServerPart

SECOND = 1_000_000_000

SUBJECT = "web.1"


def trial(
    per_second: Sequence[float],
    dnu: Sequence[tuple[int, float]] = (),
    *,
    response_s: float = 0.01,
    cpu_s: float | None = None,
) -> Trial:
    """One with so many requests in each second, and a DNU from each of those seconds on."""
    done = np.asarray(per_second, np.float64)
    manifest = Manifest(
        experiment="x",
        trial="001",
        environment="native",
        workload="static",
        created_ns=0,
        dnu={SUBJECT: [Degree(from_ns=at * SECOND, dnu=value) for at, value in dnu]},
        servers={
            SUBJECT: ServerPart(
                tier="web", server="httpd", address="127.0.0.1", port=1, protocol="http"
            )
        },
    )
    cut = Blocks(
        seconds=1.0,
        done=done,
        failed=np.zeros(done.size),
        time_s=done * response_s,
        times={},
        cpu_s={} if cpu_s is None else {SUBJECT: done * cpu_s},
        major_faults={},
        driver_s=None,
    )
    return Trial(manifest, cut)


def placed(name: str, dnu: float, runs: Sequence[float]) -> Case:
    """A case of one trial whose runs last a second."""
    return Case(name, {}, {"k": name}, [trial(runs, [(0, dnu)])], 1.0)


def environment(name: str, made: Trial) -> Case:
    """The case of one environment."""
    return Case(name, {}, {"system.environment": name}, [made], None)
