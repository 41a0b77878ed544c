"""Requests that take seconds, one at a time, on CPUs that they fill: reports, parallel queries."""

from __future__ import annotations

from tierlab.tables.manifest import Exit, Manifest, Phase, ServerPart
from tierlab.tables.schemas import SCHEMAS

from . import made_stall
from .made_stall import MS, START, TICK
from .signatures import diagnosed

LENGTH = 30_000 * MS
PAUSE = 100 * MS
"""Between two of them: without it their waits are one."""


def make(folder, lengths_ms):
    """A run of one server on two CPUs that asks for one after another, of these lengths."""
    tables = {name: [] for name in SCHEMAS}
    at = START
    for number, length in enumerate(lengths_ms):
        _request(tables, number, at, at + length * MS)
        at += length * MS + PAUSE
    for end in range(START + TICK, START + LENGTH + 1, TICK):
        tick = {"t_ns": end, "dt_ns": TICK}
        for n in range(2):
            tables["cpu"].append(tick | {"subject": f"cpu{n}", "busy": 1.0, "steal": 0.0})
        used = {"cpu_ns": 95 * MS, "throttled_ns": 0, "weight": 1024, "major_faults": 0}
        tables["domain"].append(tick | {"subject": "app.1", "refaults": 0} | used)
        for resource, share in {"cpu": 0.95, "memory": 0.0, "io": 0.0}.items():
            row = {"subject": "app.1", "resource": resource, "some": share}
            tables["pressure"].append(tick | row)
    for name, rows in tables.items():
        made_stall.write(folder, name, rows)
    manifest().write(folder)
    return folder


def _request(tables, number, start, end):
    visit = {"visit": number, "server": "app.1", "label": "GET /report", "protocol": "x"}
    visit |= {"arrival_ns": start, "request_end_ns": start, "departure_ns": end}
    tables["visits"].append(visit | {"connection": number})
    tables["requests"].append(
        {"user": 0, "interaction": "Report", "intended_ns": start, "start_ns": start}
        | {"connected_ns": start, "first_byte_ns": end, "end_ns": end, "status": 200}
    )


def manifest():
    return Manifest(
        experiment="made",
        trial="001",
        environment="native",
        workload="made",
        created_ns=START,
        load={"users": 1, "think_ns": PAUSE},
        servers={
            "app.1": ServerPart(tier="app", server="own", address="127.0.0.1", port=1, protocol="x")
        },
        phases=[Phase(name="runtime", start_ns=START, end_ns=START + LENGTH)],
        exit=Exit(state="done"),
    )


def test_one_user_whose_requests_take_as_long_as_always_overloads_nothing(tmp_path):
    """In three of four seconds none ended: "The system is overloaded", with a confidence of 0.97.
    The last one is under way at the end.
    """
    assert diagnosed(make(tmp_path, [4_000] * 8)).verdict == "nothing abnormal"


def test_one_of_them_that_takes_more_than_three_times_as_long_is_found(tmp_path):
    (finding,) = diagnosed(make(tmp_path, [4_000, 4_000, 13_000, 4_000, 4_000])).findings
    assert (finding.cause, finding.subject) == ("overload", "app.1")
    (window,) = finding.windows
    begin, end = START + 8_200 * MS, START + 21_200 * MS
    assert abs(window.start_ns - begin) <= 1_000 * MS
    assert abs(window.end_ns - end) <= 1_000 * MS
