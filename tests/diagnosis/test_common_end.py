"""Packets late on two ways of one server are told of once, of the end that both share."""

from __future__ import annotations

import pytest

from tierlab.diagnosis.causes import loss, network, pool
from tierlab.diagnosis.common_end import without_other_ways
from tierlab.diagnosis.finding import Suspect
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.verdicts import Assessment, Verdict

from .test_incidents import stall


def late(cause, sender, receiver, start_ms=0, waiting=20):
    """The sender's stall of a second, in which the receiver was reached late."""
    suspect = Suspect(cause=cause.NAME, subject=receiver, least=1.0, most=1.0, evidence=[])
    verdict = Verdict(Assessment(cause.CAUSE, None, suspect), 0.9, [])
    return Occurrence(stall(sender, start_ms, start_ms + 1000, waiting), verdict)


@pytest.mark.parametrize("cause", [loss, network])
def test_answers_that_a_lossy_server_misses_are_no_loss_on_the_way_to_those_it_asks(cause):
    """Packets to the application were lost for a second: so were the database's answers to it when
    it asked for connections, and the database was told of as reached late, too.
    """
    mine, other = late(cause, "web.1", "app.1"), late(cause, "app.1", "db.1")
    assert without_other_ways([other, mine]) == [mine]


@pytest.mark.parametrize(
    "mine",
    [
        late(network, "web.1", "app.1"),
        late(loss, "web.1", "app.1", 1000),
        late(loss, "web.1", "lb.1"),
        late(pool, "app.1", "app.1"),
    ],
    ids=["another cause", "another time", "a way without that end", "no way"],
)
def test_a_way_of_which_that_server_is_not_known_to_be_the_reason_is_told(mine):
    other = late(loss, "app.1", "db.1")
    assert without_other_ways([mine, other]) == [mine, other]


def test_a_server_that_answers_late_itself_is_told():
    """Its own packets are late at both ends: nobody else is."""
    both = [late(network, "users", "web.1"), late(network, "web.1", "web.1")]
    assert without_other_ways(both) == both


@pytest.mark.parametrize("waiting", [20, 30])
def test_of_two_that_reach_each_other_late_one_is_told(waiting):
    """Requests and replies are late: each seemed to be the other's doing, and neither was told."""
    asked = late(loss, "web.1", "app.1", waiting=25)
    answered = late(loss, "app.1", "web.1", waiting=waiting)
    heavier = max(asked, answered, key=lambda each: each.stall.total_ns)
    assert without_other_ways([asked, answered]) == [heavier]


def test_only_who_is_told_of_excuses_another():
    """The way from the balancer to the database does not end at the application."""
    ways = [
        late(loss, "web.1", "app.1"),
        late(loss, "app.1", "lb.1"),
        late(loss, "lb.1", "db.1"),
    ]
    assert without_other_ways(ways) == [ways[0], ways[2]]
