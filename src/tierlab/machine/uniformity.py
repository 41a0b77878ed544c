"""How unevenly a mapping shares the PUs out: shares of time slots, fast and slow vCPUs, and DNU.

Source: A. Zhong et al., "Performance Implications of Non-Uniform VCPU-PCPU Mapping in
Virtualization Environment" (Cluster Computing 2013), section 3, definitions 1 and 2.
With M_ij the number of non-blocking vCPUs of domain j on PU i and w_j the domain's share of all
weights, the load of PU i is the sum of M_ij w_j over all domains, and the degree of non-uniformity
(DNU) of a domain is the variance of the load over the PUs that it runs on, divided by its mean
(equation 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierlab.machine.mapping import Plan

Floats = NDArray[np.float64]
TOLERANCE = 0.01
"""vCPUs whose shares are within 1 % of the domain's mean are neither fast nor slow."""


@dataclass(frozen=True)
class Share:
    """Of a PU's time, what a vCPU gets while all vCPUs want to run: 0 to 1."""

    share: float
    relative: float
    """As against the mean over its domain's vCPUs."""

    @property
    def pace(self) -> str:
        """`fast`, `slow` or `even`, in the study's words."""
        if abs(self.relative - 1) <= TOLERANCE:
            return "even"
        return "fast" if self.relative > 1 else "slow"


def counts(plan: Plan, pus: Sequence[int]) -> Floats:
    """M: vCPUs by PU and domain, shape (PUs, domains)."""
    rank = {pu: index for index, pu in enumerate(pus)}
    found = np.zeros((len(pus), len(plan)))
    for column, seats in enumerate(plan.values()):
        for pu in seats.vcpus:
            found[rank[pu], column] += 1
    return found


def weights(plan: Plan) -> Floats:
    """Each domain's share of all weights; their sum is 1."""
    given = np.array([seats.weight for seats in plan.values()], float)
    shares: Floats = given / given.sum()
    return shares


def dnu(running: Floats, shares: Floats, domain: int) -> Floats:
    """The DNU of a domain: equation 2, where `running` is M of shape (..., PUs, domains).

    Axes before those, such as time, are kept: the DNU over time. The PUs that the domain runs on
    are those where it has a vCPU in M; NaN where it has none, 0 where it is only one.
    """
    load = running @ shares
    used = running[..., domain] > 0
    number = used.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(used, load, 0).sum(axis=-1) / number
        squares = np.where(used, (load - mean[..., None]) ** 2, 0).sum(axis=-1)
        spread = np.where(number > 1, squares / (number - 1) / mean, 0.0)
    found: Floats = np.where(number > 0, spread, np.nan)
    return found


def static_dnu(plan: Plan) -> Mapping[str, float]:
    """Each domain's DNU while every vCPU wants to run."""
    pus = sorted(frozenset().union(*(seats.pus for seats in plan.values())))
    running, shares = counts(plan, pus), weights(plan)
    return {name: float(dnu(running, shares, index)) for index, name in enumerate(plan)}


def time_slots(plan: Plan) -> Mapping[str, tuple[Share, ...]]:
    """Each vCPU's share of time slots, all wanting to run, in Zhong's model.

    A PU divides its time among the vCPUs on it by their domains' weights, every vCPU having its
    domain's full weight, as Xen's credit scheduler does. Linux divides a control group's weight
    over the PUs that it is busy on.
    """
    pus = sorted(frozenset().union(*(seats.pus for seats in plan.values())))
    rank = {pu: index for index, pu in enumerate(pus)}
    each = weights(plan)
    load = counts(plan, pus) @ each
    found = {}
    for weight, (name, seats) in zip(each, plan.items(), strict=True):
        got = [float(weight / load[rank[pu]]) for pu in seats.vcpus]
        mean = sum(got) / len(got)
        found[name] = tuple(Share(share, share / mean) for share in got)
    return found
