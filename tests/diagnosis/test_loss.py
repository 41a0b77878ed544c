"""Where on their way packets were lost: before the capture, or behind it at the receiver."""

from __future__ import annotations

import json

import pytest

from tierlab.diagnosis.catalogue import CATALOGUE

from . import made_stall
from .made_stall import MS, STALL, TICK, Rows
from .signatures import SIGNATURES, diagnosed

EACH_TICK = 3
LOST = {"subject": "ns", "retransmissions": EACH_TICK}


def again(server: str, sender: str, **detail: bool) -> Rows:
    """Return as many segments as ``LOST`` has, captured again on connections to that server."""
    said = {"from": sender, "client": "127.0.0.1", "bytes": 100, "connection": 1, **detail}
    what = {"kind": "retransmission", "subject": server, "detail": json.dumps(said)}
    return [
        {"t_ns": t + n * MS, "duration_ns": 0} | what
        for t in range(STALL[0] + MS, STALL[1], TICK)
        for n in range(EACH_TICK)
    ]


@pytest.mark.parametrize(
    ("stalled", "captured_again"),
    [("db.1", ("db.1", "client")), ("app.1", ("app.1", "client")), ("app.1", ("lb.1", "server"))],
)
def test_a_firewall_that_drops_at_the_server_itself_is_told_there(
    tmp_path, stalled, captured_again
):
    """What it drops has passed the capture, requests and replies alike: the other end of the way
    was named.
    """
    extra = {"events": again(*captured_again)}
    (found,) = diagnosed(made_stall.make(tmp_path, stalled, {"tcp": [LOST]}, extra)).findings
    assert (found.cause, found.subject) == ("loss", stalled)
    assert "at its own end" in found.words
    assert "the server itself" in found.remedies[0].change


@pytest.mark.parametrize(
    ("stalled", "other_end", "arrived", "detail"),
    [("lb.1", "db.1", 0, {"captured_before": False}), ("db.1", "lb.1", EACH_TICK, {})],
)
def test_what_was_lost_before_the_capture_is_told_at_the_far_end(
    tmp_path, stalled, other_end, arrived, detail
):
    """Segments behind it had come; or requests arrived, and what was lost is their answers."""
    counted = {"retransmissions": EACH_TICK + arrived, "spurious_retransmissions": arrived}
    extra = {"events": again("db.1", "client", **detail)}
    folder = made_stall.make(tmp_path, stalled, {"tcp": [LOST | counted]}, extra)
    (found,) = diagnosed(folder).findings
    assert (found.cause, found.subject) == ("loss", other_end)


@pytest.mark.parametrize(
    ("queue", "dropped", "another", "found"),
    [
        (0, 0, 0, ("loss", "app.1")),
        (101, 0, 0, ("unknown", "web.1")),
        (0, 100, 0, ("unknown", "web.1")),
        (0, 100, 101, ("loss", "app.1")),
    ],
)
def test_connection_requests_that_are_lost_count_when_they_are_lost(
    tmp_path, queue, dropped, another, found
):
    """A firewall before one that is asked for a connection by each request: those that wait ask
    again only when it is open. It was told as a pool; so do those whom a full accept queue drops,
    which may be full for less than a tick: a study's database thrashed, and who had been sent away
    meanwhile asked again all at once, seconds later; some of them in vain, and that was a loss. Of
    whom another's full queue drops nothing is known: near capacity a loss of half a second at the
    database filled the web server's, and had no name.
    """
    said = json.dumps({"attempt": 1, "since_first_ns": 1000 * MS, "connection": 1})
    again_ns = range(STALL[0] + 1010 * MS, STALL[1] + 990 * MS, 20 * MS)
    what = {"kind": "syn_retransmission", "subject": "app.1", "detail": said, "duration_ns": 0}
    queues = {"app.1": queue, "web.1": another}
    samples = {"listen": [{"subject": each, "accept_queue": queues[each]} for each in queues]}
    samples["tcp"] = [{"subject": "ns", "listen_drops": dropped}]
    extra = {"events": [{"t_ns": t} | what for t in again_ns]}
    findings = diagnosed(made_stall.make(tmp_path, "web.1", samples, extra)).findings
    assert [(each.cause, each.subject) for each in findings] == [found]


def test_packets_that_another_server_lost_at_its_own_end_are_no_loss_here(tmp_path):
    """While a database's firewall was shut, the application's wait for a connection was told as
    packets that the balancer between them missed.
    """
    extra = {"events": again("web.1", "client")}
    found = diagnosed(made_stall.make(tmp_path, "lb.1", {"tcp": [LOST]}, extra)).findings
    assert [(each.cause, each.subject) for each in found] == [("unknown", "lb.1")]


def test_who_is_sent_away_by_another_server_is_no_loss_here(tmp_path):
    """A cold cache filled all above it, and whom the web server's full accept queue sent away asked
    again: the counters do not say whom, and packets to the balancer were told as lost.
    """
    asked = {"kind": "syn_retransmission", "subject": "web.1", "duration_ns": 0}
    detail = {"detail": json.dumps({"attempt": 2})}
    again_ns = range(STALL[0] + MS, STALL[1], TICK // EACH_TICK)
    counted = {"tcp": [LOST | {"syn_retransmissions": EACH_TICK}]}
    events = {"events": [{"t_ns": t} | asked | detail for t in again_ns]}
    found = diagnosed(made_stall.make(tmp_path / "away", "lb.1", counted, events)).findings
    assert [each.cause for each in found] == ["unknown"]
    (lost,) = diagnosed(made_stall.make(tmp_path / "lost", "lb.1", counted)).findings
    assert (lost.cause, lost.subject) == ("loss", "db.1")


def test_at_which_end_is_said_to_be_unknown_where_nothing_tells(tmp_path):
    folder = made_stall.make(tmp_path, "lb.1", {"tcp": [LOST]})
    (sure,) = diagnosed(folder).findings
    assert "not known" not in sure.words
    (folder / "events.parquet").unlink()
    (found,) = diagnosed(folder).findings
    assert (found.cause, found.subject) == ("loss", "db.1")
    assert "at which end of the way is not known" in found.words
    assert found.confidence < sure.confidence


def test_only_those_with_a_connection_can_have_waited_for_a_packet(tmp_path):
    """RUBiS' 32 processes waited for packets to the database, 500 requests for one of them: a lost
    segment for each process was few for so many that waited, and a pool was told.
    """
    folder = made_stall.make(tmp_path, "lb.1", {"tcp": [{"subject": "ns", "retransmissions": 1}]})
    visits = made_stall.read(folder, "visits")
    at_db = [row for row in visits if row["server"] == "db.1"]
    of_two = [row | {"connection": number % 2} for number, row in enumerate(at_db)]
    others = [row for row in visits if row["server"] != "db.1"]
    made_stall.write(folder, "visits", others + of_two)
    (found,) = diagnosed(folder).findings
    assert (found.cause, found.subject) == ("loss", "db.1")
    words = [each.words for each in found.evidence if each.table == "tcp"]
    assert words == ["segments were lost and sent again: 6, for 2 that waited"]


@pytest.mark.parametrize("name", ["shrunk pool", "held workers"])
def test_a_pool_that_lost_packets_fill_is_not_what_holds_the_requests(tmp_path, monkeypatch, name):
    """With lost packets taken out of the catalogue the pool was told, whose workers waited for
    them.
    """
    others = tuple(each for each in CATALOGUE if each.name != "loss")
    monkeypatch.setattr("tierlab.diagnosis.verdicts.CATALOGUE", others)
    _, stalled, samples, extra = SIGNATURES[name]
    lost = samples | {"tcp": [LOST | {"retransmissions": 30}]}
    found = diagnosed(made_stall.make(tmp_path / "lost", stalled, lost, extra)).findings
    assert [each.cause for each in found] == ["unknown"]
    alone = diagnosed(made_stall.make(tmp_path / "alone", stalled, samples, extra)).findings
    assert [each.cause for each in alone] == ["pool"]


def test_who_waits_to_be_accepted_behind_lost_packets_waits_for_no_pool(tmp_path, monkeypatch):
    """RUBiS' processes waited for the database's packets, and requests for them: where lost packets
    were taken out of the catalogue their pool was told, as no packets to itself were lost.
    """
    others = tuple(each for each in CATALOGUE if each.name != "loss")
    monkeypatch.setattr("tierlab.diagnosis.verdicts.CATALOGUE", others)
    full = {"listen": [{"subject": "lb.1", "accept_queue": 101}]}
    extra = {"events": again("db.1", "client", captured_before=False)}
    lost = diagnosed(made_stall.make(tmp_path / "lost", "lb.1", full | {"tcp": [LOST]}, extra))
    assert [each.cause for each in lost.findings] == ["unknown"]
    alone = diagnosed(made_stall.make(tmp_path / "alone", "lb.1", full))
    assert [(each.cause, each.subject) for each in alone.findings] == [("pool", "lb.1")]
