import numpy as np
import pytest

from tierlab.analysis.observed import observe
from tierlab.analysis.requests.very_long import Cluster, VeryLong
from tierlab.analysis.span import Span
from tierlab.diagnosis.finding import Finding, Window
from tierlab.report import lines
from tierlab.report.lines import DETAIL_S, Axis, fine, moments
from tierlab.report.panels import Shade, panels, telling
from tierlab.tables.run import Run

SECOND = 1_000_000_000
HOUR = Span(0, 3_600 * SECOND)


def slow(*clusters):
    found = [
        Cluster(start_ns=at * SECOND, end_ns=(at + length) * SECOND, count=count)
        for at, length, count in clusters
    ]
    return VeryLong(
        threshold_s=2.0,
        threshold_from="setting",
        count=1,
        share=0,
        failed=0,
        retried=0,
        clusters=found,
    )


def test_the_largest_clusters_come_first_with_their_wait_and_margins():
    found = moments(slow((100, 1, 5), (500, 2, 9)), HOUR)
    assert [count for _, count in found] == [9, 5]
    assert found[0][0] == Span(499 * SECOND, 505 * SECOND)
    assert moments(None, HOUR) == []


def test_moments_stay_in_the_trial_and_within_their_allowance():
    ((span, _),) = moments(slow((0, 1, 5)), Span(0, 2 * SECOND))
    assert span == Span(0, 2 * SECOND)
    many = moments(slow(*((10 * n, 1, 1) for n in range(300))), HOUR)
    assert 0 < sum(each.seconds for each, _ in many) <= DETAIL_S


def test_every_point_of_a_moment_is_drawn_and_the_rest_decimated():
    t = np.arange(0, HOUR.end_ns, 50_000_000)
    value = np.random.default_rng(1).normal(size=t.size)
    detail = Span(1_000 * SECOND, 1_005 * SECOND)
    line = Axis(HOUR, [detail]).line("queue", ("c0", "solid"), t, value)
    inside = (line.t >= 1_000) & (line.t < 1_005)
    assert line.value[inside].tolist() == value[20_000:20_100].tolist()
    assert line.t.size < t.size / 5
    assert line.value.max() == pytest.approx(value.max())
    assert (np.diff(line.t) > 0).all()


def test_stretches_are_drawn_finely_as_long_as_their_allowance_lasts():
    short, next_one = Span(5 * SECOND, 6 * SECOND), Span(9 * SECOND, 100 * SECOND)
    assert fine([short, HOUR, next_one, next_one]) == [short, next_one]


def test_a_finding_as_long_as_the_runtime_is_decimated_and_zoomed_to(made, monkeypatch):
    """An overload kept every point of every panel: tens of MB an hour."""
    monkeypatch.setattr(lines, "BUCKETS", 20)
    monkeypatch.setattr(lines, "DETAIL_S", 1.0)
    observed = observe(Run(made.folder))
    span, whole = observed.measured, observed.whole
    window = Window(start_ns=span.start_ns, end_ns=span.end_ns)
    overload = Finding.model_construct(cause="overload", subject="db.1", windows=[window])
    try:
        drawn = panels(observed, made.summary, [overload])
    finally:
        observed.db.close()
    assert max(line.t.size for panel in drawn.panels for line in panel.lines) <= 4 * 20
    assert [each.kind for each in drawn.shades].count("finding") == 1
    assert drawn.found == [(0, whole.seconds, "overload at db.1")]


def test_packets_lost_all_the_time_mark_none():
    """At a thousand requests a second with some lost each second the whole axis was shaded."""
    often = [Shade("retransmission", at, at + 0.1) for at in np.arange(0, 60, 0.25)]
    seldom = [Shade("syn_retransmission", 12, 14.5), Shade("retransmission", 20, 20.4)]
    assert telling([*often, *seldom], 60) == seldom[:1]
    assert telling(seldom, 60) == seldom


def test_many_instants_mark_as_much_as_the_page_draws():
    instants = [Shade("retransmission", at, at) for at in np.linspace(0, 3600, 600)]
    assert telling(instants, 3600) == []
