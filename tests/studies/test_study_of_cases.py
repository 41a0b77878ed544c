"""A study of several cases: from its run folders to one table and one page."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.diagnosis.made_stall import START, manifest, write
from tests.studies.made_cases import SECOND
from tests.studies.made_studies import calm
from tierlab.cli.main import app
from tierlab.errors import UserError
from tierlab.experiment import load as load_experiment
from tierlab.studies.gather import gather
from tierlab.studies.published import load
from tierlab.tables.manifest import Degree, read

TABLE = """
run_s = 2

[paper]
title = "T"
author = "A"
where = "W"
testbed = "there"
here = "here"

[[claims]]
figure = "1"
seen = "Uneven is less stable."
value = "<b>all</b>"
measure = "{measure}"
agrees = {{ least = 0.8 }}

[[drawn]]
figure = "1"
shows = "throughput"

[[cases]]
name = "even"
levels = {{ k = 1 }}
printed = {{ ADIN = "0.1" }}

[[cases]]
name = "uneven"
levels = {{ k = 2 }}

[[cases]]
name = "never run"
levels = {{ k = 3 }}
"""
DNU = {1: 0.0, 2: 0.45}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trials of each of two cases, and one of none."""
    folder = tmp_path_factory.mktemp("study") / "x"
    for number, level in enumerate((1, 2, 1, 2, 9), start=1):
        trial = calm(folder / f"{number:03}")
        manifest = read(trial)
        manifest.trial, manifest.factors = trial.name, {"k": level}
        if level in DNU:
            manifest.dnu = {"web.1": [Degree(from_ns=0, dnu=DNU[level])]}
        manifest.write(trial)
    table(folder.parent)
    return folder


def table(folder: Path, measure: str = "uneven less stable") -> Path:
    (folder / "x.published.toml").write_text(TABLE.format(measure=measure), encoding="utf-8")
    return folder / "x.toml"


def invoke(*arguments: str | Path) -> str:
    done = CliRunner().invoke(app, ["study", *map(str, arguments)])
    if done.exception is not None:
        raise done.exception
    assert done.exit_code == 0
    return done.stdout


def test_trials_are_gathered_by_the_cases_that_have_any(study: Path) -> None:
    found = gather(study, load(study.parent / "x.published.toml")).cases
    assert [(case.name, len(case.trials), case.dnu) for case in found] == [
        ("even", 2, 0.0),
        ("uneven", 2, 0.45),
    ]
    assert found[0].runs.size == 2 * len(found[0].trials[0].runs(2))


def test_runs_are_as_long_as_stated_in_a_trial_that_has_many(tmp_path: Path) -> None:
    made, seconds = manifest(), 96
    made.factors = {"k": 1}
    made.phases[0].end_ns = START + seconds * SECOND
    times = [START + second * SECOND + SECOND // 2 for second in range(seconds)]
    row = {"interaction": "Page", "status": 200}
    trial = tmp_path / "x" / "001"
    trial.mkdir(parents=True)
    write(trial, "requests", [row | {"intended_ns": at, "end_ns": at} for at in times])
    made.write(trial)
    (case,) = gather(trial.parent, load(table(tmp_path).with_name("x.published.toml"))).cases
    assert case.runs.tolist() == [1.0] * (seconds // 2)


def test_one_table_and_one_page_are_made_of_them_all(study: Path) -> None:
    shown = invoke(study.parent / "x.toml", "--of", study)
    assert "case by case" in shown
    assert str(study / "study.html") in shown.replace("\n", "")
    page = (study / "study.html").read_text(encoding="utf-8")
    said = html.unescape(page)
    assert "&lt;b&gt;all&lt;/b&gt;" in page
    assert "<b>all" not in page
    assert not re.search(r"(src|href)=\"(http|//)", page)
    assert "default-src 'none'; script-src 'none'" in said
    for number in range(1, 5):
        assert f'href="{number:03}/report.html"' in page
    assert "005/report.html" not in page
    assert "ADIN 0.1" in page
    assert "never run" not in page
    assert re.search(r"figure 1: throughput \(requests/s\), run by run.*<circle", page, re.DOTALL)


def test_the_json_has_the_cases(study: Path) -> None:
    found = json.loads(invoke(study.parent / "x.toml", "--of", study, "--json"))
    assert found["trial"] is None
    assert [case["name"] for case in found["cases"]] == ["even", "uneven"]
    assert found["cases"][0]["printed"] == {"ADIN": "0.1"}
    assert found["cases"][0]["trials"] == 2
    (row,) = found["rows"]
    assert row["functions"] == ["tierlab.analysis.comparing.instability.instability"]


def test_a_claim_about_one_run_has_no_place_among_cases(study: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="measure `clusters` is of one run, and this study has"):
        invoke(table(tmp_path, "clusters"), "--of", study)


def test_a_folder_without_a_trial_of_any_case_is_said_so(tmp_path: Path) -> None:
    trial = calm(tmp_path / "other" / "001")
    with pytest.raises(UserError, match=r"other: has no trial of any case of this study"):
        invoke(table(tmp_path), "--of", trial.parent)


def test_cases_on_emulated_processors_are_said_to_be_beside_the_claims(
    study: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "x"
    shutil.copytree(study, folder)
    manifest = read(folder / "002")
    manifest.environment, manifest.accelerator = "qemu", "tcg"
    manifest.write(folder / "002")
    sentence = "processors a machine's own (even, uneven), emulated (uneven)."

    shown = invoke(table(tmp_path), "--of", folder)
    found = json.loads(invoke(table(tmp_path), "--of", folder, "--json"))

    page = html.unescape((folder / "study.html").read_text(encoding="utf-8"))
    assert sentence in shown
    assert page.index(sentence) < page.index("What was published, and what is measured here")
    assert [each["trait"] for each in found["ground"]] == ["processors"]
    assert "same ground" not in invoke(study.parent / "x.toml", "--of", study)


EXPERIMENT = """
[experiment]
name = "x"
[system]
workload = "static"
[load]
users = 1
[factors]
"load.users" = [1, 2]
"""


def test_with_resume_cases_that_are_there_are_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was promised to who broke a study off, and was no option of its verb."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file, folder = table(tmp_path), tmp_path / "runs" / "x"
    claims = tmp_path / "x.published.toml"
    claims.write_text(claims.read_text().replace("{ k =", '{ "load.users" ='), encoding="utf-8")
    file.write_text(EXPERIMENT, encoding="utf-8")
    for plan in load_experiment(file).trials():
        trial = calm(folder / plan.trial)
        manifest = read(trial)
        manifest.trial, manifest.factors, manifest.plan = plan.trial, plan.levels, plan.as_file()
        manifest.write(trial)

    found = json.loads(invoke(file, "--runs", tmp_path / "runs", "--resume", "--json"))

    assert [(case["name"], case["trials"]) for case in found["cases"]] == [
        ("even", 1),
        ("uneven", 1),
    ]
    assert sorted(each.name for each in folder.iterdir()) == ["001", "002", "study.html"]
