"""From the slow requests down to the cause: whom did it delay, and how did the queues grow?"""

from functools import cached_property

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import row
from tierlab.analysis.queues.queue_episodes import QueueEpisode, queue_episodes
from tierlab.diagnosis.finding import Delayed, Link, Window
from tierlab.diagnosis.systems import requests_of

UNUSUAL = 3.0
"""A delayed request took so many times what is usual for its page."""

LEAST_NS = 30_000_000
"""What took less delayed nobody."""

BEFORE_NS = 60_000_000
"""A queue above grows so long before the stall at most: a tick's length, and some."""

SETTLE_NS = 300_000_000
"""Queues above are at their longest, and connections dropped, until shortly after the stall."""


class Chains:
    """Finds the links of any window of one run."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed

    def links(self, window: Window) -> list[Link]:
        """Return the queues' growth in order of their onsets, the furthest from the users first of
        equals, then the connection requests that were dropped.
        """
        topology = self._observed.run.manifest.topology
        depth = {name: topology.depth[tier] for name, tier in topology.tier_of.items()}
        grown = [each for each in self._episodes if _overlaps(each, window)]
        grown.sort(key=lambda each: (each.onset_ns // BEFORE_NS, -depth.get(each.server, 0)))
        links: dict[str, Link] = {}
        for each in grown:
            words = f"{each.server}'s queue grew to {each.peak} (usually {each.normal:.0f})"
            link = _link(each.server, each.onset_ns, window, words)
            links.setdefault(each.server, link)
        return [*links.values(), *self._drops(window)]

    def _drops(self, window: Window) -> list[Link]:
        found = self._observed.retransmitted
        first = found.first_ns
        mine = (first >= window.start_ns - BEFORE_NS) & (first < window.end_ns + SETTLE_NS)
        links = []
        for name in sorted(set(found.server[mine])):
            of = mine & (found.server == name)
            count, worst = int(np.count_nonzero(of)), float(found.waited_ns[of].max()) / 1e9
            words = (
                f"{count} connection requests to {name} were dropped and sent again, "
                f"up to {worst:.1f} s later"
            )
            links.append(_link(str(name), int(first[of].min()), window, words))
        return links

    @cached_property
    def _episodes(self) -> list[QueueEpisode]:
        whole = self._observed.whole
        if whole is None or not self._observed.run.has("visits"):
            return []
        return queue_episodes(self._observed.in_progress, whole)


def _overlaps(episode: QueueEpisode, window: Window) -> bool:
    return (
        episode.onset_ns < max(window.end_ns - BEFORE_NS, window.start_ns + BEFORE_NS)
        and episode.onset_ns >= window.start_ns - BEFORE_NS
    )


def _link(subject: str, at_ns: int, window: Window, words: str) -> Link:
    lag_s = (at_ns - window.start_ns) / 1e9
    return Link(subject=subject, start_ns=at_ns, lag_s=lag_s, words=words)


def delayed(observed: Observed, windows: list[Window]) -> Delayed | None:
    """Count the requests under way in any of the windows that took thrice their page's median."""
    over = observed.very_long
    if over is None or not observed.run.has("requests"):
        return None
    asked = requests_of(observed.run.manifest)
    found = row(
        observed.db,
        f"""WITH usual AS (
            SELECT interaction, median(end_ns - intended_ns) AS usual FROM {asked} GROUP BY ALL
        ), windows AS (
            SELECT unnest($starts::BIGINT[]) AS s, unnest($ends::BIGINT[]) AS e
        ), slow AS (
            SELECT end_ns - intended_ns AS took FROM {asked} JOIN usual USING (interaction)
            WHERE end_ns - intended_ns >= greatest($least, $unusual * usual) AND EXISTS (
                SELECT 1 FROM windows WHERE intended_ns < e AND end_ns > s)
        ) SELECT count(*) AS count, count(*) FILTER (WHERE took > $very_long) AS very_long,
            max(took) / 1e9 AS worst_s FROM slow""",
        {
            "starts": [each.start_ns for each in windows],
            "ends": [each.end_ns for each in windows],
            "least": LEAST_NS,
            "unusual": UNUSUAL,
            "very_long": round(over.seconds * 1e9),
        },
    )
    return Delayed(**found, very_long_from_s=over.seconds)
