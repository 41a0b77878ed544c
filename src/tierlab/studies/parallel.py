"""Does a parallel program use what is left of an uneven mapping, or wait for its slowest thread?

A. Zhong et al., "Performance Implications of Non-Uniform VCPU-PCPU Mapping in Virtualization
Environment" (Cluster Computing 2013), section 5.1.2, figures 8 and 9.

A job's time on PUs half of which are shared lies between its time alone and its time where all are
shared. Its lag is where: 0 is alone, 1 all shared. A program whose equal parts were dealt out at
the beginning takes as long as the thread on a shared PU, and so lags by about 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tierlab.analysis.comparing.blocks import blocks
from tierlab.studies.cases import Case, Cases
from tierlab.studies.measured import CaseMeasure, Measured, missing

KERNEL, NEIGHBOURS = "load.mix", "system.neighbours"


def _lags(cases: Cases, kernel: str) -> list[tuple[float, int]]:
    """The lag beside each number of neighbours, with that number."""
    of_kernel = [case for case in cases.cases if case.levels.get(KERNEL) == kernel]
    times = {_where(case): _time_s(case) for case in of_kernel}
    found = []
    for count in sorted({count for count, _ in times if count}):
        shared = sorted(vcpus for of, vcpus in times if of == count)
        alone = times.get((0, 0))
        if len(shared) != 2 or alone is None:
            continue
        half, whole = (times[count, vcpus] for vcpus in shared)
        if whole > alone:
            found.append(((half - alone) / (whole - alone), count))
    return found


def _where(case: Case) -> tuple[int, int]:
    """How many neighbours there are, on how many PUs."""
    neighbours: Mapping[str, Any] = case.levels[NEIGHBOURS]
    count = int(neighbours["count"])
    return count, int(neighbours["vcpus"]) if count else 0


def _time_s(case: Case) -> float:
    return case.mean([trial.response_s for trial in case.trials]) or 0.0


def _lag(
    kernel: str, chosen: Callable[[Iterable[tuple[float, int]]], tuple[float, int]]
) -> Callable[[Cases], Measured]:
    def take(cases: Cases) -> Measured:
        found = _lags(cases, kernel)
        if not found:
            return missing(
                f"there are not trials of `{kernel}` alone, and with half and with all of its PUs"
                " shared, of which the last took longest"
            )
        each = ", ".join(f"{lag:.2f} beside {count}" for lag, count in found)
        return Measured(value=chosen(found)[0], words=each)

    return take


def _measure(
    kernel: str, chosen: Callable[[Iterable[tuple[float, int]]], tuple[float, int]], which: str
) -> CaseMeasure:
    return CaseMeasure(
        f"where the mean time of a job of `{kernel}` with half of its PUs shared lies between that"
        f" alone (0) and that with all shared (1); the {which}",
        (blocks,),
        _lag(kernel, chosen),
    )


DATA_PARALLEL_LAG = _measure("data-parallel", min, "least")
PIPELINE_LAG = _measure("pipeline", max, "greatest")
BARRIERS_LAG = _measure("barriers", max, "greatest")
MANY_LOCKS_LAG = _measure("many-locks", max, "greatest")
