"""How busy was every resource in the same windows? Sampled shares on one grid, to be compared."""

import numpy as np

from tierlab.analysis.query import Connection, Floats, Ints, bounds, columns
from tierlab.analysis.resources.in_force import in_force
from tierlab.analysis.span import WINDOW_NS, Span
from tierlab.tables.manifest import Manifest

_SHARES = (
    ("cpu", "busy", "cpu"),
    ("cpu", "iowait", "cpu"),
    ("disk", "busy", "disk"),
    ("domain", "cpu", "domain"),
)


def utilisations(
    db: Connection, manifest: Manifest, span: Span, width_ns: int = WINDOW_NS
) -> dict[str, Floats]:
    """Return the share in use, window by window, of every core (``cpu0 busy``, ``cpu0 iowait``),
    disk (``vda busy``) and server that was read back on its cores (``db.1 cpu``).

    NaN where nothing was measured; what was never measured is not there.
    """
    count = span.duration_ns // width_ns
    edge_ns = span.start_ns + width_ns * np.arange(count + 1, dtype=np.int64)
    result: dict[str, Floats] = {}
    held = in_force(db, manifest)
    for table, name, source in _SHARES:
        value = "cpu_ns / dt_ns" if source == "domain" else name
        found = columns(
            db,
            f"""SELECT subject, t_ns, dt_ns, ({value})::DOUBLE AS value FROM "{table}"
                WHERE dt_ns > 0 AND t_ns > $start AND t_ns - dt_ns < $end
                AND ({value}) IS NOT NULL ORDER BY subject, t_ns""",
            bounds(span),
        )
        for subject in sorted(set(found["subject"])):
            mine = found["subject"] == subject
            t_ns, dt_ns, share = (found[name][mine] for name in ("t_ns", "dt_ns", "value"))
            if source == "domain":
                cores = held.cores(str(subject), t_ns - dt_ns // 2)
                share = np.full(share.size, np.nan) if cores is None else share / cores
            known = np.isfinite(share)
            if known.any() and count:
                means = on_grid(t_ns[known], dt_ns[known], share[known], edge_ns)
                result[f"{subject} {name}"] = means
    return result


def on_grid(t_ns: Ints, dt_ns: Ints, value: Floats, edge_ns: Ints) -> Floats:
    """Return the time-weighted mean of ticks that end at ``t_ns`` between each edge and the next;
    NaN where less than half of a window was measured.
    """
    start = np.maximum(t_ns - dt_ns, np.append(t_ns[0] - dt_ns[0], t_ns[:-1]))
    length = (t_ns - start).astype(np.float64)
    knots = np.stack([start, t_ns], axis=1).ravel()
    time = np.stack([np.cumsum(length) - length, np.cumsum(length)], axis=1).ravel()
    sums = np.cumsum(value * length)
    area = np.stack([sums - value * length, sums], axis=1).ravel()
    zero = edge_ns[0]
    at, known = (edge_ns - zero).astype(np.float64), (knots - zero).astype(np.float64)
    measured = np.diff(np.interp(at, known, time))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.diff(np.interp(at, known, area)) / measured
    return np.where(measured >= np.diff(at) / 2, mean, np.nan)
