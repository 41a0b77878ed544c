"""The workloads that there are, by the name that experiments call them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tierlab.servers.base import Server
from tierlab.workloads.kernels.workload import Kernels
from tierlab.workloads.olio.workload import Olio
from tierlab.workloads.own.workload import Own
from tierlab.workloads.rubbos.workload import Rubbos
from tierlab.workloads.rubis.workload import Rubis
from tierlab.workloads.static.workload import Static
from tierlab.workloads.tpch.workload import Tpch
from tierlab.workloads.workload import Workload

WORKLOADS: Mapping[str, Workload] = {
    each.name: each for each in (Rubbos(), Rubis(), Olio(), Static(), Kernels(), Tpch(), Own())
}


def servers() -> Iterator[tuple[str, type[Server]]]:
    """Every server instance that a system may have, such as ``db.1``, with each software that it
    may be; in a request's order, each pair once.
    """
    seen = set()
    for workload in WORKLOADS.values():
        for tier, declared in workload.tiers.items():
            for number in range(1, declared.most + 1):
                for software in declared.software:
                    pair = (f"{tier}.{number}", software)
                    if pair not in seen:
                        seen.add(pair)
                        yield pair
