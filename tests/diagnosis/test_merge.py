"""Occurrences of one cause at one server make one finding."""

from __future__ import annotations

from tierlab.diagnosis.merge import Occurrence, merged
from tierlab.diagnosis.verdicts import Verdict
from tierlab.diagnosis.words import times

from .test_incidents import MS, stall


def test_one_stall_seen_from_both_sides_is_told_of_once():
    """A surge stalls the way to a server and the server: the demo's page said "twice" of it."""
    nothing = Verdict(None, 0.0, [])
    seen = [
        stall("web.1.users", 50, 1124, 80),
        stall("web.1", 0, 722, 60),
        stall("web.1", 5000, 5100, 9),
    ]
    (found,) = merged([Occurrence(each, nothing) for each in seen], "web.1")
    windows = [(each.start_ns // MS, each.end_ns // MS) for each in found.windows]
    assert windows == [(0, 1124), (5000, 5100)]
    assert times(found.windows) == "twice for 100 to 1124 ms"
