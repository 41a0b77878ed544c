"""How much does repeating change? ADIN and MMR over the trials of a group.

Source: A. Zhong et al., "Performance Implications of Non-Uniform VCPU-PCPU Mapping in
Virtualization Environment" (Cluster Computing 2013), section 4.2.1, equations 3-4.
ADIN is the variance divided by the mean and so has the unit of the figure; MMR is the largest by
the smallest.
"""

from collections.abc import Sequence

import numpy as np

from tierlab.analysis.result import Result


class Instability(Result):
    """Of one figure of each trial; ``adin`` and ``mmr`` are None for fewer than two trials, ``mmr``
    also where the smallest figure is 0.
    """

    trials: int
    mean: float
    adin: float | None
    mmr: float | None


def instability(figures: Sequence[float]) -> Instability:
    """Return ADIN and MMR of positive figures, one a trial."""
    values = np.asarray(figures, dtype=np.float64)
    mean = float(values.mean())
    several = values.size > 1 and mean > 0
    return Instability(
        trials=values.size,
        mean=mean,
        adin=float(values.var(ddof=1) / mean) if several else None,
        mmr=float(values.max() / values.min()) if several and values.min() > 0 else None,
    )
