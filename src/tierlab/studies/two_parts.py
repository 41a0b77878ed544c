"""Had the run a congested and a normal mode, and what told them apart?

J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud Environments" (PhD
thesis, Georgia Institute of Technology, 2016), figures 15 to 17 and 21.
"""

from __future__ import annotations

import numpy as np

from tierlab.analysis.query import Bools, Floats
from tierlab.analysis.requests.histogram import histogram
from tierlab.analysis.requests.modes import modes
from tierlab.analysis.requests.two_modes import WINDOW_NS, two_modes
from tierlab.analysis.resources.utilisation import utilisations
from tierlab.analysis.statistics.association import indicator
from tierlab.studies.measured import Measure, Measured, milliseconds, missing, share_of
from tierlab.studies.seen import Seen

_ONE = "the run had but one mode"
_UNSEEN = "too few requests ended in the runtime"
_NO_IOWAIT = "iowait was not sampled"
_NO_FAULTS = "the databases' page faults were not sampled"


def congested(seen: Seen) -> Bools | None:
    """Return which seconds were congested; None for a run of one mode."""
    if seen.two_modes is None:
        return None
    windows = [(each.start_ns, each.end_ns) for each in seen.two_modes.congested]
    return np.asarray(indicator(windows, seen.edges(WINDOW_NS)) > 0.5)


def _peaks(seen: Seen) -> Measured:
    if seen.modes is None:
        return missing(_UNSEEN)
    peaks = ", ".join(f"{milliseconds(each.at_s)} ({each.weight:.1%})" for each in seen.modes.modes)
    return Measured(value=len(seen.modes.modes), words=f"{len(seen.modes.modes)}: {peaks}")


def _last_bucket(seen: Seen) -> Measured:
    buckets = histogram(seen.observed.db, seen.span)
    if not buckets:
        return missing(_UNSEEN)
    before, last = buckets[-2:]
    ratio = last.count / max(1, before.count)
    return Measured(
        value=ratio,
        words=f"{ratio:.1f} times: {last.count:,} requests over {last.from_s:g} s,"
        f" {before.count:,} of {before.from_s:g} to {last.from_s:g} s",
    )


def _number(seen: Seen) -> Measured:
    if seen.modes is None:
        return missing(_UNSEEN)
    found = seen.two_modes
    if found is None:
        return Measured(value=1, words=f"1: {_ONE}")
    words = (
        f"2: {milliseconds(found.congested_s)} in {found.share:.0%} of the runtime,"
        f" {milliseconds(found.normal_s)} in the rest"
    )
    return Measured(value=2, words=words)


def _first(seen: Seen) -> Measured:
    slow = congested(seen)
    if slow is None:
        return missing(_ONE)
    order = np.flatnonzero(slow)[:, None] < np.flatnonzero(~slow)[None, :]
    first = float(order.mean())
    return Measured(value=first, words=f"{first:.0%}; {slow.sum()} of {slow.size} s were congested")


def _very_long(seen: Seen) -> Measured:
    slow = congested(seen)
    if slow is None or seen.slow is None:
        return missing(_ONE)
    ends = seen.slow.very_long.end_ns
    if not ends.size:
        return missing(f"no request took over {milliseconds(seen.slow.threshold_s)}")
    second = np.minimum((ends - seen.span.start_ns) // WINDOW_NS, slow.size - 1)
    what = f"requests over {milliseconds(seen.slow.threshold_s)} ended in congested seconds"
    return share_of(int(slow[second].sum()), int(ends.size), what)


def _iowait(seen: Seen, *, when_congested: bool) -> Measured:
    shares, slow = seen.iowait(WINDOW_NS), congested(seen)
    if shares is None:
        return missing(_NO_IOWAIT)
    if slow is None:
        return missing(_ONE)
    mean = float(np.nanmean(shares[slow == when_congested]))
    return Measured(value=mean, words=f"{mean:.0%}")


def _correlation(seen: Seen) -> Measured:
    faults, shares = seen.faults(WINDOW_NS), seen.iowait(WINDOW_NS)
    if faults is None or shares is None:
        return missing(_NO_FAULTS if faults is None else _NO_IOWAIT)
    known = ~(np.isnan(faults) | np.isnan(shares))
    if known.sum() < 3 or not faults[known].std() or not shares[known].std():
        return missing("page faults or iowait never changed")
    found = float(np.corrcoef(faults[known], shares[known])[0, 1])
    return Measured(value=found, words=f"{found:.2f} over {known.sum()} seconds")


def _more_faults(seen: Seen) -> Measured:
    faults, slow = seen.faults(WINDOW_NS), congested(seen)
    if faults is None:
        return missing(_NO_FAULTS)
    if slow is None:
        return missing(_ONE)
    much, little = _mean(faults, slow), _mean(faults, ~slow)
    ratio = much / max(little, 1.0)
    return Measured(
        value=ratio, words=f"{ratio:,.0f} times: {much:,.0f} and {little:,.1f} a second"
    )


def _mean(values: Floats, chosen: Bools) -> float:
    return float(np.nanmean(values[chosen]))


PEAKS = Measure("modes of the response times, each tested", (modes,), _peaks)
LAST_BUCKET = Measure(
    "requests in the last bucket (over 2 s) over those in the one before",
    (histogram,),
    _last_bucket,
)
MODES_OF_RUN = Measure("modes of the run, told apart second by second", (two_modes,), _number)
CONGESTED_FIRST = Measure(
    "of all pairs of a congested and a normal second, how many have the congested one first",
    (two_modes,),
    _first,
)
VERY_LONG_CONGESTED = Measure(
    "share of the very long requests that ended in congested seconds", (two_modes,), _very_long
)
IOWAIT_CONGESTED = Measure(
    "highest core's share of time in iowait, mean over the congested seconds",
    (utilisations, two_modes),
    lambda seen: _iowait(seen, when_congested=True),
)
IOWAIT_NORMAL = Measure(
    "the same over the normal seconds",
    (utilisations, two_modes),
    lambda seen: _iowait(seen, when_congested=False),
)
FAULTS_WITH_IOWAIT = Measure(
    "correlation of the pages that the database read back with iowait, second by second",
    (utilisations, Seen.faults),
    _correlation,
)
FAULTS_CONGESTED = Measure(
    "pages that the database read back a second in congested mode, over those in normal mode",
    (two_modes, Seen.faults),
    _more_faults,
)
