"""A run and an experiment as a notebook opens them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

import tierlab
from tests import visit_parts
from tierlab.analysis.queues.waits import PARTS
from tierlab.environments.identity import identify
from tierlab.errors import UserError
from tierlab.notebook.run import OpenedRun
from tierlab.report import build
from tierlab.report.stored import this_version
from tierlab.tables.rows import write_rows
from tierlab.tables.schemas import INSTANTS, TABLES


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trials, the second of which failed before its first request."""
    folder = tmp_path_factory.mktemp("runs") / "threads"
    first, second = folder / "001", folder / "002"
    first.mkdir(parents=True)
    second.mkdir()
    shape = made_run.Shape(requests=2_000, users=300, seed=3)
    made_run.make(first, shape, {"factors": {"load.users": 300}})
    failed = {"state": "failed", "error": "httpd did not start"}
    made_run.manifest(trial="002", factors={"load.users": 600}, phases=[], exit=failed).write(
        second
    )
    return folder


@pytest.fixture(scope="module")
def run(experiment: Path) -> OpenedRun:
    return tierlab.open(experiment / "001")


def test_a_moment_has_a_timestamp_in_utc_beside_its_nanoseconds(
    run: OpenedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")

    frame = run.requests.order_by("end_ns").limit(1).execute()

    assert str(frame.end_time.dtype) == "datetime64[us, UTC]"
    expected = datetime.fromtimestamp(frame.end_ns[0] // 10**9, UTC).replace(tzinfo=None)
    assert frame.end_time[0].tz_localize(None).floor("s") == pd.Timestamp(expected)


def test_rows_of_a_view_are_what_they_were(run: OpenedRun) -> None:
    (first,) = run.connect().execute("SELECT * FROM cpu LIMIT 1").fetchall()

    assert len(first) == len(TABLES["cpu"].names)


def test_every_column_that_holds_a_moment_has_one_and_no_duration_has() -> None:
    moments = {name for schema in TABLES.values() for name in schema.names} & INSTANTS.keys()
    durations = {
        name
        for schema in TABLES.values()
        for name in schema.names
        if name.endswith("_ns") and name not in INSTANTS
    }

    assert moments == INSTANTS.keys()
    assert durations == {
        *("dt_ns", "duration_ns", "read_time_ns", "write_time_ns", "run_ns", "wait_ns"),
        *("may_wait_ns", "cpu_ns", "throttled_ns", "poll_ns", "row_lock_time_ns", "delay_ns"),
        *("queued_ns", "runnable_ns", "stopped_ns", "disk_ns", "lock_ns", "calls_ns"),
        *("connecting_ns", "other_ns", "sending_ns", "asleep_ns"),
    }


def test_tab_completes_the_tables_that_are_there(run: OpenedRun, experiment: Path) -> None:
    assert {"requests", "visits", "cpu", "summary", "findings", "manifest"} <= set(dir(run))
    assert "requests" not in dir(tierlab.open(experiment / "002"))


def figures(run: OpenedRun) -> tuple[object, ...]:
    """Some that are the same to the last digit each time they are computed."""
    found = run.summary.responses
    return found.count, found.time.p50_s, found.time.max_s, [each.words for each in run.findings]


def test_figures_and_findings_are_those_of_the_report(run: OpenedRun) -> None:
    computed = figures(run)
    report = build(run.path)
    stored = tierlab.open(run.path)

    assert computed == figures(stored)
    assert (stored.summary, stored.diagnosis) == (report.summary, report.diagnosis)
    assert stored.findings == report.diagnosis.findings != []


def test_figures_of_another_version_are_computed_anew(run: OpenedRun) -> None:
    build(run.path)
    expected = figures(tierlab.open(run.path))
    (run.path / "summary.json").write_text('{"format": 0}')

    assert figures(tierlab.open(run.path)) == expected


def alter(file: Path, by: str | None, **changes: object) -> None:
    """Have a file that a report left say other things, by such a version; None: an older file."""
    told = json.loads(file.read_text()) | changes
    if by is None:
        del told["tierlab"]
    else:
        told["tierlab"] = by
    file.write_text(json.dumps(told))


@pytest.mark.parametrize("by", [this_version(), "0.0.9", None], ids=["this", "other", "old"])
def test_only_what_this_version_found_is_taken_from_a_report(
    run: OpenedRun, tmp_path: Path, by: str | None
) -> None:
    """After an upgrade, figures and findings by other rules were shown beside new ones."""
    folder = tmp_path / "001"
    shutil.copytree(run.path, folder)
    report = build(folder)
    alter(folder / "summary.json", by, caveats=["other rules"])
    alter(folder / "findings.json", by, words="other rules")

    opened = tierlab.open(folder)

    is_this = by == this_version()
    assert opened.summary.caveats == (["other rules"] if is_this else report.summary.caveats)
    assert opened.diagnosis.words == ("other rules" if is_this else report.diagnosis.words)


def test_it_shows_itself_with_its_answer_and_escapes_what_comes_from_outside(
    run: OpenedRun, tmp_path: Path
) -> None:
    shown = run._repr_html_()
    made_run.manifest(question="<script>alert(1)</script>", phases=[]).write(tmp_path)

    assert "requests/s" in shown
    assert run.findings[0].words.partition("'")[0] in shown
    assert "<script>" not in tierlab.open(tmp_path)._repr_html_()


def test_a_run_that_cannot_be_analysed_shows_why(tmp_path: Path) -> None:
    made_run.manifest().write(tmp_path)
    (tmp_path / "requests.parquet").write_text("no parquet")

    assert "cannot be read as Parquet" in tierlab.open(tmp_path)._repr_html_()


def test_an_experiment_is_one_frame_of_factors_figures_and_findings(
    experiment: Path, run: OpenedRun
) -> None:
    frame = tierlab.open_experiment(experiment)

    assert list(frame.trial) == ["001", "002"]
    assert list(frame.state) == ["done", "failed"]
    assert list(frame["load.users"]) == [300, 600]
    found = run.summary.responses
    assert (frame.throughput[0], frame.p99_s[0]) == (found.throughput, found.time.p99_s)
    assert frame.cause[0] == run.findings[0].cause
    assert frame[["throughput", "p50_s", "p99_s", "very_long", "cause"]].isna().all(axis=1)[1]
    assert frame.error[1] == "httpd did not start"


def killed(folder: Path, **owner: int) -> Path:
    """A trial of ten seconds with a request a second, of which only streams are there."""
    streams, logs = folder / "streams", folder / "logs"
    streams.mkdir(parents=True)
    logs.mkdir()
    second = made_run.SECOND
    zero = dict.fromkeys(("user", "session", "bytes"), 0) | {"attempts": 1, "status": 200}
    sent = [made_run.START_NS + number * second for number in range(10)]
    times = [{"intended_ns": at, "start_ns": at, "end_ns": at + second // 10} for at in sent]
    write_rows(
        streams / "drive.requests.arrows",
        "requests",
        [{**zero, "interaction": "home", **each} for each in times],
    )
    runtime = {"t_ns": made_run.START_NS, "duration_ns": 10 * second, "kind": "phase"}
    write_rows(
        streams / "drive.events.arrows",
        "events",
        [{**runtime, "subject": "runtime", "detail": "{}"}],
    )
    running: dict[str, Any] = {"exit": {"state": "running"}, "phases": [], "servers": {}}
    made_run.manifest(trial=folder.name, owner=owner, **running).write(folder)
    return folder


def test_a_trial_that_was_killed_is_finished_as_it_is_opened(tmp_path: Path) -> None:
    """It looked empty, and as if it ran still."""
    run = tierlab.open(killed(tmp_path / "001", pid=2**22 + 1, start=1))

    assert run.manifest.exit.state == "failed"
    assert run.requests.count().execute() == 10
    assert run.summary.responses is not None
    assert run.summary.responses.count == 10


def test_a_trial_that_still_runs_is_opened_as_it_is(tmp_path: Path) -> None:
    me = identify(os.getpid())
    run = tierlab.open(killed(tmp_path / "001", pid=me.pid, start=me.start))

    assert run.manifest.exit.state == "running"
    assert run.tables == []
    assert (run.path / "streams").is_dir()


def test_a_trial_that_cannot_be_read_has_a_row_with_the_reason(
    experiment: Path, tmp_path: Path
) -> None:
    """One broken manifest refused the whole frame."""
    folder = tmp_path / "threads"
    for number in ("000", "001", "003", "004"):
        shutil.copytree(experiment / "001", folder / number)
    (folder / "000/manifest.json").write_text("{")
    (folder / "003/requests.parquet").write_text("no parquet")
    (folder / "003/summary.json").unlink(missing_ok=True)
    killed(folder / "005", pid=2**22 + 1, start=1)

    frame = tierlab.open_experiment(folder)

    assert [Path(each).name for each in frame.folder] == ["000", "001", "003", "004", "005"]
    assert frame.trial[0] == "000"
    assert list(frame.throughput.isna()) == [True, False, True, False, False]
    assert "cannot be read as a manifest" in frame.error[0]
    assert "cannot be read as Parquet" in frame.error[2]
    assert list(frame.state[1:]) == ["done", "done", "done", "failed"]
    assert list(frame.columns[:3]) == ["trial", "state", "load.users"]
    assert frame["load.users"][2] == 300


def test_a_folder_without_trials_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no run folders; name an experiment's folder"):
        tierlab.open_experiment(tmp_path)


def test_analyses_that_no_report_shows_are_there(run: OpenedRun) -> None:
    long = run.long_requests
    parts = ("late", "retransmission", "page", "client", "images", "rest")
    assert len(long) > 0
    assert long["end_time"].dt.tz is not None
    total = sum(long[f"{part}_s"] for part in parts)
    assert (total - long["response_s"]).abs().max() < 1e-6
    points = run.congestion_points
    assert {each.server for each in points} == set(run.manifest.servers)
    assert all(each.load is None or each.low <= each.load <= each.high for each in points)
    assert all(each.first != each.second for each in run.alternations)


def test_what_visits_waited_for_is_a_frame_of_all_and_of_the_slowest(
    run: OpenedRun, tmp_path: Path
) -> None:
    folder = tmp_path / "001"
    shutil.copytree(run.path, folder)
    visit_parts.add(folder, ["web.1", "app.1", "db.1"])
    frame = tierlab.open(folder).waits
    parts = [f"{name}_s" for name in PARTS]

    assert list(frame.server) == ["web.1", "web.1", "app.1", "app.1", "lb.1", "db.1", "db.1"]
    traced = frame[frame.server != "lb.1"]
    assert list(traced.of) == ["all", "slowest"] * 3
    assert (traced[parts].sum(axis=1) - traced.mean_s).abs().max() < 1e-9
    assert (traced.mean_s[traced.of == "slowest"] > 0).all()
    assert traced.why.isna().all()
    (untraced,) = frame[frame.server == "lb.1"].to_dict("records")
    assert untraced["why"] == "no thread had a request to itself"
    assert frame[frame.server == "lb.1"][["mean_s", *parts]].isna().all(axis=None)


def test_a_run_that_was_not_traced_says_so_in_its_frame(run: OpenedRun) -> None:
    assert set(run.waits.why) == {"threads were not traced"}
    assert run.waits.cpu_s.isna().all()


def test_a_trial_that_failed_has_none_of_them(experiment: Path) -> None:
    run = tierlab.open(experiment / "002")
    assert run.long_requests.empty
    assert (run.congestion_points, run.alternations) == ([], [])
    assert run.waits.empty
