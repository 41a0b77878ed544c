"""A server whose requests have no thread to themselves: where its one is full, idle CPUs are of no
use.
"""

from __future__ import annotations

import pytest

from . import made_overload, made_stall
from .made_overload import FULL
from .made_stall import LENGTH, MS, START
from .signatures import diagnosed

SECOND = 1_000 * MS
SHARED = {"worker_threads": False}
UNKNOWN = {"worker_threads": None}


def make(folder, *, process=1, beside=(0.1,), kept=SHARED, **made):
    """An overload of eight CPUs of which one is busy. app.1 has that thread, the first of process
    1, and those ``beside`` it, which ran for that share of the time. They are looked at once a
    second.
    """
    made_overload.make(folder, **made)
    first = [row for row in made_stall.read(folder, "cpu") if row["subject"] == "cpu0"]
    rest = [row | {"subject": f"cpu{n}", "busy": 0.05} for row in first for n in range(1, 8)]
    made_stall.write(folder, "cpu", [*first, *rest])
    rows = made_stall.read(folder, "pressure")
    made_stall.write(folder, "pressure", [row | {"some": 0.02} for row in rows])
    threads = [
        {"t_ns": t, "dt_ns": SECOND, "subject": "app.1", "process": process, "name": "own"}
        | {"thread": thread, "run_ns": int(share * SECOND)}
        for t in range(START + SECOND, START + LENGTH + 1, SECOND)
        for thread, share in enumerate((ran(t), *beside), start=1)
    ]
    made_stall.write(folder, "process", [*made_stall.read(folder, "process"), *threads])
    known = made_overload.manifest()
    app = known.servers["app.1"].model_copy(update=kept)
    known.model_copy(update={"servers": known.servers | {"app.1": app}}).write(folder)
    return folder


def ran(end):
    return 1.0 if made_overload.is_full(end - SECOND // 2) else 0.62


@pytest.mark.parametrize(
    ("made", "shared"),
    [
        ({"kept": SHARED}, True),
        ({"kept": {"worker_threads": True}}, False),
        ({"kept": UNKNOWN}, True),
        ({"kept": UNKNOWN, "process": 7}, False),  # it is not the main thread
        ({"kept": UNKNOWN, "beside": (0.5, 0.6)}, False),  # others do more
        ({"kept": UNKNOWN | {"protocol": "postgresql"}}, False),  # a connection's own process
    ],
)
def test_one_full_thread_is_an_overload_where_all_requests_need_it(
    tmp_path, monkeypatch, made, shared
):
    """Responses took two seconds, a thread was busy for all of the time, and it was "Nothing
    abnormal": of all CPUs a fifth was busy. So it was, too, where nobody had said that they all
    need it, as of a program of the user's own.
    """
    monkeypatch.setattr(made_overload, "FULL", (START + 2 * SECOND, START + LENGTH))
    found = diagnosed(make(tmp_path, **made))
    told = [(each.cause, each.subject) for each in found.findings]
    assert told == ([("overload", "app.1")] if shared else [])
    if shared:
        assert "app.1 had more work than one thread can do: its busiest ran for 100%" in found.words


def test_what_it_can_carry_once_warm_is_what_fits_its_thread(tmp_path):
    """50 requests a second kept that busy for 0.62 of the time, and the CPUs for 0.12."""
    (finding,) = diagnosed(make(tmp_path, cold=3.0)).findings
    assert finding.demand.kind == "cold start"
    assert finding.demand.capacity.throughput == pytest.approx(50 / 0.62, rel=0.05)
    assert abs(finding.windows[0].end_ns - FULL[1]) <= SECOND
