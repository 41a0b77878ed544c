"""From which load on does a server finish no more work, and when was it congested or frozen?

Q. Wang et al., "Detecting Transient Bottlenecks in n-Tier Applications through Fine-Grained
Analysis" (ICDCS 2013): of a server's windows, load (visits in progress) against work-normalised
throughput rises to the congestion point N* and not beyond it. Here two line segments through the
origin are fitted, ``a min(N, N*) + b max(N - N*, 0)``, with a bootstrap of whole seconds (windows
follow each other: P. Hall, J. Horowitz, B.-Y. Jing, "On Blocking Rules for the Bootstrap with
Dependent Data", Biometrika 82, 1995). N* is believed where ``b`` is surely below a fifth of ``a``
and, at several times that load, most windows still finish just the work of N*: a server that merely
does what it is asked has a flat part too, but leaves it when it is asked for more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Bools, Floats, Ints
from tierlab.analysis.queues.work_units import WorkDone
from tierlab.analysis.result import Result
from tierlab.analysis.statistics.stretches import Stretch, stretches

FLAT = 0.2
"""Beyond N* the slope must be below this part of the slope before it."""

FROZEN = 0.05
"""A window with load and less than this part of the usual work is frozen."""

FAR = 3.0
"""So many times N*, and three visits more, is far beyond it."""

_FEWEST = 100
_BEYOND = 20
_MOST_OF = 0.6
_ABOUT = 0.4
_NO_LESS = 0.9
_BINS = 60
_BLOCK_NS = 1_000_000_000
_DRAWS = 200


class CongestionPoint(Result):
    """One server's N* (``load``, from ``low`` to ``high`` with 95 % confidence), or None where the
    run has no such point. ``slope`` is work units a second per visit in progress before it,
    ``slope_beyond`` after it, as a part of ``slope``. ``frozen`` windows need no N*.
    """

    server: str
    load: float | None
    low: float | None
    high: float | None
    slope: float | None
    slope_beyond: float | None
    windows: int
    congested: list[Stretch]
    frozen: list[Stretch]


def congestion_points(done: WorkDone, seed: int = 1) -> list[CongestionPoint]:
    """Find every server's congestion point; a server with under 100 windows has none."""
    dice = np.random.default_rng(seed)
    return [
        _point(name, work.load, work.units, done, dice) for name, work in done.by_server.items()
    ]


@dataclass(frozen=True)
class _Fit:
    knee: float
    slope: float
    beyond: float


def _point(
    server: str, load: Floats, units: Floats, done: WorkDone, dice: np.random.Generator
) -> CongestionPoint:
    frozen = _frozen(load, units)
    fit, low, high = _fitted(load[~frozen], units[~frozen], done.width_ns, dice)
    congested = load > fit.knee if fit is not None else np.zeros(load.size, dtype=bool)
    return CongestionPoint(
        server=server,
        load=fit.knee if fit else None,
        low=low,
        high=high,
        slope=fit.slope if fit else None,
        slope_beyond=fit.beyond if fit else None,
        windows=int(load.size),
        congested=_stretches(congested, done),
        frozen=_stretches(frozen, done),
    )


def _frozen(load: Floats, units: Floats) -> Bools:
    """Mark windows with unusual load in which next to nothing was finished."""
    busy = load >= max(2.0, 2 * float(np.median(load)))
    return np.asarray(busy & (units <= FROZEN * float(np.median(units))))


def _fitted(
    load: Floats, units: Floats, width_ns: int, dice: np.random.Generator
) -> tuple[_Fit | None, float | None, float | None]:
    if load.size < _FEWEST or load.max() <= 0:
        return None, None, None
    bins = _Bins.of(load, units)
    fit = bins.fit(np.ones(load.size))
    if fit is None or not _holds(fit, load, units, width_ns):
        return None, None, None
    drawn = [bins.fit(each) for each in _blocks(load.size, width_ns, dice)]
    beyond = np.array([each.beyond if each else 1.0 for each in drawn])
    if np.quantile(beyond, 0.95) >= FLAT:
        return None, None, None
    low, high = np.quantile([each.knee for each in drawn if each], [0.025, 0.975])
    return fit, float(low), float(high)


def _holds(fit: _Fit, load: Floats, units: Floats, width_ns: int) -> bool:
    """Whether far beyond the knee most windows finish about what they do at it (within 40 %, or two
    standard deviations of a Poisson number where a window finishes few), and in the median no less:
    there a server works as hard as it can, not as it happens to be asked.
    """
    most = fit.knee * fit.slope
    far = units[load > FAR * fit.knee + 3]
    about = max(_ABOUT, 2 / np.sqrt(max(most * width_ns / 1e9, 1.0)))
    inside = np.count_nonzero(np.abs(far / most - 1) <= about)
    if far.size < _BEYOND or inside < _MOST_OF * far.size:
        return False
    return float(np.median(far)) >= _NO_LESS * most


def _blocks(size: int, width_ns: int, dice: np.random.Generator) -> Iterator[Floats]:
    """Draw windows in blocks of a second, as many as there are: how often each was drawn."""
    length = max(1, min(size, _BLOCK_NS // width_ns))
    for _ in range(_DRAWS):
        first = dice.integers(0, size - length + 1, -(-size // length))
        steps = np.bincount(first, minlength=size + 1) - np.bincount(
            first + length, minlength=size + 1
        )
        yield np.cumsum(steps[:size]).astype(np.float64)


@dataclass(frozen=True)
class _Bins:
    """Windows in order of load, in bins of equally many: their means stand for them, so that a fit
    costs the same in any run.
    """

    order: Ints
    first: Ints
    load: Floats
    units: Floats

    @classmethod
    def of(cls, load: Floats, units: Floats) -> "_Bins":
        order = np.argsort(load, kind="stable")
        first = np.linspace(0, load.size, min(_BINS, load.size // 5) + 1).astype(np.int64)[:-1]
        return cls(order, first, load[order], units[order])

    def fit(self, weight: Floats) -> _Fit | None:
        """Fit both segments for every knee among the bins, and keep the best."""
        w = weight[self.order]
        size = np.add.reduceat(w, self.first)
        kept = size > 0
        n = np.add.reduceat(w * self.load, self.first)[kept] / size[kept]
        t = np.add.reduceat(w * self.units, self.first)[kept] / size[kept]
        knees = n[2:-1]
        knees = knees[knees > 0]
        if not knees.size:
            return None
        below = np.minimum(n, knees[:, None])
        above = np.maximum(n - knees[:, None], 0)
        bb, aa, ab = (below**2).sum(1), (above**2).sum(1), (below * above).sum(1)
        bt, at = below @ t, above @ t
        det = np.maximum(bb * aa - ab**2, 1e-300)
        slope, beyond = (bt * aa - at * ab) / det, (at * bb - bt * ab) / det
        error = ((t - slope[:, None] * below - beyond[:, None] * above) ** 2).sum(1)
        best = int(error.argmin())
        if slope[best] <= 0:
            return None
        return _Fit(float(knees[best]), float(slope[best]), float(beyond[best] / slope[best]))


def _stretches(marked: Bools, done: WorkDone) -> list[Stretch]:
    return [
        Stretch(start_ns=int(done.start_ns[a]), end_ns=int(done.start_ns[b - 1]) + done.width_ns)
        for a, b in stretches(marked)
    ]
