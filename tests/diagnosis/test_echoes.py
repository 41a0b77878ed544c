"""What one fault brings about by itself is not taken for a second fault, nor for another one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from tierlab.analysis.observed import observe
from tierlab.diagnosis.attribution import Attribution
from tierlab.diagnosis.catalogue import CATALOGUE
from tierlab.diagnosis.causes import burst, cpu, lock, loss, network, overload, pool
from tierlab.diagnosis.evidence import queued
from tierlab.diagnosis.finding import Suspect, Window
from tierlab.diagnosis.incidents import Incident
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.neighbour import _more, within
from tierlab.diagnosis.run_context import RunContext
from tierlab.diagnosis.stalls import Stall
from tierlab.diagnosis.verdicts import SHOWN, Assessment, Verdict, judge
from tierlab.tables import manifest as manifests
from tierlab.tables.run import Run

from . import made_stall
from .made_stall import MS, STALL, START, TICK
from .signatures import SIGNATURES, diagnosed, idle, pressed
from .test_incidents import stall

WINDOW = Window(start_ns=STALL[0], end_ns=STALL[1])


def context(folder, subject, toward=None):
    """The context of a stall of that server, as long as the made one."""
    stall = Stall(subject, WINDOW, WINDOW, 20, 300 * MS, 6_000 * MS, toward or {})
    (found,) = RunContext(observe(Run(folder))).contexts(stall, anywhere=False)
    return found


PACKET = [{"subject": "lo", "queued_bytes": 1_500}]


@pytest.mark.parametrize(
    "name", ["table lock", "memory", "disk", "neighbour on the cores", "freeze of the database"]
)
def test_a_packet_in_a_queue_makes_no_fault_of_the_database_the_network(tmp_path, name):
    """All its stalls end with its replies, and one packet waits before some wire at any time."""
    cause, subject, samples, extra = SIGNATURES[name]
    found = diagnosed(made_stall.make(tmp_path, subject, samples | {"net": PACKET}, extra))
    assert [(each.cause, each.subject) for each in found.findings] == [(cause, subject)]


def test_the_replies_of_a_second_database_are_late_at_its_caller(tmp_path):
    """Its peer is listed before it, and is not who asks it."""
    folder = made_stall.make(tmp_path, None, {"net": [{"subject": "lo", "queued_bytes": 40_000}]})
    known = manifests.read(folder)
    servers = known.servers | {"db.2": known.servers["db.1"].model_copy()}
    known.model_copy(update={"servers": servers}).write(folder)
    assert network.judge(context(folder, "db.2")).subject == "lb.1"
    assert context(folder, "web.1").above is None


def with_queues(folder, queued_bytes):
    """A run whose interface says at each tick, by its number, what it holds back (or null)."""
    made_stall.make(folder, "lb.1")
    ticks = range(START + TICK, START + made_stall.LENGTH + 1, TICK)
    rows = [
        {"t_ns": end, "dt_ns": TICK, "subject": "eth0", "queued_bytes": queued_bytes(number)}
        for number, end in enumerate(ticks, start=1)
    ]
    made_stall.write(folder, "net", rows)
    return folder


def test_an_interface_looked_at_once_a_second_rules_no_network_out(tmp_path):
    """The stall is between two looks: what waited before the wire meanwhile nobody knows."""
    folder = with_queues(tmp_path, lambda tick: 0 if tick % 20 == 10 else None)
    here = context(folder, "lb.1")
    assert queued(here) is None
    assert network.judge(here).most > 0.5


def test_an_interface_that_had_no_discipline_for_seconds_holds_nothing_back(tmp_path):
    folder = with_queues(tmp_path, lambda tick: 0 if tick < 100 else None)
    assert queued(context(folder, "lb.1")) == 0.0


def full_pool(folder, **samples):
    """All connections in use, requests waiting, and few calls below."""
    full = {"subject": "app.1", "resource": "pool", "limit": 64, "in_use": 64, "waiting": 9}
    return made_stall.make(folder, "app.1", {"soft": [full]} | samples)


def test_connections_in_use_on_a_slow_way_are_no_held_pool(tmp_path):
    folder = full_pool(tmp_path / "slow", net=[{"subject": "lo", "queued_bytes": 40_000}])
    assert not pool.stands_alone(context(folder, "app.1", {"lb.1": 0.9}))
    folder = full_pool(tmp_path / "held")
    # Who waits for a connection goes on with a call, too: that alone is no sign of the network.
    assert pool.stands_alone(context(folder, "app.1", {"lb.1": 0.9}))


@pytest.mark.parametrize("cause", ["memory", "gc"])
def test_connections_in_use_while_the_server_itself_stands_are_no_held_pool(cause):
    assert "pool" in next(each for each in CATALOGUE if each.name == cause).explains


def test_a_few_visits_more_than_usual_explain_no_cpu_time(tmp_path):
    """Five visits where two are usual come by chance; they hid a neighbour at low load."""
    folder = made_stall.make(tmp_path, None)
    here = context(folder, "web.1")
    few = Window(start_ns=STALL[0], end_ns=STALL[0] + 100 * MS)
    assert here.usual_visits * few.duration_s == pytest.approx(5, rel=0.3)

    def counting(seen):
        return replace(here, window=few, visiting=lambda _window: seen)

    assert _more(counting(10)) == 1.0
    assert _more(counting(500)) > 50


def test_a_neighbour_without_figures_does_not_stand_alone(tmp_path):
    """Both sides were None and equal."""
    folder = made_stall.make(tmp_path, "db.1", {"pressure": pressed("db.1", "cpu", 0.9)})
    (folder / "domain.parquet").unlink()
    here = context(folder, "db.1")
    assert within(here) is None
    assert not cpu.stands_alone(here)


def test_a_pool_whose_waiting_requests_were_not_counted_is_less_sure(tmp_path):
    """Without that figure the pool seemed as sure as with requests that wait."""
    folder = full_pool(tmp_path, domain=idle("app.1", threads_stopped=0))
    (whole,) = diagnosed(folder).findings
    soft = pq.read_table(folder / "soft.parquet").to_pylist()
    made_stall.write(folder, "soft", [row | {"waiting": None} for row in soft])
    (less,) = diagnosed(folder).findings
    assert (less.cause, whole.cause) == ("pool", "pool")
    assert less.confidence < whole.confidence


def test_what_is_usual_is_read_once_for_a_server(tmp_path, monkeypatch):
    run_context = RunContext(observe(Run(made_stall.make(tmp_path, None))))
    stall = Stall("db.1", WINDOW, WINDOW, 20, 300 * MS, 6_000 * MS, {})
    (first,) = run_context.contexts(stall, anywhere=False)
    monkeypatch.setattr("tierlab.diagnosis.run_context.np.sort", None)
    (again,) = run_context.contexts(stall, anywhere=False)
    assert again.usual_visits == first.usual_visits > 0


def test_what_a_wire_held_back_and_let_go_at_once_is_no_exhausted_pool(tmp_path):
    """Then connections wait to be accepted, too; a pool was named beside the network, 0.8 sure."""
    _, subject, samples, extra = SIGNATURES["held workers"]
    held = samples | {"net": [{"subject": "lo", "queued_bytes": 40_000}]}
    found = diagnosed(made_stall.make(tmp_path, subject, held, extra))
    assert pool.NAME not in {each.cause for each in found.findings}


def test_a_pool_above_a_stall_without_a_known_cause_is_no_answer(monkeypatch):
    """Whatever holds the database, the workers above it are all in use: of eight limits on its CPU
    time, with limits taken out of the catalogue, two were called a pool.
    """
    below, above = stall("db.1", 0, 900, 30), stall("app.1", 20, 900, 30)
    silent = SimpleNamespace(signal=lambda *_key: None)
    suspect = Suspect(cause=pool.NAME, subject="app.1", least=1.0, most=1.0, evidence=[])
    judged = {
        "db.1": Verdict(None, 0.0, []),
        "app.1": Verdict(Assessment(pool.CAUSE, silent, suspect), 0.9, []),
    }
    monkeypatch.setattr(
        Attribution, "attribute", lambda _, each: Occurrence(each, judged[each.server])
    )
    found = Attribution(None, 1.0, anywhere=False).occurrences(Incident([below], [above]))
    assert [(each.cause, each.subject) for each in found] == [("unknown", "db.1")]


@pytest.mark.parametrize(("before_ms", "told"), [(600, "unknown"), (0, "pool")])
def test_what_a_wait_without_a_known_cause_left_is_no_cause(monkeypatch, before_ms, told):
    """With cold caches out of the catalogue the first of them let go what filled the pool above it
    for a tenth of a second, while the second, for seconds, had no name: the pool was told.
    """
    first = stall("db.1", 600 - before_ms, 1_200 - before_ms, 113)
    second, above = stall("db.1", 620, 4_000, 990), stall("app.1", 600, 680, 106)
    cause = replace(pool.CAUSE, stands_alone=lambda _context: True)
    suspect = Suspect(cause=pool.NAME, subject="app.1", least=1.0, most=1.0, evidence=[])

    def judged(_attribution, each):
        known = Verdict(Assessment(cause, None, suspect), 0.9, [])
        return Occurrence(each, known if each is above else Verdict(None, 0.0, []))

    monkeypatch.setattr(Attribution, "attribute", judged)
    incident = Incident([second], [first, above])
    assert Attribution(None, 1.0, anywhere=False).occurrences(incident)[0].cause == told


HELD = {"net": [{"subject": "lo", "queued_bytes": 40_000}]}


def test_a_server_whose_packets_are_held_back_is_not_stopped(tmp_path, monkeypatch):
    """With slow networks out of the catalogue a balancer that nothing reached stood still."""
    folder = made_stall.make(tmp_path, "lb.1", HELD | {"domain": idle("lb.1")})
    others = tuple(each for each in CATALOGUE if each is not network.CAUSE)
    monkeypatch.setattr("tierlab.diagnosis.verdicts.CATALOGUE", others)
    assert [each.cause for each in diagnosed(folder).findings] == ["unknown"]


@pytest.mark.parametrize(("held_ms", "shown"), [(300, True), (100, False)])
def test_who_waits_on_when_packets_are_let_go_waits_for_no_network(tmp_path, held_ms, shown):
    """The web server's were held for 180 ms; those who then came all at once waited for the pool
    behind it, and packets to the balancer were told as late, and first.
    """
    folder = made_stall.make(tmp_path, "app.1", HELD)
    rows = made_stall.read(folder, "net")
    over_ns = STALL[0] + held_ms * MS
    rows = [row | ({"queued_bytes": 0} if row["t_ns"] > over_ns else {}) for row in rows]
    made_stall.write(folder, "net", rows)
    judged = network.judge(context(folder, "app.1", {"lb.1": 0.9}))
    assert (judged.least > 0.5) is shown


@pytest.mark.parametrize(
    "sample",
    [
        {"pressure": pressed("db.1", "cpu", 0.9)},
        {"domain": [{"subject": "db.1", "major_faults": 40}]},
    ],
    ids=["no CPU", "pages read back"],
)
def test_who_cannot_take_packets_has_not_lost_them(tmp_path, sample):
    """A database of little weight, and one short of memory, acknowledged late: what was sent again
    beside them was called a loss on the way to them, as sure as the cause itself.
    """
    lost = {"tcp": [{"subject": "ns", "retransmissions": 3}]}
    well, ill = made_stall.make(tmp_path / "well", "lb.1", lost), tmp_path / "ill"
    made_stall.make(ill, "lb.1", lost | sample)
    toward = {"db.1": 0.9}
    assert loss.judge(context(well, "lb.1", toward)).least > 0.7
    assert loss.judge(context(ill, "lb.1", toward)).most == 0.0


@pytest.mark.parametrize(
    ("waiting", "used", "shown"), [(20, 360, True), (360, 360, False), (360, 20, True)]
)
def test_who_waits_for_lost_packets_waits_for_packets_of_its_own(tmp_path, waiting, used, shown):
    """Two segments were lost beside 360 visits that waited for held workers: that was a loss. But
    where there are connections for 20 of them, no more can wait for a packet.
    """
    tcp = {"tcp": [{"subject": "ns", "retransmissions": 1}]}
    here = context(made_stall.make(tmp_path, "lb.1", tcp), "lb.1", {"db.1": 0.9})
    receiver = replace(here, connections=lambda _window: used)
    here = replace(here, waiting=waiting, at=lambda _server: receiver)
    assert (loss.judge(here).least >= SHOWN) is shown


@pytest.mark.parametrize(("later_ms", "told"), [(100, ["loss"]), (2_000, ["pool", "loss"])])
def test_what_another_cause_at_that_server_brings_about_is_not_told(monkeypatch, later_ms, told):
    """Connections waited for a web server that half of the packets reached: the pool came first."""
    full, late = stall("web.1", 0, 900, 30), stall("users", later_ms, 900 + later_ms, 20)
    causes = {"web.1": pool.CAUSE, "users": loss.CAUSE}

    def judged(_attribution, each):
        cause = causes[each.server]
        suspect = Suspect(cause=cause.name, subject="web.1", least=1.0, most=1.0, evidence=[])
        return Occurrence(each, Verdict(Assessment(cause, None, suspect), 0.97, []))

    monkeypatch.setattr(Attribution, "attribute", judged)
    found = Attribution(None, 1.0, anywhere=False).occurrences(Incident([full], [late]))
    assert [each.cause for each in found] == told


@pytest.mark.parametrize(("later_ms", "told"), [(30, ["overload"]), (300, ["overload", "pool"])])
def test_an_overload_does_not_bring_about_what_began_before_it(monkeypatch, later_ms, told):
    """A pool that was held for 235 ms near capacity: it took a second to serve what piled up, and
    that was all that was told.
    """
    full, late = stall("app.1", 0, 500, 352), stall("app.1", later_ms, 1_480, 1_486)

    def judged(_attribution, each):
        cause = pool.CAUSE if each is full else replace(overload.CAUSE, by_chance=None)
        suspect = Suspect(cause=cause.name, subject="app.1", least=1.0, most=1.0, evidence=[])
        return Occurrence(each, Verdict(Assessment(cause, None, suspect), 0.97, []))

    monkeypatch.setattr(Attribution, "attribute", judged)
    found = Attribution(None, 1.0, anywhere=False).occurrences(Incident([late, full], []))
    assert [each.cause for each in found] == told


@pytest.mark.parametrize(("support", "named"), [(0.97, "overload"), (0.6, "lock")])
def test_of_two_that_are_as_sure_the_one_that_brings_the_other_about_is_named(
    monkeypatch, support, named
):
    """More users than two cores serve: all statements took longer and one waited for a lock, which
    was named, as causes are judged in the order of their names.
    """

    def shown(cause, least):
        suspect = Suspect(cause=cause.name, subject="db.1", least=least, most=least, evidence=[])
        return replace(cause, judge=lambda _context: suspect)

    causes = (shown(lock.CAUSE, 1.0), shown(overload.CAUSE, support))
    monkeypatch.setattr("tierlab.diagnosis.verdicts.CATALOGUE", causes)
    assert judge([SimpleNamespace()], 1.0).winner.cause.name == named


def test_a_callee_that_the_manifest_does_not_know_is_no_error(tmp_path):
    """Who receives late is asked how it was; of a stranger nothing is known."""
    lost = {"tcp": [{"subject": "ns", "retransmissions": 3}]}
    here = context(made_stall.make(tmp_path, "lb.1", lost), "lb.1", {"cache.1": 0.9})
    assert here.at("cache.1") is None
    assert loss.judge(here).subject == "cache.1"


def test_no_cause_brings_itself_about():
    """Of two that explain each other neither would be told."""
    explains = {each.name: each.explains for each in CATALOGUE}

    def follows(name):
        direct = explains.get(name, frozenset())
        return direct.union(*(follows(each) for each in direct))

    for name in explains:
        assert name not in follows(name)


@pytest.mark.parametrize(
    ("later_ms", "told"), [(100, ["overload", "unknown"]), (-100, ["overload"])]
)
def test_a_wait_of_no_known_cause_is_told_beside_an_overload_that_began_later(
    monkeypatch, later_ms, told
):
    """Of a restart that was not in the catalogue only the overload was told that it had left."""
    nameless = stall("web.1", 0, 900, 30)
    full = stall("app.1", later_ms, 900 + later_ms, 20)
    suspect = Suspect(cause=overload.NAME, subject="app.1", least=1.0, most=1.0, evidence=[])
    cause = replace(overload.CAUSE, by_chance=None)
    of = {
        "app.1": Verdict(Assessment(cause, None, suspect), 0.97, []),
        "web.1": Verdict(None, 0.0, []),
    }
    monkeypatch.setattr(
        Attribution, "attribute", lambda _attribution, each: Occurrence(each, of[each.server])
    )
    found = Attribution(None, 1.0, anywhere=False).occurrences(Incident([nameless, full], []))
    assert [each.cause for each in found] == told


def test_who_was_let_go_shortly_before_is_neither_lost_nor_a_surge(tmp_path):
    """A shaper held the web server's packets for 1.6 s and let them go 130 ms before the CPUs were
    full: with slow networks taken out of the catalogue a surge was named, and without that a loss,
    as what waits for long is sent again.
    """
    lost = {"tcp": [{"subject": "ns", "retransmissions": 3}]}
    well, let_go = made_stall.make(tmp_path / "well", "lb.1", lost), tmp_path / "let go"
    made_stall.make(let_go, "lb.1", lost)
    ticks = range(START + TICK, START + made_stall.LENGTH + 1, TICK)
    until_ns = STALL[0] - 130 * MS
    rows = [
        {"t_ns": end, "dt_ns": TICK, "subject": "lo", "queued_bytes": held}
        for end in ticks
        for held in [40_000 if until_ns - 1600 * MS < end <= until_ns else 0]
    ]
    made_stall.write(let_go, "net", rows)
    toward = {"db.1": 0.9}
    assert loss.judge(context(well, "lb.1", toward)).least > 0.7
    assert loss.judge(context(let_go, "lb.1", toward)).most == 0.0
    held_back = [
        each for each in burst.judge(context(let_go, "lb.1")).evidence if each.table == "net"
    ]
    assert [each.support for each in held_back] == [0.0]
