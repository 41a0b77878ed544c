"""How much work did each server do, window by window, when its visits are not all alike?

Q. Wang et al., "Detecting Transient Bottlenecks in n-Tier Applications through Fine-Grained
Analysis" (ICDCS 2013): throughput in visits says little when a search takes a hundred times as long
as a lookup, so each class of visits counts by its service time at low load. A unit is the work of
the mean visit.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tierlab.analysis.query import IN_SPAN, Bools, Connection, Floats, Ints, bounds, columns
from tierlab.analysis.served_from import STAY_NS
from tierlab.analysis.span import WINDOW_NS, Span

LOW_LOAD = 0.5
"""Service times are taken from this share of a server's windows, those with the least load."""


@dataclass(frozen=True)
class Work:
    """One server's work: ``load``, the mean number in progress, and ``units`` of work finished a
    second, one value a window; ``unit_of`` is what a visit of each label counts.
    """

    load: Floats
    units: Floats
    unit_of: dict[str, float]


@dataclass(frozen=True)
class WorkDone:
    """Every server's work in windows of ``width_ns`` that start at ``start_ns``."""

    width_ns: int
    start_ns: Ints
    by_server: dict[str, Work]


def work_done(
    db: Connection, span: Span, load: dict[str, Floats], width_ns: int = WINDOW_NS
) -> WorkDone:
    """Count the work of the visits that left in each whole window of the span.

    ``load`` is each server's mean queue in the same windows, of as many servers as are wanted.
    """
    count = span.duration_ns // width_ns
    found = columns(
        db,
        f"""SELECT server, label, ((departure_ns - $start) // $width)::INTEGER AS slot,
            count(*) AS visits, sum({STAY_NS})::DOUBLE AS stay_ns
            FROM visits WHERE departure_ns {IN_SPAN} GROUP BY server, label, slot""",
        {**bounds(span), "width": width_ns},
    )
    start_ns = span.start_ns + width_ns * np.arange(count, dtype=np.int64)
    inside = found["slot"] < count
    by_server = {}
    for name in sorted(load):
        mine = inside & (found["server"] == name)
        if mine.any():
            chosen = {key: each[mine] for key, each in found.items()}
            by_server[name] = _work(chosen, load[name], 1e9 / width_ns)
    return WorkDone(width_ns, start_ns, by_server)


def _work(found: dict[str, npt.NDArray[np.generic]], load: Floats, per_second: float) -> Work:
    """Weigh one server's visits; there are ``per_second`` windows in a second."""
    names, label = np.unique(np.asarray(found["label"], dtype=str), return_inverse=True)
    slot = np.asarray(found["slot"], dtype=np.int64)
    visits = np.asarray(found["visits"], dtype=np.float64)
    mean = np.asarray(found["stay_ns"], dtype=np.float64) / visits
    quiet = load[slot] <= np.quantile(load, LOW_LOAD)
    service = np.array([_service(mean, visits, label == each, quiet) for each in range(names.size)])
    usual = np.average(service[label], weights=visits)
    unit = service / usual if usual > 0 else np.ones(names.size)
    units = np.bincount(slot, weights=visits * unit[label], minlength=load.size)
    unit_of = {str(name): float(each) for name, each in zip(names, unit, strict=True)}
    return Work(load, np.asarray(units * per_second, dtype=np.float64), unit_of)


def _service(mean: Floats, visits: Floats, mine: Bools, quiet: Bools) -> float:
    """Return a label's service time: the median over quiet windows, of all where none is quiet."""
    chosen = mine & quiet if (mine & quiet).any() else mine
    order = np.argsort(mean[chosen])
    weight = np.cumsum(visits[chosen][order])
    return float(mean[chosen][order][np.searchsorted(weight, weight[-1] / 2)])
