"""Which stalls are roots, and which only follow."""

from __future__ import annotations

import time

import pytest

from tests.pace import pace
from tierlab.analysis.observed import observe
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.incidents import incidents
from tierlab.diagnosis.run_stalls import run_stalls
from tierlab.diagnosis.stalls import Stall
from tierlab.tables.run import Run
from tierlab.topology import Topology

from . import made_stall

MS = 1_000_000
SERVERS = ("web.1", "app.1", "lb.1", "db.1", "db.2")
GRAPH = Topology.chain(
    {name: name.partition(".")[0] for name in SERVERS}, dict.fromkeys(SERVERS, "")
)


def stall(server: str, start: int, end: int, waiting: int, core: int | None = None) -> Stall:
    """A stall from `start` to `end` ms in which `waiting` visits waited all the time."""
    return Stall(
        server=server,
        window=Window(start_ns=start * MS, end_ns=end * MS),
        core=Window(start_ns=start * MS, end_ns=(core or end) * MS),
        waiting=waiting,
        longest_ns=(end - start) * MS,
        total_ns=(end - start) * MS * waiting,
        toward={},
    )


def roots(*stalls: Stall) -> list[list[str]]:
    return [[each.server for each in found.roots] for found in incidents(stalls, GRAPH)]


def test_the_database_holds_the_application_whose_pool_is_full():
    held = stall("app.1", 30, 600, 120)
    assert roots(stall("db.1", 0, 600, 64), held) == [["db.1"]]


def test_one_slow_statement_does_not_hold_twenty_pages():
    assert roots(stall("lb.1", 0, 380, 1), stall("web.1", 4, 380, 20)) == [["web.1"]]


def test_what_piled_up_follows_from_what_held_it():
    assert roots(stall("lb.1", 0, 570, 29), stall("db.1", 576, 640, 22)) == [["lb.1"]]


def test_one_database_of_a_cluster_does_not_explain_the_other():
    """The second was below the first, as it stood behind it in the list of servers."""
    one, other = stall("db.1", 0, 300, 20), stall("db.2", 20, 320, 20)
    assert roots(one, other) == [["db.1", "db.2"]]
    assert roots(other, stall("app.1", 30, 310, 40)) == [["db.2"]]


@pytest.mark.parametrize("stalled", made_stall.SERVERS)
def test_the_server_that_stalled_is_the_root(tmp_path, stalled):
    observed = observe(Run(made_stall.make(tmp_path, stalled)))
    assert observed.measured is not None
    topology = observed.run.manifest.topology
    (found,) = incidents(run_stalls(observed, observed.measured), topology)
    assert [each.server for each in found.roots] == [stalled]


def test_stalls_far_apart_are_two_incidents():
    assert roots(stall("db.1", 0, 100, 5), stall("db.1", 4000, 4100, 5)) == [["db.1"], ["db.1"]]


def test_two_at_once_at_servers_that_do_not_wait_for_each_other():
    assert roots(stall("db.1", 300, 700, 20), stall("app.1", 0, 650, 30)) == [["app.1", "db.1"]]


def test_two_that_seem_to_follow_from_each_other():
    """Neither is left out: the one that made most wait stays."""
    above = stall("web.1", 0, 80, 30, core=10)
    below = stall("db.1", 5, 80, 10)
    assert roots(above, below) == [["web.1"]]


def test_an_overload_that_lasts_is_sorted_out_in_time():
    """All stalls of ten minutes were compared with all others: minutes for one incident."""
    stalls = [stall(name, n * 100, n * 100 + 90, 9) for n in range(6_000) for name in SERVERS[:4]]
    began = time.monotonic()
    (found,) = incidents(stalls, GRAPH)
    assert time.monotonic() - began < 5 * pace()
    assert {each.server for each in found.roots} == {"db.1"}
    assert len(found.roots) + len(found.others) == len(stalls)
