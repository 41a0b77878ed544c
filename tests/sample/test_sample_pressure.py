"""Pressure of a domain that is short of CPU time, beside one that is idle."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pandas as pd
import pytest

from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.environments.placement import Placement

from .conftest import Start

pytestmark = pytest.mark.privileged

SECONDS = 3


def hog(domain: Domain) -> None:
    """Two processes that spin, on the domain's one PU."""
    for number in range(2):
        domain.spawn(["sh", "-c", "while :; do :; done"], log=f"hog{number}.log")


def test_a_hog_is_seen_in_its_own_domain(start: Start, trial: str, traces: object) -> None:  # noqa: ARG001
    if os.geteuid() != 0 or not Path("/proc/pressure/cpu").exists():
        pytest.skip("needs root and a kernel that accounts for pressure")
    environment = Native(Ledger(trial))
    try:
        domains = []
        for name in ("db.1", "app.1"):
            spec = DomainSpec(name, Placement(pus=frozenset({max(os.sched_getaffinity(0))})))
            domain = environment.create(spec)
            domain.start()
            domain.spawn(["sleep", "60"], log="sleep.log")
            domains.append(domain)
        if "unified" not in domains[0].cgroups():
            pytest.skip("this machine has no unified tree of control groups")
        sampling = start(tables=["pressure", "domain"], subjects=[_subject(d) for d in domains])
        hog(domains[0])
        time.sleep(SECONDS)
        least = domains[0].stats().cpu_ns
        sampling.stop()
        most = domains[0].stats().cpu_ns
    finally:
        environment.destroy()
    pressure, accounts = sampling.table("pressure"), sampling.table("domain")
    # Two that want one PU: one of them always waits, and more if others want the PU too.
    assert _share(pressure, "db.1", "cpu", "some") > 0.8
    assert _share(pressure, "app.1", "cpu", "some") < 0.3
    assert _share(pressure, "db.1", "memory", "full") < 0.3
    assert set(pressure[pressure.subject == "db.1"].resource) >= {"cpu", "memory", "io"}
    sampled = accounts[accounts.subject == "db.1"].cpu_ns.sum()
    assert least is not None
    assert most is not None
    assert least * 0.7 < sampled <= most


def _subject(domain: Domain) -> dict[str, object]:
    return {
        "name": domain.spec.name,
        "cgroups": {kind: str(path) for kind, path in domain.cgroups().items()},
    }


def _share(pressure: pd.DataFrame, subject: str, resource: str, which: str) -> float:
    """Over the second half: the hogs run by then."""
    rows = pressure[(pressure.subject == subject) & (pressure.resource == resource)]
    rows = rows[rows.t_ns > rows.t_ns.min() + SECONDS * 500_000_000]
    return float((rows[which] * rows.dt_ns).sum() / rows.dt_ns.sum())
