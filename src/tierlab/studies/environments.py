"""What does isolation cost? The same system in several environments.

P. Padala et al., "Performance Evaluation of Virtualization Technologies for Server Consolidation"
(HP Labs, 2007), figures 4 and 5; R. NasiriGerdeh et al., "Performance Investigation of Multi-tier
Web Applications in Xen Virtualized Environment" (2017), figures 5, 6 and 8.
"""

from __future__ import annotations

from collections.abc import Callable

from tierlab.analysis.comparing.blocks import blocks
from tierlab.studies.cases import Case, Cases, Trial
from tierlab.studies.measured import CaseMeasure, Measured, missing

FACTOR = "system.environment"
BASE = "native"
CONTAINERS = ("docker", "lxc", "podman")
MACHINES = ("qemu", "kvm", "xen")

Figure = Callable[[Trial], float | None]


def _cpu(trial: Trial) -> float | None:
    return trial.cpu_s(trial.first_tier)


def _response(trial: Trial) -> float | None:
    return trial.response_s


def _all_cpu(trial: Trial) -> float | None:
    return trial.all_cpu_s


def _of(case: Case, figure: Figure) -> float | None:
    return case.mean([figure(trial) for trial in case.trials])


def _least_throughput(cases: Cases) -> Measured:
    base = cases.where(FACTOR, BASE)
    others = [case for case in cases.cases if case is not base]
    if base is None or not others:
        return missing(f"there is not {BASE} and another environment")
    found = [(case.runs.mean() / base.runs.mean(), case.name) for case in others]
    least, name = min(found)
    each = ", ".join(f"{name} {ratio:.2f}" for ratio, name in found)
    return Measured(value=float(least), words=f"{least:.2f}, {name} ({each})")


def _ratio(cases: Cases, figure: Figure, of: tuple[str, ...], to: tuple[str, ...]) -> Measured:
    """The highest of a figure in the environments `of` over the lowest in `to`."""
    above, below = (
        [
            (value, case.name)
            for name in names
            if (case := cases.where(FACTOR, name)) is not None
            and (value := _of(case, figure)) is not None
        ]
        for names in (of, to)
    )
    if not above or not below:
        return missing(f"there is no figure of {' or '.join(of)}, or of {' or '.join(to)}")
    (most, one), (least, other) = max(above), min(below)
    return Measured(
        value=most / least,
        words=f"{most / least:.2f}: {most * 1e3:.3g} ms ({one}) and {least * 1e3:.3g} ms ({other})",
    )


ALIKE_THROUGHPUT = CaseMeasure(
    "lowest throughput of any environment over that of bare processes", (blocks,), _least_throughput
)
CONTAINER_RESPONSE = CaseMeasure(
    "highest mean response time in containers over that of bare processes",
    (blocks,),
    lambda cases: _ratio(cases, _response, CONTAINERS, (BASE,)),
)
MACHINE_RESPONSE = CaseMeasure(
    "mean response time in virtual machines over the lowest in containers",
    (blocks,),
    lambda cases: _ratio(cases, _response, MACHINES, CONTAINERS),
)
CONTAINER_CPU = CaseMeasure(
    "highest CPU time of the web tier for a request in containers over that of bare processes",
    (blocks,),
    lambda cases: _ratio(cases, _cpu, CONTAINERS, (BASE,)),
)
MACHINE_CPU = CaseMeasure(
    "CPU time of the web tier's virtual machine for a request, its hypervisor's included, over that"
    " of bare processes",
    (blocks,),
    lambda cases: _ratio(cases, _cpu, MACHINES, (BASE,)),
)
MACHINE_RESPONSE_OVER_BASE = CaseMeasure(
    "highest mean response time in virtual machines over that of bare processes",
    (blocks,),
    lambda cases: _ratio(cases, _response, MACHINES, (BASE,)),
)
MACHINE_CPU_IN_ALL = CaseMeasure(
    "CPU time of all virtual machines, and of the domain that serves them, for a request, over that"
    " of bare processes",
    (blocks,),
    lambda cases: _ratio(cases, _all_cpu, MACHINES, (BASE,)),
)
