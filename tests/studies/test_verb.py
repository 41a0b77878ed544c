"""The verb ``study``: its table, its JSON, its page, and what it says to bad input."""

from __future__ import annotations

import gc
import html
import json
import re
import weakref
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.studies.made_studies import transient
from tierlab import experiment
from tierlab.cli.main import app
from tierlab.cli.study import find, shortened
from tierlab.errors import UserError
from tierlab.installation import STUDIES
from tierlab.studies.published import beside, load
from tierlab.tables.manifest import read

TABLE = """
[paper]
title = "{title}"
author = "A"
where = "W"
testbed = "T"
here = "H"

[[claims]]
figure = "1"
seen = "S"
value = "V"
measure = "{measure}"
agrees = {{ {agrees} }}
"""
EXPERIMENT = """
[experiment]
name = "x"
[system]
workload = "static"
[load]
users = 1
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return transient(tmp_path_factory.mktemp("studies") / "run")


def invoke(*arguments: str | Path) -> str:
    done = CliRunner().invoke(app, ["study", *map(str, arguments)])
    if done.exception is not None:
        raise done.exception
    assert done.exit_code == 0
    return done.stdout


def published(folder: Path, **changes: str) -> Path:
    experiment = folder / "x.toml"
    words = {"title": "T", "measure": "clusters", "agrees": "least = 1"} | changes
    beside(experiment).write_text(TABLE.format(**words), encoding="utf-8")
    return experiment


def test_without_a_name_the_studies_are_listed() -> None:
    said = invoke()
    listed = [json.loads(line) for line in invoke("--json").splitlines()]

    assert [each["study"] for each in listed] == sorted(
        each.name.removesuffix(".published.toml") for each in STUDIES.glob("*.published.toml")
    )
    times = {each["study"]: each["minutes"] for each in listed}
    assert times["vcpu-mapping-static-xen"] == 20
    assert (
        "9 trials, took some 20 minutes where it was measured; --short: 4 trials, took some 6"
        " minutes where it was measured)"
    ) in said
    assert times["native-container-vm"] == 6
    for each in listed:
        assert each["study"] in said.splitlines()
        assert f"  {each['question']} (" in said
        assert each["paper"]["title"] in said


def test_a_study_of_more_than_ten_minutes_has_a_short_form_of_its_own_cases() -> None:
    for each in map(json.loads, invoke("--json").splitlines()):
        file = find(each["study"])
        form = shortened(each["study"], load(beside(file)))
        assert bool(form) == (each["short"] is not None) == ((each["minutes"] or 0) > 10)
        if not form:
            continue
        asked = experiment.load(file, assignments=form)
        assert asked.about.name == f"{each['study']}-short"
        assert each["short"]["trials"] == len(asked.trials()) < each["trials"] / 2
        assert each["short"]["phases_minutes"] < each["phases_minutes"] / 2
        cases = load(beside(file)).cases
        assert all(trial.levels in [case.levels for case in cases] for trial in asked.trials())


def test_the_json_has_a_row_for_every_claim(run: Path) -> None:
    found = json.loads(invoke("transient-events", "--of", run, "--json"))
    claims = load(beside(find("transient-events"))).claims
    assert [row["seen"] for row in found["rows"]] == [claim.seen for claim in claims]
    assert {row["verdict"] for row in found["rows"]} == {"agrees"}


def test_the_terminal_has_published_and_measured_side_by_side(run: Path) -> None:
    shown = invoke("transient-events", "--of", run)
    assert "14 agree, 0 differ, 0 not measured" in shown
    assert str(run / "study.html") in shown.replace("\n", "")


def test_the_page_needs_nothing_else_and_shows_both(run: Path) -> None:
    invoke("transient-events", "--of", run)
    page = (run / "study.html").read_text(encoding="utf-8")
    head = html.unescape(page[: page.index("<script>")])
    assert "default-src 'none'" in head
    assert not re.search(r"(src|href)=\"(http|//)", head)
    for claim in load(beside(find("transient-events"))).claims:
        assert claim.seen in head
        assert claim.value in head
    assert head.count('class="text verdict"') == 14
    assert 'id="chart-response"' in head


def test_what_the_table_says_stays_text(run: Path, tmp_path: Path) -> None:
    file = published(tmp_path, title="<script>alert(1)</script>")
    invoke(file, "--of", run)
    page = (run / "study.html").read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert "<script>alert" not in page


def test_an_unknown_study_is_answered_with_those_there_are() -> None:
    with pytest.raises(UserError, match=r"no study `x`: there are container-instances, core"):
        invoke("x")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"measure": "nothing"}, r"claims\.0: has no measure `nothing`: there are barriers lag"),
        ({"agrees": ""}, r"claims\.0\.agrees: gives neither least nor most"),
        ({"agrees": "least = 2, most = 1"}, r"claims\.0\.agrees: has a least above its most"),
        ({"title": '"'}, r"not valid TOML"),
    ],
)
def test_a_bad_table_is_one_sentence(
    run: Path, tmp_path: Path, changes: dict[str, str], says: str
) -> None:
    with pytest.raises(UserError, match=says) as caught:
        invoke(published(tmp_path, **changes), "--of", run)
    assert "\n" not in str(caught.value)
    assert "x.published.toml" in str(caught.value)


def test_a_refused_table_keeps_nothing_alive(tmp_path: Path) -> None:
    """It kept the frames of whoever read it; DuckDB complained of that as Python ended."""

    class Witness:
        """A local variable of the reader."""

    def read() -> weakref.ref[Witness]:
        witness = Witness()
        with pytest.raises(UserError) as caught:
            load(beside(published(tmp_path, measure="nothing")))
        assert "no measure" in str(caught.value)
        return weakref.ref(witness)

    witness = read()
    gc.collect()
    assert witness() is None


def test_a_study_without_a_table_is_said_to_need_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"x\.published\.toml: no such file"):
        invoke(tmp_path / "x.toml")


def test_an_experiment_that_does_not_exist_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"x\.toml: no such file"):
        invoke(published(tmp_path), "--runs", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (["--short"], "--short"),
        (["--set", "load.users=5"], "--set"),
        (["--resume"], "--resume"),
        (["--runs", "elsewhere"], "--runs"),
    ],
)
def test_what_says_what_to_run_is_refused_beside_of(
    run: Path, option: list[str], says: str
) -> None:
    """It did nothing, without a word."""
    with pytest.raises(UserError, match=rf"^study: {says} does not go with --of") as caught:
        invoke("transient-events", "--of", run, *option)
    assert "\n" not in str(caught.value)


def test_a_trial_that_is_there_is_compared_and_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--resume was promised to who broke a study off, and was no option of its verb."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = published(tmp_path)
    file.write_text(EXPERIMENT, encoding="utf-8")
    (plan,) = experiment.load(file).trials()
    folder = transient(tmp_path / "runs" / "x" / "001")
    manifest = read(folder)
    manifest.plan = plan.as_file()
    manifest.write(folder)

    shown = invoke(file, "--runs", tmp_path / "runs", "--resume")

    assert [each.name for each in folder.parent.iterdir()] == ["001"]
    assert "1 agree, 0 differ, 0 not measured" in shown
    assert (folder / "study.html").is_file()
    assert invoke(file, "--runs", tmp_path / "runs", "--resume") == ""
