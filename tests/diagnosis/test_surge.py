"""A surge is told from how independent users scatter, at few users and near capacity."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tierlab.analysis.observed import Observed, observe
from tierlab.analysis.span import Span
from tierlab.diagnosis.arrival_kinds import arrival_kinds
from tierlab.diagnosis.arrivals import Arrivals, dispersion
from tierlab.diagnosis.causes.overload import UP_TO_FULL_NS
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.surge import surge
from tierlab.diagnosis.thresholds import THRESHOLDS
from tierlab.tables.run import Run

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

S = 1_000_000_000
MS = 1_000_000


def told(came_ns, per_s, at_ns, *before_ns, asked=0, length_ns=200 * MS):
    """What is said of a stall that begins at that time, of visits that come at that rate, for so
    many requests: each for one unless said otherwise.
    """
    came_ns = np.sort(came_ns)
    sent_ns = np.linspace(0, 20 * S - 1, asked or came_ns.size)

    scatter = dispersion([came_ns], sent_ns, Span(0, 20 * S))
    window = Window(start_ns=at_ns, end_ns=at_ns + length_ns)
    return surge(
        SimpleNamespace(
            window=window,
            arrivals=(Arrivals(came_ns, per_s, scatter),),
        ),
        *before_ns,
    )


def observed_of(folder: Path, tables, seconds) -> Observed:
    phase = {"name": "runtime", "start_ns": 0, "end_ns": seconds * S}
    made_run.write_tables(folder, tables)
    made_run.manifest(phases=[phase]).write(folder)
    return observe(Run(folder))


def independent(per_s, seconds=20):
    return np.random.default_rng(7).uniform(0, seconds * S, per_s * seconds)


@pytest.mark.parametrize("per_s", [10, 100, 1000])
def test_independent_users_are_no_surge(per_s):
    came = independent(per_s)
    figures = [told(came, per_s, at) for at in range(S, 19 * S, 90 * MS)]
    assert max(figures) < THRESHOLDS["surge"].low


def pages(per_s, seconds=20):
    """What users ask for who each come for a page with a dozen files, or two dozen, in 60 ms."""
    dice = np.random.default_rng(7)
    start = dice.uniform(0, seconds * S, per_s * seconds)
    files = dice.integers(12, 25, start.size)
    return np.repeat(start, files) + dice.uniform(0, 60 * MS, files.sum())


@pytest.mark.parametrize("per_s", [1, 5, 50])
def test_a_page_with_all_its_files_is_no_surge(per_s):
    """25 users of whom three happened to come at once were one, with a confidence of 0.97."""
    came = pages(per_s)
    figures = [told(came, 16 * per_s, at, asked=20 * per_s) for at in range(S, 19 * S, 90 * MS)]
    assert max(figures) < THRESHOLDS["surge"].low


def test_a_surge_is_one_among_pages_too():
    at_once = np.linspace(10 * S - 100 * MS, 10 * S - 50 * MS, 300)
    found = told(np.concatenate([pages(5), at_once]), 80, 10 * S, asked=100)
    assert THRESHOLDS["surge"].support(found) > 0.25


def test_a_short_surge_near_capacity_is_one():
    """117 ms of 120 more users, most of them at once, were called an overload: of 150 ms they were
    but 1.6 times the usual.
    """
    at_once = np.linspace(10 * S - 90 * MS, 10 * S - 45 * MS, 150)
    found = told(np.concatenate([independent(850), at_once]), 850, 10 * S)
    assert THRESHOLDS["surge"].support(found) > 0.25


def test_what_lasts_longer_than_a_surge_can_make_it_is_none():
    """1.6 times the users that two cores serve, for 39 s: they had come quickly for a moment, so it
    was no overload, and one statement that waited for a lock was told.
    """
    came = np.concatenate([independent(100), np.linspace(9.9 * S, 10 * S, 200)])
    assert told(came, 100, 10 * S) > THRESHOLDS["surge"].high
    assert told(came, 100, 10 * S, length_ns=39 * S) == 0.0


def test_an_overload_is_told_from_who_came_all_at_once_before_the_cpus_were_full():
    """With no surge in the catalogue one of 1.6 s was an overload: 350 ms had gone by when the CPUs
    were full.
    """
    at_once = np.linspace(9.2 * S, 9.5 * S, 1200)
    came = np.concatenate([independent(850), at_once])
    assert told(came, 850, 10 * S) < THRESHOLDS["surge"].low
    assert told(came, 850, 10 * S, UP_TO_FULL_NS) > THRESHOLDS["surge"].high


def test_a_surge_among_pages_with_many_files_is_told_by_what_went_further(tmp_path):
    """163 to 364 ms of 150 to 600 more users were an overload: with 14 visits for each request they
    were twice the usual.
    """
    dice = np.random.default_rng(3)
    start = dice.uniform(0, 20 * S, 120 * 20)
    at_once = np.linspace(10 * S - 60 * MS, 10 * S - 20 * MS, 200)
    pages_ns = np.concatenate([start, at_once]).astype(np.int64)
    files_ns = (np.repeat(start, 13) + dice.uniform(0, 60 * MS, 13 * start.size)).astype(np.int64)
    rows = [("web.1", t, None) for t in (*pages_ns, *files_ns)]
    rows += [("app.1", t, visit) for visit, t in enumerate(pages_ns)]
    visits = [
        {"visit": number, "server": server, "arrival_ns": int(t), "request_end_ns": int(t)}
        | {"departure_ns": int(t) + MS, "parent": parent, "label": "x", "protocol": "http"}
        for number, (server, t, parent) in enumerate(rows)
    ]
    requests = [
        {"request": n, "start_ns": int(t), "intended_ns": int(t), "end_ns": int(t) + MS}
        for n, t in enumerate(np.sort(start))
    ]
    observed = observed_of(tmp_path, {"visits": visits, "requests": requests}, seconds=20)
    came = {"web.1": np.sort(np.concatenate([pages_ns, files_ns]))}
    kinds = arrival_kinds(observed, "web.1", came.__getitem__, np.sort(start).astype(np.int64))
    window = Window(start_ns=10 * S, end_ns=10 * S + 200 * MS)

    everything, pages_alone = (surge(SimpleNamespace(window=window, arrivals=(k,))) for k in kinds)
    assert everything < THRESHOLDS["surge"].low
    assert pages_alone > THRESHOLDS["surge"].high
