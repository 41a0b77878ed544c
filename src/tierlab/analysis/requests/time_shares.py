"""In which tier did a request's time go?"""

from dataclasses import dataclass

from tierlab.analysis.calls import Call, Stays, calls, stays
from tierlab.analysis.query import IN_SPAN, Connection, bounds, row
from tierlab.analysis.requests.responses import RESPONSE_NS
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.topology.topology import depths


class TierTime(Result):
    """A tier's own time: its visits' stays without the stays of the visits that they caused.

    ``depth`` is 0 for the tier that users call, 1 for those it calls, and so on. ``per_request_s``
    is own time divided by the requests, ``per_visit_s`` by the tier's visits.
    """

    tier: str
    depth: int
    servers: list[str]
    visits: int
    own_s: float
    share: float
    per_visit_s: float
    per_request_s: float | None


class TimeShares(Result):
    """How the requests' time divides; the shares of all tiers and the remainder sum to 1.

    ``total_s`` is the sum of the response times of all requests that ended in the span. What is
    left when all tiers' own time is taken away was spent in the network, in accept queues and in
    the driver: ``remainder_share``. It is None, and ``total_s`` the sum of the tiers' own time,
    when the requests were not recorded or overlap (a page's images fetched side by side).
    ``own_per_visit_s`` is each server's mean own time.
    """

    total_s: float
    tiers: list[TierTime]
    remainder_s: float | None
    remainder_share: float | None
    own_per_visit_s: dict[str, float]

    def position(self, server: str) -> tuple[int, str]:
        """Return what sorts servers from the users on; one that was not seen comes last."""
        depth = next((each.depth for each in self.tiers if server in each.servers), len(self.tiers))
        return depth, server


def time_shares(db: Connection, span: Span, tier_of: dict[str, str]) -> TimeShares | None:
    """Divide the requests' time by tier; None when no visit left a server in the span.

    ``tier_of`` names each server's tier; a server it does not name is a tier of its own. A visit's
    own time is its stay minus its children's: over a whole tree they sum to the first visit's stay.
    What a child does after its caller's reply is its own time, too, and comes on top of that.
    """
    found = stays(db, span)
    edges = calls(db, span, [each.server for each in found])
    seen = {each.server for each in found if each.count} | {call.callee for call in edges}
    found = [each for each in found if each.server in seen]
    if not found:
        return None
    own = own_ns(found, edges)
    requests = row(
        db,
        f"""SELECT count(*) AS count, coalesce(sum({RESPONSE_NS}), 0)::BIGINT AS total_ns
            FROM requests WHERE end_ns {IN_SPAN}""",
        bounds(span),
    )
    inside = sum(own.values())
    remainder = requests["total_ns"] - inside
    total = requests["total_ns"] if remainder >= 0 else inside
    tier = {each.server: tier_of.get(each.server, each.server) for each in found}
    depth = depths(set(tier.values()), {(tier[call.caller], tier[call.callee]) for call in edges})
    return TimeShares(
        total_s=total / 1e9,
        tiers=[
            _tier(
                name,
                depth[name],
                [each for each in found if tier[each.server] == name],
                own,
                _Asked(requests["count"], total),
            )
            for name in sorted(depth, key=lambda name: (depth[name], name))
        ],
        remainder_s=remainder / 1e9 if remainder >= 0 else None,
        remainder_share=remainder / total if remainder >= 0 and total else None,
        own_per_visit_s={
            each.server: own[each.server] / each.count / 1e9 for each in found if each.count
        },
    )


@dataclass(frozen=True)
class _Asked:
    """The requests, and the time that is divided."""

    requests: int
    total_ns: int


def own_ns(found: list[Stays], edges: list[Call]) -> dict[str, int]:
    """Return each server's own time: its visits' stays minus those of the visits they caused."""
    own = {each.server: each.total_ns for each in found}
    for call in edges:
        own[call.caller] -= call.total_ns
    return own


def _tier(
    name: str, depth: int, found: list[Stays], own: dict[str, int], asked: _Asked
) -> TierTime:
    mine = sum(own[each.server] for each in found)
    visits = sum(each.count for each in found)
    return TierTime(
        tier=name,
        depth=depth,
        servers=[each.server for each in found],
        visits=visits,
        own_s=mine / 1e9,
        share=mine / asked.total_ns if asked.total_ns else 0.0,
        per_visit_s=mine / visits / 1e9 if visits else 0.0,
        per_request_s=mine / asked.requests / 1e9 if asked.requests else None,
    )
