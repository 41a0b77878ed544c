"""The sentences of the first screen, of runs written row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_run
import pytest

from tierlab.analysis.observed import observe
from tierlab.analysis.summary import Summary, summarise
from tierlab.report.words import answer, busy, slow
from tierlab.tables.run import Run

SECOND = 1_000_000_000


def summary_of(folder: Path, tables: dict[str, list[dict[str, Any]]], **changes: Any) -> Summary:
    """The summary of ten seconds."""
    phase = {"name": "runtime", "start_ns": 0, "end_ns": 10 * SECOND}
    made_run.write_tables(folder, tables)
    made_run.manifest(**{"phases": [phase], "servers": {}, **changes}).write(folder)
    observed = observe(Run(folder))
    try:
        return summarise(observed)
    finally:
        observed.db.close()


def request(end_s: float, took_s: float, **columns: Any) -> dict[str, Any]:
    sent_ns, end_ns = round((end_s - took_s) * SECOND), round(end_s * SECOND)
    row = {"interaction": "home", "request_id": f"{end_s}", "status": 200, "attempts": 1}
    return row | {"intended_ns": sent_ns, "start_ns": sent_ns, "end_ns": end_ns, **columns}


def ticks(subject: str, busy: float) -> list[dict[str, Any]]:
    return [
        {"t_ns": n * SECOND, "dt_ns": SECOND, "subject": subject, "busy": busy}
        for n in range(1, 11)
    ]


@pytest.mark.parametrize(
    ("tables", "first"),
    [
        ({"cpu": ticks("cpu0", 0.2), "inside_cpu": ticks("app.1/cpu0", 1.0)}, "app.1/cpu0 100 %"),
        ({"cpu": ticks("cpu0", 0.2), "inside_disk": ticks("db.1/vda", 1.0)}, "disk db.1/vda 100 %"),
    ],
)
def test_a_guest_that_is_full_on_a_machine_that_is_not_is_said_to_be(
    tmp_path: Path, tables: dict[str, list[dict[str, Any]]], first: str
) -> None:
    """One virtual CPU that moves over sixteen is a sixteenth of each."""
    summary = summary_of(tmp_path, {"requests": [request(4.0, 3.0)], **tables})
    assert "took over 2 s" in slow(summary)
    assert "although" not in slow(summary)
    assert busy(summary).startswith(f"Busiest: {first} mean, 100 % peak")


def test_where_the_servers_are_elsewhere_the_driver_s_machine_is_none_of_theirs(
    tmp_path: Path,
) -> None:
    tables = {"cpu": ticks("cpu0", 0.9), "disk": ticks("vda", 0.9)}
    tables |= {"inside_cpu": ticks("app.1/cpu0", 0.3)}
    summary = summary_of(
        tmp_path, {"requests": [request(4.0, 3.0)], **tables}, environment="vsphere"
    )
    assert "although no core or disk averaged above 30 %" in slow(summary)
    assert [each.subject for each in summary.busiest] == ["app.1/cpu0"]


def test_an_idle_machine_is_still_said_to_be(tmp_path: Path) -> None:
    tables = {"requests": [request(4.0, 3.0)], "cpu": ticks("cpu0", 0.2)}
    summary = summary_of(tmp_path, {**tables, "inside_cpu": ticks("app.1/cpu0", 0.25)})
    assert "although no core or disk averaged above 25 %" in answer(summary).slow


def test_the_load_of_several_systems_is_told_of_all_and_of_each(tmp_path: Path) -> None:
    """Of users and requests that are offered only the users were told, and no shape of one system
    of several.
    """
    curve = [[0, 250.0], [10 * SECOND, 500.0]]
    shop = {"users": 60, "rate": None, "speed": None, "shape": None}
    loads = {
        "shop": shop,
        "board": shop | {"users": None, "rate": 500.0, "shape": {"kind": "points", "curve": curve}},
        "site": shop | {"users": 40, "shape": {"kind": "waves", "curve": [[0, 4.0], [1, 40.0]]}},
        "log": shop | {"users": None, "speed": 2.0},
    }
    systems = {name: {"workload": "rubis", "load": load} for name, load in loads.items()}
    rows = [request(4.0, 0.5, system=name) for name in loads]
    summary = summary_of(
        tmp_path,
        {"requests": rows},
        systems=systems,
        load={"users": 100, "rate": 500.0, "speed": None, "shape": None},
    )

    said = answer(summary)

    assert (
        "native · at most 100 users · at most 500 requests/s offered · a log at 2 times its speed"
        in said.title
    )
    of_each = {line.partition(" (")[0]: line.partition("): ")[0] for line in said.systems}
    assert of_each == {
        "shop": "shop (rubis, 60 users",
        "board": "board (rubis, at most 500 requests/s offered",
        "site": "site (rubis, at most 40 users",
        "log": "log (rubis, a log at 2 times its speed",
    }


def test_a_constant_load_beside_one_with_a_shape_is_no_highest(tmp_path: Path) -> None:
    shape = {"kind": "points", "curve": [[0, 250.0], [10 * SECOND, 500.0]]}
    loads = {"shop": {"users": 60}, "board": {"rate": 500.0, "shape": shape}}
    summary = summary_of(
        tmp_path,
        {"requests": [request(4.0, 0.5, system="shop")]},
        systems={name: {"workload": "rubis", "load": load} for name, load in loads.items()},
        load={"users": 60, "rate": 500.0},
    )
    assert " · 60 users · at most 500 requests/s offered · shape points" in answer(summary).title
