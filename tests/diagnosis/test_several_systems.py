"""Where several systems share a machine, a trouble is that of the system whose server had it."""

from __future__ import annotations

import pytest

from tierlab.analysis.observed import observe
from tierlab.diagnosis.chain import delayed
from tierlab.diagnosis.cores import cores
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.incidents import incidents
from tierlab.diagnosis.overtaken import users_waiting
from tierlab.diagnosis.run_stalls import run_stalls
from tierlab.diagnosis.stalls import users_of
from tierlab.tables import manifest as manifests
from tierlab.tables.manifest import SystemPart
from tierlab.tables.run import Run
from tierlab.tables.schemas import SCHEMAS
from tierlab.topology import Topology

from . import made_overload, made_stall
from .made_stall import LENGTH, MS, STALL, START
from .signatures import SIGNATURES, diagnosed
from .test_incidents import stall

SYSTEMS = ("shop", "market")
APART = 1_000_000
"""Added to the second system's numbers of visits, connections and users."""
NUMBERS = ("visit", "parent", "connection", "user")
CPUS = ("cpu0", "cpu1")


def of_system(row, index):
    """A row of a run with one system, as that system's: each has two CPUs."""
    name = SYSTEMS[index]
    renamed = {key: f"{name}.{row[key]}" for key in ("server", "subject") if row.get(key)}
    if str(row.get("subject", "")) in {*CPUS, "lo", ""}:
        renamed.pop("subject", None)
    if row.get("subject") in CPUS:
        renamed["subject"] = f"cpu{CPUS.index(row['subject']) + 2 * index}"
    numbered = {key: row[key] + index * APART for key in NUMBERS if row.get(key) is not None}
    return row | renamed | numbered | ({"system": name} if "intended_ns" in row else {})


def make(folder, stalled, samples, extra):
    """A run of two systems on the same CPUs: the second is well."""
    first = made_stall.make(folder / "first", stalled, samples, extra)
    return together(folder, first, made_stall.make(folder / "second", None))


def together(folder, *parts, apart=False):
    """Join two runs of one system each: ``apart``, if each has CPUs of its own."""
    of_first = {"net"} if apart else {"cpu", "net"}
    for table in SCHEMAS:
        rows = [
            of_system(row, index)
            for index, part in enumerate(parts)
            for row in made_stall.read(part, table)
            if not (index and table in of_first)
        ]
        made_stall.write(folder, table, rows)
    known = dict(zip(SYSTEMS, map(manifests.read, parts), strict=True))
    servers = {
        f"{name}.{server}": part.model_copy(update={"system": name, "tier": f"{name}.{part.tier}"})
        for name, one in known.items()
        for server, part in one.servers.items()
    }
    graphs = [
        Topology.chain(
            {f"{name}.{server}": f"{name}.{part.tier}" for server, part in one.servers.items()},
            {f"{name}.{server}": part.protocol for server, part in one.servers.items()},
        )
        for name, one in known.items()
    ]
    calls = [call for graph in graphs for call in graph.calls]
    one = known[SYSTEMS[0]]
    places = {name: {"found": {"pus": [0, 1]}} for name in servers if name.startswith(SYSTEMS[0])}
    places |= {name: {"found": {"pus": [2, 3]}} for name in servers.keys() - places.keys()}
    made = one.model_dump() | {
        "servers": servers,
        "systems": {n: SystemPart(workload="made", load=each.load) for n, each in known.items()},
        "calls": [vars(call) for call in calls],
        "mapping": places if apart else {},
    }
    type(one).model_validate(made).write(folder)
    return folder


@pytest.mark.parametrize(
    "name", ["freeze of the database", "table lock", "held workers", "neighbour in the domain"]
)
def test_a_trouble_is_told_of_the_system_that_had_it(tmp_path, name):
    cause, subject, samples, extra = SIGNATURES[name]
    found = diagnosed(make(tmp_path, subject, samples, extra))
    assert [(each.cause, each.subject) for each in found.findings] == [(cause, f"shop.{subject}")]


def test_users_wait_for_their_own_system_only():
    servers = [f"{name}.{tier}.1" for name in SYSTEMS for tier in ("web", "db")]
    tier_of = {name: name.rpartition(".")[0] for name in servers}
    graph = Topology.of(
        [
            Topology.chain(
                {name: tier for name, tier in tier_of.items() if name.startswith(system)},
                dict.fromkeys(servers, ""),
            )
            for system in SYSTEMS
        ]
    )
    below = stall("shop.db.1", 0, 900, 40)
    waiting = [stall(users_of(f"{name}.web.1"), 10, 880, 30) for name in SYSTEMS]
    (found,) = incidents([below, *waiting], graph)
    assert {each.server for each in found.roots} == {"shop.db.1", "market.web.1.users"}


def test_users_who_take_turns_among_web_servers_wait_for_theirs(tmp_path):
    """All waits were told of the first of them."""
    folder = made_stall.make(tmp_path, None)
    rows = made_stall.read(folder, "requests")
    waits = [row for row in rows if STALL[0] <= row["start_ns"] < STALL[1] and row["user"] % 2]
    for row in waits:
        row["connected_ns"] = row["first_byte_ns"] = row["end_ns"] = STALL[1]
    made_stall.write(folder, "requests", rows)
    known = manifests.read(folder)
    second = known.servers["web.1"]
    calls = [vars(call) for call in known.topology.calls]
    calls += [call | {"caller": "web.2"} for call in calls if call["caller"] == "web.1"]
    made = known.model_dump() | {"servers": {"web.1": second, "web.2": second, **known.servers}}
    type(known).model_validate(made | {"calls": calls}).write(folder)
    assert manifests.read(folder).topology.entries == ["web.1", "web.2"]
    assert len(waits) > 3
    assert {each.subject for each in diagnosed(folder).findings} == {"web.2"}


def test_an_overload_is_that_of_the_system_whose_requests_are_late(tmp_path, monkeypatch):
    """Most requests of the machine are the other's, and quick: nothing was abnormal. Found, it was
    told with the throughput and the users of both.
    """
    monkeypatch.setattr(made_overload, "FULL", (START + 2_000 * MS, START + LENGTH))
    shop = made_stall.make(tmp_path / "first", None)
    rows = made_stall.read(shop, "requests")
    made_stall.write(shop, "requests", [row for row in rows for _ in range(4)])
    folder = together(tmp_path, shop, made_overload.make(tmp_path / "second"), apart=True)
    known = manifests.read(folder)
    known.model_copy(update={"load": {"users": 1_900}}).write(folder)
    (finding,) = diagnosed(folder).findings
    assert (finding.cause, finding.subject) == ("overload", "market.app.1")
    can = finding.demand.capacity
    assert can.throughput == pytest.approx(made_overload.MOST, rel=0.03)
    assert (can.offered_users, can.think_s) == (700, made_overload.THINK_S)


def test_who_waits_for_another_system_on_other_cpus_does_not_count(tmp_path):
    """In an overload within which most came after a neighbour."""
    shop, market = (
        made_stall.make(tmp_path / "first", None),
        made_stall.make(tmp_path / "second", None),
    )
    rows = made_stall.read(shop, "requests")
    for each in rows:
        each["end_ns"] = each["intended_ns"] + 2_000 * MS
    made_stall.write(shop, "requests", rows)
    observed = observe(Run(together(tmp_path, shop, market, apart=True)))
    waiting = users_waiting(observed, cores(observed, [f"cpu{n}" for n in range(4)]))
    window = Window(start_ns=START + 5_000 * MS, end_ns=START + 10_000 * MS)
    assert waiting("shop.db.1", window) == pytest.approx(2_000 / 20, rel=0.02)
    assert 0 < waiting("market.db.1", window) < 1


def test_pages_of_one_name_are_each_systems_own(tmp_path):
    """Where messages were not captured: each took thrice as long as most pages of its name."""
    folder = make(tmp_path, None, None, None)
    rows = made_stall.read(folder, "requests")
    slow = [row for row in rows if row["system"] == "market"][::2]
    for row in slow:
        row["first_byte_ns"] = row["end_ns"] = row["start_ns"] + 200 * MS
    rows = [row for row in rows if row["system"] == "shop"] + slow
    made_stall.write(folder, "requests", rows)
    (folder / "visits.parquet").unlink()
    observed = observe(Run(folder))
    assert run_stalls(observed, observed.measured) == []
    assert delayed(observed, [Window(start_ns=START, end_ns=START + LENGTH)]).count == 0
