"""The CPU time of a visit is what its thread's clock says, where nearly all visits have that."""

from __future__ import annotations

import pytest

from tests import visit_parts

from . import made_overload, made_stall
from .made_overload import FULL
from .signatures import diagnosed

DEAR = "GET /search"
MS = 1_000_000


def with_cpu(folder, cpu_ms, every=1):
    """Give all visits but one in ``every`` the CPU time that ``cpu_ms`` says of a row."""
    visits = made_stall.read(folder, "visits")
    rows = [
        row if every > 1 and at % every == 0 else row | {"cpu_ns": round(cpu_ms(row) * MS)}
        for at, row in enumerate(visits)
    ]
    made_stall.write(folder, "visits", rows)
    return folder


def demand(folder):
    (finding,) = diagnosed(folder).findings
    assert finding.cause == "overload"
    assert finding.demand is not None
    return finding.demand, finding.words


def by_warmth(row):
    return 2.0 if row["departure_ns"] > FULL[1] else 8.0


def test_a_cold_start_is_told_by_the_threads_clocks(tmp_path):
    found, words = demand(with_cpu(made_overload.make(tmp_path, cold=3.0), by_warmth))

    assert (found.kind, found.cost_from) == ("cold start", "threads")
    assert found.cost_s == pytest.approx(0.008)
    assert found.later_cost_s == pytest.approx(0.002)
    assert "a visit took 4.0 times the CPU time that it took later, by its threads' clocks" in words


def test_where_many_visits_lack_their_cpu_time_the_control_group_tells(tmp_path):
    untraced, words = demand(made_overload.make(tmp_path / "untraced", cold=3.0))
    part = made_overload.make(tmp_path / "part", cold=3.0)

    found, said = demand(with_cpu(part, by_warmth, every=10))

    assert found == untraced
    assert found.cost_from == "control group"
    assert said == words
    assert "clocks" not in said


def test_an_expensive_kind_of_request_is_told_by_its_cpu_time(tmp_path):
    """Visits of both kinds stay equally long, as they wait for the same CPUs."""
    cheap = made_overload.make(tmp_path / "cheap", dear=DEAR)
    dear = made_overload.make(tmp_path / "dear", dear=DEAR)

    one, _ = demand(with_cpu(cheap, lambda row: 0.1 if row["label"] == DEAR else 20.0))
    other, words = demand(with_cpu(dear, lambda row: 15.0 if row["label"] == DEAR else 10.0))

    assert one.kind == "users"
    assert (other.kind, other.label) == ("expensive", DEAR)
    assert other.label_gained == pytest.approx(0.6, abs=0.02)
    assert f"the share of the visits' CPU time that {DEAR} took" in words


def test_a_run_with_all_parts_is_diagnosed_as_one_without(tmp_path):
    folder = made_overload.make(tmp_path)
    before = diagnosed(folder)
    visit_parts.add(folder)

    after = diagnosed(folder)

    named = [(each.cause, each.subject, each.windows) for each in before.findings]
    assert [(each.cause, each.subject, each.windows) for each in after.findings] == named
    assert after.findings[0].demand.cost_from == "threads"
