"""Where did a very long request's seconds go? To the retransmission, the visit and the image.

J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud Environments" (PhD
thesis, Georgia Institute of Technology, 2016), section 4.3, infers from queue peaks that dropped
packets made its VLRT requests. Here each one is taken apart: from when its user meant to click, the
driver's lateness, the wait for retransmitted SYNs, the page's visit and the visits of its images,
one exchange after the other as the driver fetches them. What is left is the network, the handshakes
and the client.

The requests' table holds no connection, so visits are found by time: the driver notes
``connected_ns`` right after it sent the page's request, so its visit is one of the last that
arrived before; its reply's first byte came just before ``first_byte_ns``. An image's visit departed
just before the page was complete, or just before the next image was asked for.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tierlab.analysis.query import IN_SPAN, Bools, Connection, Ints, bounds, columns
from tierlab.analysis.requests.dropped import retransmitted
from tierlab.analysis.requests.responses import RESPONSE_NS
from tierlab.analysis.span import Span

WITHIN_NS = 5_000_000
"""A request is explained when all but so much of its response time is accounted for."""

_NEAR = 16
_LOOK_BACK = 64
_IMAGES = 8
_CLOSE_NS = 1_000_000
_LATE_NS = 50_000_000
_NEVER = np.int64(1) << 62


@dataclass(frozen=True)
class Explained:
    """Very long requests, one an element, with the parts of their response times in ns.

    ``late_ns`` is the driver's lateness, ``retransmission_ns`` the waits for SYNs sent again,
    ``page_ns`` and ``images_ns`` the visits at the entry servers, ``client_ns`` how long the page's
    reply had left before the driver noted its first byte, ``rest_ns`` what remains.
    ``page_visit`` is the number of the page's visit, -1 where none was found.
    """

    intended_ns: Ints
    end_ns: Ints
    interaction: npt.NDArray[np.object_]
    page_visit: Ints
    late_ns: Ints
    retransmission_ns: Ints
    page_ns: Ints
    client_ns: Ints
    images_ns: Ints
    images: Ints

    @property
    def response_ns(self) -> Ints:
        """How long their users waited."""
        return self.end_ns - self.intended_ns

    @property
    def rest_ns(self) -> Ints:
        """What no part accounts for: handshakes, network and client."""
        parts = self.late_ns + self.retransmission_ns + self.page_ns + self.client_ns
        return self.response_ns - parts - self.images_ns

    @property
    def explained(self) -> Bools:
        """Whether the parts make up the response time."""
        return np.asarray(np.abs(self.rest_ns) <= WITHIN_NS)


@dataclass(frozen=True)
class _Visits:
    """The entry servers' visits by arrival; ``waited_ns`` is for a SYN that was sent again."""

    visit: Ints
    arrival_ns: Ints
    reply_ns: Ints
    departure_ns: Ints
    waited_ns: Ints

    def asked_ns(self) -> Ints:
        """When the connection of each was asked for, as far as a retransmission tells."""
        return self.arrival_ns - self.waited_ns

    def by_departure(self) -> "_Visits":
        order = np.argsort(self.departure_ns, kind="stable")
        return _Visits(
            self.visit[order],
            self.arrival_ns[order],
            self.reply_ns[order],
            self.departure_ns[order],
            self.waited_ns[order],
        )


def explain(
    db: Connection, span: Span, entry: list[str], threshold_s: float = 2.0
) -> Explained | None:
    """Take the requests apart that ended in the span after more than ``threshold_s``.

    ``entry`` are the servers that users call. None where no visits were seen there.
    """
    visits = _entry_visits(db, span, entry)
    if visits is None:
        return None
    found = columns(
        db,
        f"""SELECT intended_ns, start_ns, end_ns, interaction,
            coalesce(connected_ns, -1) AS connected_ns, coalesce(first_byte_ns, -1) AS first_byte_ns
            FROM requests WHERE end_ns {IN_SPAN} AND {RESPONSE_NS} > $threshold
            ORDER BY intended_ns, end_ns""",
        {**bounds(span), "threshold": round(threshold_s * 1e9)},
    )
    end_ns = found["end_ns"]
    page = _page(visits, found)
    known = page >= 0
    index = np.maximum(page, 0)
    left = np.minimum(visits.departure_ns[index], end_ns)
    read = np.clip(found["first_byte_ns"], left, end_ns)
    page_end = np.where(known, read, end_ns)
    waited = np.where(known, visits.waited_ns[index], 0)
    waited = np.where(known, waited, _never_connected(db, span, entry, found))
    images_ns, image_waits, images = _images(visits.by_departure(), page_end, end_ns, known)
    return Explained(
        intended_ns=found["intended_ns"],
        end_ns=end_ns,
        interaction=found["interaction"].astype(object),
        page_visit=np.where(known, visits.visit[index], -1),
        late_ns=found["start_ns"] - found["intended_ns"],
        retransmission_ns=waited + image_waits,
        page_ns=np.where(known, left - visits.arrival_ns[index], 0),
        client_ns=np.where(known, read - left, 0),
        images_ns=images_ns,
        images=images,
    )


def _entry_visits(db: Connection, span: Span, entry: list[str]) -> _Visits | None:
    found = columns(
        db,
        """SELECT visit, list_position($entry::VARCHAR[], server)::UTINYINT AS server,
            connection, arrival_ns,
            coalesce(reply_start_ns, departure_ns, $never) AS reply_ns,
            coalesce(departure_ns, $never) AS departure_ns
            FROM visits WHERE list_contains($entry::VARCHAR[], server) AND arrival_ns < $end
            ORDER BY arrival_ns""",
        {"entry": entry, "end": span.end_ns, "never": int(_NEVER)},
    )
    if not found["visit"].size:
        return None
    waited = np.zeros(found["visit"].size, dtype=np.int64)
    dropped = retransmitted(db, Span(0, int(_NEVER)))
    for number, server in enumerate(entry, start=1):
        mine = dropped.server == server
        if not mine.any():
            continue
        connections, waits = dropped.connection[mine], dropped.waited_ns[mine]
        order = np.argsort(connections)
        rows = np.flatnonzero(found["server"] == number)
        _, first = np.unique(found["connection"][rows], return_index=True)
        rows = rows[first]  # on a kept connection only the first visit waited for it
        at = np.searchsorted(connections[order], found["connection"][rows])
        at = np.minimum(at, connections.size - 1)
        same = connections[order][at] == found["connection"][rows]
        waited[rows[same]] = waits[order][at[same]]
    return _Visits(
        found["visit"], found["arrival_ns"], found["reply_ns"], found["departure_ns"], waited
    )


def _page(visits: _Visits, found: dict[str, Ints]) -> Ints:
    """Return the position of each request's page visit, -1 where none fits.

    Of the visits that arrived around ``connected_ns`` (or ``start_ns`` on a kept connection) the
    one whose connection was asked for closest to ``start_ns`` and whose reply began closest to
    ``first_byte_ns``; without a reply, one that was not answered before the request ended.
    """
    connected, first_byte = found["connected_ns"], found["first_byte_ns"]
    sent = np.where(connected >= 0, connected, found["start_ns"])
    middle = np.searchsorted(visits.arrival_ns, sent, side="right")
    near = middle[:, None] + np.arange(-_NEAR, _NEAR)
    valid = (near >= 0) & (near < visits.visit.size)
    near = np.clip(near, 0, visits.visit.size - 1)
    apart = np.abs(visits.arrival_ns[near] - sent[:, None])
    reply = visits.reply_ns[near]
    answered = (first_byte >= 0)[:, None]
    off = np.where(answered, np.abs(first_byte[:, None] - reply), 0)
    fits = np.where(answered, True, reply >= found["end_ns"][:, None])
    valid &= fits & (apart <= _LATE_NS) & (off <= _LATE_NS)
    valid &= (connected >= 0)[:, None] | answered
    since = np.abs(visits.asked_ns()[near] - found["start_ns"][:, None])
    # A starved driver reads late, by tens of milliseconds; that must not weigh more than the rest.
    late = np.minimum(off, _CLOSE_NS) + off // 50
    cost = np.where(valid, apart + since + late, _NEVER)
    best = cost.argmin(axis=1)
    rows = np.arange(best.size)
    return np.where(cost[rows, best] < _NEVER, near[rows, best], -1)


def _never_connected(db: Connection, span: Span, entry: list[str], found: dict[str, Ints]) -> Ints:
    """Return how long requests that never got a connection kept asking for one: those whose SYN
    went out when they started and was sent again until they gave up.
    """
    dropped = retransmitted(db, Span(span.start_ns, int(_NEVER)))
    asked = np.sort(dropped.first_ns[np.isin(dropped.server, entry)])
    start, waited = found["start_ns"], np.zeros(found["start_ns"].size, dtype=np.int64)
    if asked.size:
        at = np.searchsorted(asked, start)
        for near in (at - 1, at):
            close = asked[np.clip(near, 0, asked.size - 1)]
            same = (np.abs(close - start) <= _CLOSE_NS) & (found["connected_ns"] < 0)
            waited = np.where(same, found["end_ns"] - close, waited)
    return waited


def _images(visits: _Visits, from_ns: Ints, end_ns: Ints, known: Bools) -> tuple[Ints, Ints, Ints]:
    """Follow each page's images from its end back to the page's departure: the sum of their visits,
    of their waits for retransmitted SYNs, and how many there were.

    Of the visits that departed just before, the one that was asked for soonest after the page.
    """
    spent, waits, number = (np.zeros(end_ns.size, dtype=np.int64) for _ in range(3))
    until, asked = end_ns.copy(), visits.asked_ns()
    for _ in range(_IMAGES):
        open_ = known & (until - from_ns > _CLOSE_NS // 5)
        if not open_.any():
            break
        last = np.searchsorted(visits.departure_ns, until, side="right")
        near = last[:, None] - 1 - np.arange(_LOOK_BACK)
        valid = (near >= 0) & open_[:, None]
        near = np.clip(near, 0, visits.visit.size - 1)
        before = until[:, None] - visits.departure_ns[near]
        gap = asked[near] - from_ns[:, None]
        valid &= (before <= 4 * WITHIN_NS) & (gap >= -_CLOSE_NS // 5)
        least = np.where(valid, before, _NEVER).min(axis=1)
        valid &= before <= least[:, None] + _CLOSE_NS
        cost = np.where(valid, before + np.abs(gap), _NEVER)
        best = cost.argmin(axis=1)
        rows = np.arange(best.size)
        took = cost[rows, best] < _NEVER
        chosen = near[rows, best]
        spent += np.where(took, visits.departure_ns[chosen] - visits.arrival_ns[chosen], 0)
        waits += np.where(took, visits.waited_ns[chosen], 0)
        number += took
        until = np.where(took, asked[chosen], from_ns)
    return spent, waits, number
