"""Who found a full accept queue asks again a second later: no trouble of its own."""

from __future__ import annotations

import numpy as np
import pytest

from tierlab.analysis.requests.dropped import Retransmitted
from tierlab.diagnosis.causes import burst, freeze, lock, memory
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.stalls import users_of
from tierlab.diagnosis.turned_away import without_asked_again
from tierlab.diagnosis.verdicts import Verdict

from .test_backlog import occurrence
from .test_incidents import stall

MS = 1_000_000
WEB = users_of("web.1")


def turned_away(count, first_ms, last_ms, server="web.1"):
    """So many who asked at one moment in vain, and for the last time at another."""

    def all_of(value):
        return np.full(count, value, dtype=np.int64)

    return Retransmitted(
        np.full(count, server, object), np.arange(count), all_of(first_ms * MS),
        all_of(last_ms * MS), all_of(1),
    )  # fmt: skip


def nameless(start_ms, end_ms, server=WEB):
    """A wait of a hundred at a server, of which no cause is known."""
    return Occurrence(stall(server, start_ms, end_ms, 100), Verdict(None, 0.0, []))


@pytest.mark.parametrize("held", [memory, freeze, lock, None, burst])
def test_who_was_turned_away_during_a_stall_makes_no_second_one(held):
    """Memory was taken from db.1 for 0.8 s; the web server's accept queue was full, and a second
    later it was said to keep users waiting for a reason that nobody knows.
    """
    first, again = occurrence(held, 0, 800), nameless(1700, 1900)
    assert without_asked_again([first, again], turned_away(60, 750, 1760)) == [first]


def test_who_is_turned_away_twice_does_not_either():
    first, again, third = occurrence(memory, 0, 800), nameless(1700, 1900), nameless(3700, 3900)
    asked = turned_away(60, 750, 3760)
    assert without_asked_again([first, again, third], asked) == [first, again]
    both = Retransmitted(
        *(np.concatenate(pair) for pair in zip(
            vars(asked).values(), vars(turned_away(60, 750, 1760)).values(), strict=True
        ))
    )  # fmt: skip
    assert without_asked_again([first, again, third], both) == [first]


@pytest.mark.parametrize(
    ("asked", "again"),
    [
        (turned_away(40, 750, 1760), nameless(1700, 1900)),
        (turned_away(60, 1650, 1760), nameless(1700, 1900)),
        (turned_away(60, 750, 2500), nameless(1700, 1900)),
        (turned_away(60, 750, 1760), nameless(1700, 1900, "app.1")),
        (turned_away(60, 750, 1760), occurrence(lock, 1700, 1900)),
        (turned_away(0, 750, 1760), nameless(1700, 1900)),
    ],
    ids=["few of them", "after the first", "later", "elsewhere", "a cause is known", "nobody"],
)
def test_a_wait_that_is_not_theirs_is_told(asked, again):
    first = occurrence(memory, 0, 800)
    assert without_asked_again([first, again], asked) == [first, again]
