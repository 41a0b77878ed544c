"""Does the law follow from the mechanism? A. Zhong et al., "Performance implications of non-uniform
VCPU-PCPU mapping in virtualization environment" (2013), section 5.1, table 2.

    python bench/studies/scheduling_model.py [--repetitions N] [--requests N]

The paper explains why throughput is unstable on uneven mappings by a guest's kernel that places
processes on slow and fast virtual CPUs without knowing which is which. Here that is simulated
(:mod:`guest_scheduler`) for the nine mappings, six runs each, many times over, and judged as the
measured ones are: by the claims of study `vcpu-mapping-static`. It is done with a kernel that
balances, as Linux does, with one that never moves a process that waits, and at a load that leaves a
virtual CPU idle.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from guest_scheduler import Guest

from tierlab.analysis.comparing.instability import instability
from tierlab.analysis.statistics.rank_correlation import rank_correlation
from tierlab.cli.study import find
from tierlab.machine.mapping import Seats
from tierlab.machine.uniformity import static_dnu, time_slots
from tierlab.studies.published import Published, beside, load

VCPUS = 4
RUNS = 6
EVEN = 1e-9


@dataclass(frozen=True)
class Kernel:
    """How a guest is asked, and whether its kernel balances: ``name`` says so."""

    name: str
    clients: int
    balances: bool


KERNELS = (
    Kernel("ten clients, as in the paper", 10, balances=True),
    Kernel("ten clients, no virtual CPU takes work from another", 10, balances=False),
    Kernel("three clients, so that a virtual CPU is idle", 3, balances=True),
)


def mapping(count: int, vcpus: int) -> dict[str, Seats]:
    """The paper's 1*4-s*t: machine A on four PUs, s others with t virtual CPUs on the first t."""
    others = {f"N{n}": Seats(tuple(range(vcpus)), weight=256) for n in range(count)}
    return {"A": Seats(tuple(range(VCPUS)), weight=256), **others}


def cases() -> dict[str, dict[str, Seats]]:
    """The nine mappings by the paper's names."""
    found = {"1*4-0*0": mapping(0, 0)}
    for vcpus in (4, 1, 2, 3):
        for count in (3, 7):
            found[f"1*4-{count}*{vcpus}"] = mapping(count, vcpus)
    return found


def runs(shares: Sequence[float], seed: int, requests: int, kernel: Kernel) -> list[float]:
    """Throughput of six runs."""
    dice = random.Random(seed)
    guests = (
        Guest(shares, dice.getrandbits(32), kernel.clients, balances=kernel.balances)
        for _ in range(RUNS)
    )
    return [guest.throughput(requests) for guest in guests]


def judged(
    throughputs: Mapping[str, Sequence[float]], dnu: Mapping[str, float]
) -> dict[str, float]:
    """What the study's claims measure, of one repetition of all cases."""
    found = {name: instability(each) for name, each in throughputs.items()}
    even = [name for name in found if dnu[name] <= EVEN]
    uneven = [name for name in found if dnu[name] > EVEN]
    adin = {name: each.adin or 0.0 for name, each in found.items()}
    mmr = {name: each.mmr or 1.0 for name, each in found.items()}
    pairs = [adin[one] < adin[other] for one in even for other in uneven]
    ranks = rank_correlation([dnu[name] for name in found], [adin[name] for name in found])
    return {
        "instability follows dnu": ranks.statistic,
        "uneven less stable": statistics.fmean(pairs),
        "highest mmr uniform": max(mmr[name] for name in even),
        "highest mmr uneven": max(mmr[name] for name in uneven),
    }


def table(repeated: Sequence[Mapping[str, float]], published: Published) -> list[str]:
    """The claims' lines: published, the median over the repetitions with the middle nine tenths of
    them, how many agree, and the verdict of the median.
    """
    lines = []
    for claim in published.claims:
        values = sorted(each[claim.measure] for each in repeated)
        middle = statistics.median(values)
        low, high = (values[round(share * (len(values) - 1))] for share in (0.05, 0.95))
        agree = sum(claim.agrees.hold(value) for value in values)
        verdict = "agrees" if claim.agrees.hold(middle) else "differs"
        lines.append(
            f"| {claim.seen} | {claim.value} | {middle:.2f} ({low:.2f} to {high:.2f}) |"
            f" {agree} of {len(values)} | {verdict} |"
        )
    return lines


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repetitions", type=int, default=30)
    arguments.add_argument("--requests", type=int, default=5000, help="of each run")
    given = arguments.parse_args()
    published = load(beside(find("vcpu-mapping-static")))
    mapped = cases()
    dnu = {name: static_dnu(plan)["A"] for name, plan in mapped.items()}
    shares = {name: [s.share for s in time_slots(plan)["A"]] for name, plan in mapped.items()}
    for kernel in KERNELS:
        print(f"\n{kernel.name}\n")
        repeated, of = [], {name: [] for name in mapped}
        for seed in range(given.repetitions):
            found = {name: runs(shares[name], seed, given.requests, kernel) for name in mapped}
            repeated.append(judged(found, dnu))
            for name, throughputs in found.items():
                of[name].append(instability(throughputs))
        print("| case | DNU | throughput | ADIN | MMR |\n|---|---|---|---|---|")
        for name, each in of.items():
            mean, adin, mmr = (
                statistics.median(getattr(one, figure) for one in each)
                for figure in ("mean", "adin", "mmr")
            )
            print(f"| {name} | {dnu[name]:.2f} | {mean:,.0f} | {adin:.3g} | {mmr:.2f} |")
        print("\n| claim | there | model | agree | verdict |\n|---|---|---|---|---|")
        print("\n".join(table(repeated, published)), flush=True)


if __name__ == "__main__":
    main()
