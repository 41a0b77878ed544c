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
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from guest_scheduler import Guest

from tierlab.analysis.comparing.blocks import Blocks
from tierlab.cli.study import find
from tierlab.machine.mapping import Seats
from tierlab.machine.uniformity import static_dnu, time_slots
from tierlab.studies.cases import Case, Cases, Trial
from tierlab.studies.measures import OVER_CASES
from tierlab.studies.published import Published, beside, load
from tierlab.tables.manifest import Degree, Manifest, ServerPart

VCPUS = 4
RUNS = 6
SUBJECT = "A"
SERVER = ServerPart(tier="web", server="httpd", address="127.0.0.1", port=1, protocol="http")


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
    return {SUBJECT: Seats(tuple(range(VCPUS)), weight=256), **others}


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


def case(name: str, dnu: float, throughputs: Sequence[float], requests: int) -> Case:
    """The runs as trials of a study's case, each of one run."""
    manifest = Manifest(
        **{"experiment": "simulated", "trial": "001", "environment": "native"},
        **{"workload": "static", "created_ns": 0, "servers": {SUBJECT: SERVER}},
        dnu={SUBJECT: [Degree(from_ns=0, dnu=dnu)]},
    )
    nothing, done = np.zeros(1), np.array([float(requests)])
    trials = [
        Trial(manifest, Blocks(requests / each, done, nothing, nothing, {}, {}, {}, None))
        for each in throughputs
    ]
    return Case(name, {}, {}, trials, None)


def table(repeated: Sequence[Cases], published: Published) -> list[str]:
    """The claims' lines: published, the median over the repetitions with the middle nine tenths of
    them, how many agree, and the verdict of the median.
    """
    lines = []
    for claim in published.claims:
        measured = (OVER_CASES[claim.measure].take(cases).value for cases in repeated)
        values = sorted(value for value in measured if value is not None)
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
    dnu = {name: static_dnu(plan)[SUBJECT] for name, plan in mapped.items()}
    shares = {name: [s.share for s in time_slots(plan)[SUBJECT]] for name, plan in mapped.items()}
    for kernel in KERNELS:
        print(f"\n{kernel.name}\n")
        repeated, of = [], {name: [] for name in mapped}
        for seed in range(given.repetitions):
            found = [
                case(
                    name,
                    dnu[name],
                    runs(shares[name], seed, given.requests, kernel),
                    given.requests,
                )
                for name in mapped
            ]
            repeated.append(Cases(found))
            for each in found:
                of[each.name].append(each.instability)
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
