"""What several measures of one run need, each found once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import IN_SPAN, Floats, Ints, bounds, columns
from tierlab.analysis.queues.queue_episodes import QueueEpisode, queue_episodes
from tierlab.analysis.requests.modes import Modes, modes
from tierlab.analysis.requests.slow_requests import (
    SlowCluster,
    SlowRequests,
    clusters,
    slow_requests,
)
from tierlab.analysis.requests.two_modes import TwoModes, two_modes
from tierlab.analysis.resources.saturation import Saturation, saturations
from tierlab.analysis.resources.utilisation import on_grid, utilisations
from tierlab.analysis.span import Span
from tierlab.diagnosis import Diagnosis, diagnose
from tierlab.diagnosis.incidents import Incident, incidents
from tierlab.diagnosis.run_stalls import run_stalls

CLUSTER = 5
"""Fewer very long requests together are no cluster."""

_READ_BACK = "coalesce(refaults, major_faults)"


@dataclass(frozen=True)
class Seen:
    """A run with the stretch that its figures cover."""

    observed: Observed
    span: Span

    @cached_property
    def modes(self) -> Modes | None:
        """The modes of the response times."""
        return modes(self.observed.db, self.span)

    @cached_property
    def slow(self) -> SlowRequests | None:
        """The very long requests."""
        return slow_requests(self.observed.db, self.span, self.modes)

    @cached_property
    def clusters(self) -> list[SlowCluster]:
        """The clusters of very long requests."""
        found = clusters(self.slow.very_long) if self.slow is not None else []
        return [each for each in found if each.count >= CLUSTER]

    @cached_property
    def episodes(self) -> list[QueueEpisode]:
        """Every server's queue episodes."""
        return queue_episodes(self.observed.in_progress, self.span)

    @cached_property
    def incidents(self) -> list[Incident]:
        """The stalls that belong together, with their roots."""
        observed = self.observed
        return incidents(run_stalls(observed, self.span), observed.run.manifest.topology)

    @cached_property
    def saturations(self) -> list[Saturation]:
        """The windows in which a resource was at its limit."""
        observed = self.observed
        manifest = observed.run.manifest
        return saturations(observed.db, manifest, self.span, observed.in_progress)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """What the diagnosis finds by itself."""
        return diagnose(self.observed)

    @cached_property
    def two_modes(self) -> TwoModes | None:
        """The congested and the normal mode; None for a run of one."""
        return two_modes(self.observed.db, self.span)

    def tier(self, server: str) -> str:
        """Return a server's tier."""
        part = self.observed.run.manifest.servers.get(server)
        return part.tier if part is not None else server.rsplit(".", 1)[0]

    @property
    def tiers(self) -> set[str]:
        """The tiers whose messages were seen."""
        return {self.tier(name) for name in self.observed.in_progress}

    @property
    def databases(self) -> list[str]:
        """The databases, by name: the servers that call nobody."""
        topology = self.observed.run.manifest.topology
        return sorted(name for name in topology.tier_of if not topology.callees(name))

    @property
    def database_tiers(self) -> set[str]:
        """Their tiers."""
        return {self.tier(name) for name in self.databases}

    def edges(self, width_ns: int) -> Ints:
        """Return the edges of the windows of that width in the stretch."""
        count = self.span.duration_ns // width_ns
        return self.span.start_ns + width_ns * np.arange(count + 1, dtype=np.int64)

    def iowait(self, width_ns: int) -> Floats | None:
        """Return, window by window, the highest share of any core's time in iowait; None where it
        was not measured. (One core waits for a disk while the others have work or none.)
        """
        shares = utilisations(self.observed.db, self.observed.run.manifest, self.span, width_ns)
        found = [values for name, values in shares.items() if name.endswith(" iowait")]
        known = [values for values in found if not np.isnan(values).all()]
        return np.fmax.reduce(known) if known else None

    def faults(self, width_ns: int) -> Floats | None:
        """Return how many pages the databases read back a second, window by window; None where it
        was not measured.

        A page that was dropped and is wanted again is a refault. Major faults, taken where those
        are not counted, are fewer: the kernel reads around the page that it was asked for.
        """
        found = columns(
            self.observed.db,
            f"""SELECT t_ns, max(dt_ns) AS dt_ns, sum({_READ_BACK} * 1e9 / dt_ns)::DOUBLE AS rate
                FROM domain WHERE list_contains($databases::VARCHAR[], subject) AND dt_ns > 0
                AND {_READ_BACK} IS NOT NULL AND t_ns {IN_SPAN} GROUP BY t_ns ORDER BY t_ns""",
            {**bounds(self.span), "databases": self.databases},
        )
        if not found["t_ns"].size:
            return None
        return on_grid(found["t_ns"], found["dt_ns"], found["rate"], self.edges(width_ns))
