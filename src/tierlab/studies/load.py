"""How busy was the system on average?"""

from __future__ import annotations

from tierlab.analysis.resources.resources import resources
from tierlab.studies.measured import Measure, Measured, missing
from tierlab.studies.seen import Seen


def _highest_mean_cpu(seen: Seen) -> Measured:
    cores = [
        each
        for each in resources(seen.observed.db, seen.span)
        if (each.table, each.metric) == ("cpu", "busy")
    ]
    if not cores:
        return missing("no core was sampled")
    most = max(cores, key=lambda each: each.mean)
    return Measured(value=most.mean, words=f"{most.mean:.0%}: {most.subject}, the busiest core")


HIGHEST_MEAN_CPU = Measure(
    "highest mean utilisation of any core that the servers share", (resources,), _highest_mean_cpu
)
