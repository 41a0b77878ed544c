"""`tierlab runs`: what there is, on the terminal, as JSON and as a page."""

from __future__ import annotations

import html
import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_compare import RUNNER, run_folder
from tierlab.cli.main import app
from tierlab.errors import UserError
from tierlab.report.index import write_index
from tierlab.report.trials import trials


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two experiments: one of three trials, of which one failed, and one of a single trial."""
    tmp_path = tmp_path_factory.mktemp("runs")
    for number, (threads, state) in enumerate(((10, "done"), (50, "failed"), (50, "done")), 1):
        run_folder(
            tmp_path / f"pools/00{number}",
            4_000_000 * number,
            experiment="pools",
            trial=f"00{number}",
            factors={"system.app.soft.threads": threads, "load.mix": "<b>"},
            exit={"state": state, "error": "web.1 has died." if state == "failed" else None},
        )
    run_folder(tmp_path / "alone/001", 4_000_000, experiment="alone")
    return tmp_path


@pytest.fixture(scope="module")
def runs(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, listed before: each trial has its report."""
    copy = tmp_path_factory.mktemp("listed") / "runs"
    shutil.copytree(made, copy)
    listed(copy)
    return copy


def listed(*arguments: str | Path) -> str:
    result = RUNNER.invoke(app, ["runs", *map(str, arguments)])
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_every_trial_is_a_line_with_its_end_levels_and_figures(runs: Path) -> None:
    said = listed(runs)

    trials = [
        line.split() for line in said.splitlines() if line.split()[1:2] in (["done"], ["failed"])
    ]
    assert [line[:2] for line in trials] == [
        ["001", "done"],
        ["001", "done"],
        ["002", "failed"],
        ["003", "done"],
    ]
    assert trials[1][2:7] == ["10", '"<b>"', "50", "4.5", "ms"]


def test_json_has_a_line_for_each_trial(runs: Path) -> None:
    lines = [json.loads(line) for line in listed(runs, "--json").splitlines()]

    assert [(each["experiment"], each["trial"], each["state"]) for each in lines] == [
        ("alone", "001", "done"),
        ("pools", "001", "done"),
        ("pools", "002", "failed"),
        ("pools", "003", "done"),
    ]
    assert lines[2]["error"] == "web.1 has died."
    assert lines[1]["factors"] == {"system.app.soft.threads": 10, "load.mix": "<b>"}
    assert 0.0125 > lines[3]["time"]["p50_s"] > 0.012
    assert lines[3]["throughput"] == pytest.approx(50, rel=0.01)
    assert all(each["findings"] == [] for each in lines)


def test_the_page_shows_trials_side_by_side_and_loads_nothing(runs: Path) -> None:
    page = (runs / "index.html").read_text(encoding="utf-8")

    assert page.count('class="state done"') == 3
    assert "web.1 has died." in page
    assert 'href="pools/001/report.html"' in page
    assert "requests/s by <code>system.app.soft.threads</code>" in page
    assert "by <code>load.mix</code>" not in page, "of one level there is nothing to compare"
    assert "<b>" not in page.replace("&lt;b&gt;", "")
    assert "default-src 'none'" in html.unescape(page)
    assert "http" not in page.replace("http-equiv", "")


def test_an_experiment_s_folder_has_a_page_of_its_own(runs: Path) -> None:
    assert len(listed(runs / "pools", "--json").splitlines()) == 3
    assert 'href="002/report.html"' in (runs / "pools" / "index.html").read_text(encoding="utf-8")


def test_a_trial_without_a_report_says_so_and_shows_no_figures(made: Path) -> None:
    page = write_index(made).read_text(encoding="utf-8")

    assert page.count("not measured") == 4 * 4
    assert f"tierlab report {made}/pools/001" in page


def test_a_run_that_cannot_be_read_does_not_hide_the_others(made: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(made, runs)
    (runs / "pools/001/manifest.json").write_text("{")
    (runs / "pools/003/requests.parquet").write_text("no parquet")

    lines = [json.loads(line) for line in listed(runs, "--json").splitlines()]

    assert [(each["trial"], each["throughput"] is None) for each in lines] == [
        ("001", False),
        ("002", False),
        ("003", True),
    ]


def test_another_version_s_findings_are_not_listed_beside_this_one_s(
    runs: Path, tmp_path: Path
) -> None:
    """They are computed anew; a page that is made without that shows figures alone."""
    copy = tmp_path / "runs"
    shutil.copytree(runs, copy)
    file = copy / "pools/003/findings.json"
    told = json.loads(file.read_text()) | {"verdict": "not observed"}
    file.write_text(json.dumps({key: told[key] for key in told if key != "tierlab"}))
    shown = trials(copy / "pools")[-1]
    assert (shown.verdict, shown.throughput is None) == (None, False)

    lines = [json.loads(line) for line in listed(copy, "--json").splitlines()]

    assert [each["verdict"] for each in lines] == ["nothing abnormal"] * 4


def test_a_folder_without_runs_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no run folders; `tierlab run FILE` makes some"):
        listed(tmp_path)


def test_a_report_s_json_has_the_findings_and_the_folder(runs: Path) -> None:
    result = RUNNER.invoke(app, ["report", str(runs / "alone/001"), "--json"])

    found = json.loads(result.stdout)
    assert found["folder"] == str(runs / "alone/001")
    assert (found["verdict"], found["findings"]) == ("nothing abnormal", [])
    assert found["responses"]["count"] == 1000
