"""Do the measurements agree with each other? Little's law, at every server and for the users.

J. D. C. Little, "A Proof for the Queuing Formula: L = λW", Operations Research 9 (1961). It holds
for any steady stretch, whatever the distributions, so a gap means that something was not recorded
or that the load was not steady. A queue length that is added up from the stays themselves can show
the latter only; the servers' own counts of their busy workers show the former.
"""

from collections.abc import Iterable, Mapping
from math import sqrt

from tierlab.analysis.queues.busy_workers import BusyWorkers
from tierlab.analysis.queues.visits import ServerVisits
from tierlab.analysis.requests.responses import Responses
from tierlab.analysis.result import Result

TOLERANCE = 0.02
WORKERS = "busy workers ≤ X·R"


class LawCheck(Result):
    """One check: what was counted, what the law says it should be, and the relative difference.

    It ``holds`` within 2 %, or within three standard errors of a mean of exponential times when so
    few were seen that chance alone does more.
    """

    subject: str
    law: str
    counted: float
    expected: float
    difference: float
    holds: bool


def _check(subject: str, law: str, counted: float, expected: float, seen: int) -> LawCheck:
    difference = (counted - expected) / expected
    return LawCheck(
        subject=subject,
        law=law,
        counted=counted,
        expected=expected,
        difference=difference,
        holds=abs(difference) <= max(TOLERANCE, 3 / sqrt(seen)),
    )


def queue_checks(servers: list[ServerVisits]) -> list[LawCheck]:
    """Compare every server's mean queue length with its throughput times its mean visit time.

    All three are of the visits that left: the law knows nothing of one that never does.
    """
    return [
        _check(
            each.server, "queue = X·R", each.finished_mean, each.rate * each.time.mean_s, each.count
        )
        for each in servers
        if each.time is not None and each.time.mean_s > 0
    ]


def worker_checks(counts: Mapping[str, BusyWorkers]) -> list[LawCheck]:
    """Compare what the servers counted of their busy workers with X·R, of which these are a part.

    It holds where they counted no more: by 2 %, or three standard errors of the difference.
    """
    return [
        LawCheck(
            subject=server,
            law=WORKERS,
            counted=each.counted,
            expected=each.by_visits,
            difference=(each.counted - each.by_visits) / each.by_visits,
            holds=each.counted - each.by_visits <= max(TOLERANCE * each.by_visits, 3 * each.error),
        )
        for server, each in counts.items()
        if each.by_visits > 0
    ]


def not_counted(servers: Iterable[str], counts: Mapping[str, BusyWorkers]) -> dict[str, str]:
    """Return the servers whose queue nothing but messages tells, and why."""
    return {
        f"busy workers of {server}": "it keeps no count of its own that is read, or too few of it"
        for server in servers
        if server not in counts
    }


def users_check(
    found: Responses | None,
    seconds: float,
    users: int | None,
    think_s: float | None,
    thought: float | None,
) -> LawCheck | None:
    """Compare the number of users of a closed loop with X·(R + Z).

    X and R are of all requests that ended in those ``seconds``. Z is the mean think time that the
    users were told to take, times the share of the requests before which they ``thought``: rules
    may spare the think time, as after a failure. None for an open loop.
    """
    if found is None or users is None or think_s is None or thought is None:
        return None
    cycle_s = found.mean_all_s + think_s * thought
    expected = found.count / seconds * cycle_s
    return (
        _check("users", "N = X·(R + Z)", float(users), expected, found.count) if expected else None
    )
