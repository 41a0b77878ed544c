"""Dropped connection requests and very long requests, against a simulated run that knows them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tierlab.analysis.requests.dropped import retransmitted, waiters
from tierlab.analysis.requests.explain_request import explain

from .conftest import Tiny
from .simulated_queues import MS, SECOND

US = 1_000
WEB = ["web.1"]


@dataclass
class Life:
    """Requests of a page and its images, each exchange on a connection of its own."""

    dice: np.random.Generator
    requests: list[dict[str, Any]] = field(default_factory=list)
    visits: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    waits: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)

    def request(self, intended: int, drops: list[int], page_ns: int, images: int) -> None:
        """``drops``: how often the SYN of each exchange is sent again."""
        start = intended + self.micro(40)
        at, waited, first_byte = start, 0, 0
        for number in range(1 + images):
            asked = at
            for attempt in range(drops[number] if number < len(drops) else 0):
                at = asked + ((2 << attempt) - 1) * SECOND + self.micro(900)
                detail = {"connection": len(self.visits), "since_first_ns": at - asked}
                self.events.append(
                    {
                        "t_ns": at,
                        "kind": "syn_retransmission",
                        "subject": "web.1",
                        "detail": json.dumps(detail),
                    }
                )
            waited += at - asked
            arrival = at + self.micro(80)
            stay = page_ns if number == 0 else 200 * US + self.micro(300)
            self.visits.append(
                {
                    "visit": len(self.visits),
                    "connection": len(self.visits),
                    "server": "web.1",
                    "arrival_ns": arrival,
                    "reply_start_ns": arrival + stay - 20 * US,
                    "departure_ns": arrival + stay,
                }
            )
            if number == 0:
                self.pages.append(len(self.visits) - 1)
                connected, first_byte = arrival + self.micro(30), arrival + stay
            at = arrival + stay + self.micro(60)
        self.requests.append(
            {
                "interaction": "ViewStory",
                "intended_ns": intended,
                "start_ns": start,
                "connected_ns": connected,
                "first_byte_ns": first_byte,
                "end_ns": at,
                "status": 200,
            }
        )
        self.waits.append(waited)

    def micro(self, most: int) -> int:
        return int(self.dice.integers(1, most + 1)) * US


def crowd(seed: int, count: int = 1_500) -> Life:
    """A crowd in two seconds, so that many visits stand between any two moments."""
    dice = np.random.default_rng(seed)
    life = Life(dice)
    for intended in np.sort(dice.integers(0, 2 * SECOND, count)).tolist():
        drops = dice.choice([0, 1, 2], size=3, p=[0.9, 0.07, 0.03]).tolist()
        page_ns = int(dice.choice([3, 40, 700, 2_500])) * MS + int(dice.integers(0, 5 * MS))
        life.request(intended, drops, page_ns, int(dice.choice([0, 1, 2], p=[0.1, 0.8, 0.1])))
    return life


@pytest.mark.parametrize("seed", range(3))
def test_every_second_of_very_long_requests_is_explained(tiny: Tiny, seed: int) -> None:
    life = crowd(seed)
    observed = tiny(
        {"requests": life.requests, "visits": life.visits, "events": life.events}, seconds=20
    )
    assert observed.whole is not None
    found = explain(observed.db, observed.whole, WEB, 0.9)
    assert found is not None
    order = sorted(range(len(life.requests)), key=lambda n: life.requests[n]["intended_ns"])
    long = [
        n
        for n in order
        if life.requests[n]["end_ns"] - life.requests[n]["intended_ns"] > 0.9 * SECOND
    ]
    assert found.end_ns.size == len(long) > 400
    assert found.explained.mean() >= 0.99
    truth = np.array([life.pages[n] for n in long])
    assert (found.page_visit == truth).mean() >= 0.99
    waits = np.array([life.waits[n] for n in long])
    assert (np.abs(found.retransmission_ns - waits) <= MS).mean() >= 0.99
    assert (found.late_ns >= 0).all()


def test_drops_are_matched_to_the_visits_that_waited(tiny: Tiny) -> None:
    life = crowd(5, 300)
    observed = tiny(
        {"requests": life.requests, "visits": life.visits, "events": life.events}, seconds=20
    )
    assert observed.whole is not None
    dropped = retransmitted(observed.db, observed.whole)
    assert dropped.retransmissions.sum() == len(life.events)
    assert dropped.waited_ns.sum() == sum(life.waits)
    visits = waiters(observed.db, dropped)
    assert visits.found.all()
    assert (visits.visit == dropped.connection).all()
    assert (visits.arrival_ns > dropped.last_ns).all()


def test_only_the_first_visit_of_a_kept_connection_waited(tiny: Tiny) -> None:
    detail = json.dumps({"connection": 7, "since_first_ns": SECOND})
    event = {"t_ns": SECOND, "kind": "syn_retransmission", "subject": "web.1", "detail": detail}
    visit = {"server": "web.1", "connection": 7}
    first = {"visit": 0, "arrival_ns": SECOND + MS, "departure_ns": SECOND + 2 * MS}
    later = {"visit": 1, "arrival_ns": 2 * SECOND, "departure_ns": 4 * SECOND}
    request = {"intended_ns": 0, "start_ns": 0, "connected_ns": SECOND + MS, "status": 200}
    kept = {"intended_ns": 2 * SECOND, "start_ns": 2 * SECOND, "connected_ns": None, "status": 200}
    observed = tiny(
        {
            "requests": [
                {**request, "first_byte_ns": SECOND + 2 * MS, "end_ns": SECOND + 2 * MS},
                {**kept, "first_byte_ns": 4 * SECOND, "end_ns": 4 * SECOND},
            ],
            "visits": [{**visit, **first}, {**visit, **later}],
            "events": [event],
        },
        seconds=9,
    )
    assert observed.whole is not None
    found = explain(observed.db, observed.whole, WEB, 0.5)
    assert found is not None
    assert found.page_visit.tolist() == [0, 1]
    assert found.retransmission_ns.tolist() == [SECOND, 0]
    assert found.page_ns.tolist() == [MS, 2 * SECOND]
    assert found.explained.all()


def test_requests_that_never_arrived_or_were_never_answered(tiny: Tiny) -> None:
    """A connect timeout is all retransmission; a request timeout is all visit."""
    details = [
        json.dumps({"connection": 3, "since_first_ns": since * SECOND, "attempt": since})
        for since in (1, 3)
    ]
    events = [
        {"t_ns": s * SECOND, "kind": "syn_retransmission", "subject": "web.1", "detail": detail}
        for s, detail in zip((1, 3), details, strict=True)
    ]
    never = {"intended_ns": 0, "start_ns": 0, "end_ns": 5 * SECOND, "error": "connect_timeout"}
    asked = {"intended_ns": SECOND, "start_ns": SECOND, "end_ns": 6 * SECOND}
    unanswered = {**asked, "connected_ns": SECOND + MS, "error": "request_timeout"}
    visit = {"visit": 9, "server": "web.1", "arrival_ns": SECOND + MS, "departure_ns": None}
    observed = tiny(
        {"requests": [never, unanswered], "visits": [visit], "events": events}, seconds=9
    )
    assert observed.whole is not None
    found = explain(observed.db, observed.whole, WEB, 2)
    assert found is not None
    assert found.page_visit.tolist() == [-1, 9]
    assert found.retransmission_ns.tolist() == [5 * SECOND, 0]
    assert found.page_ns.tolist() == [0, 5 * SECOND - MS]
    assert found.explained.all()


def test_what_is_not_there_is_not_explained(tiny: Tiny) -> None:
    slow = {"intended_ns": 0, "start_ns": 0, "connected_ns": 5, "end_ns": 3 * SECOND}
    observed = tiny({"requests": [slow]}, seconds=9)
    assert observed.whole is not None
    assert explain(observed.db, observed.whole, WEB) is None
    visit = {"server": "web.1", "arrival_ns": 4 * SECOND, "departure_ns": 5 * SECOND}
    observed = tiny({"requests": [slow], "visits": [visit]}, seconds=9)
    assert observed.whole is not None
    found = explain(observed.db, observed.whole, WEB)
    assert found is not None
    assert found.page_visit.tolist() == [-1]
    assert found.explained.tolist() == [False]


def test_words_that_are_no_json_are_passed_over(tiny: Tiny) -> None:
    event = {"t_ns": 5, "kind": "syn_retransmission", "subject": "web.1", "detail": "again"}
    observed = tiny({"events": [event]})
    assert observed.whole is not None
    dropped = retransmitted(observed.db, observed.whole)
    assert dropped.count == 0
    assert waiters(observed.db, dropped).visit.size == 0
