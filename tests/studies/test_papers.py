"""No figure of a paper is forgotten: the papers' files, the studies and the page fit together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tierlab.errors import UserError
from tierlab.installation import STUDIES
from tierlab.studies import papers, papers_page, records
from tierlab.studies.papers import PaperFile, mismatches
from tierlab.studies.papers_page import PAGE, Study, page
from tierlab.studies.published import Published
from tierlab.values.toml import as_toml

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
RENEW = "renew it: python -m tierlab.studies.papers_page docs/reference"
PAPERS = papers_page.paper_files()
OURS = papers_page.studies()

RESULT = {"shows": "S", "published": "P"}
SMALL: dict[str, Any] = {
    "title": "T",
    "author": "A. One, B. Two",
    "year": 2016,
    "where": "W",
    "figures": 2,
    "tables": 1,
    "reasons": {"counters": "it counts"},
    "results": [
        RESULT | {"figure": "1(a)", "claims": {"x": ["clusters"]}},
        RESULT | {"figure": "1(b)", "why": "counters"},
        RESULT | {"table": "1", "claims": {"x": ["clusters", "highest peak"]}},
    ],
    "no_results": [{"figure": "2", "shows": "a drawing"}],
}


def file(folder: Path, **changes: Any) -> Path:
    path = folder / "paper.toml"
    tables = SMALL | changes
    path.write_text("".join(f"{key} = {as_toml(each)}\n" for key, each in tables.items()))
    return path


def study(title: str = "T", measures: tuple[str, ...] = ("clusters", "highest peak")) -> Published:
    paper = {"title": title, "author": "A", "where": "W", "testbed": "T", "here": "H"}
    claims = [
        {"figure": "1", "seen": f"S {each}", "value": "V", "measure": each, "agrees": {"least": 1}}
        for each in measures
    ]
    return Published.model_validate({"paper": paper, "claims": claims})


def small(**changes: Any) -> PaperFile:
    return PaperFile.model_validate(SMALL | changes)


def test_all_papers_fit_all_studies() -> None:
    assert mismatches(PAPERS, {name: each.published for name, each in OURS.items()}) == []
    assert {paper.title for paper in PAPERS} >= {
        each.published.paper.title for each in OURS.values()
    }


def test_the_committed_page_is_current() -> None:
    assert (REFERENCE / PAGE).read_text(encoding="utf-8") == page(PAPERS, OURS), RENEW


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: f"{paper.author[:12]} {paper.year}")
def test_a_papers_studies_are_of_its_year(paper: PaperFile) -> None:
    for item in paper.results:
        for name in item.claims:
            assert str(paper.year) in OURS[name].published.paper.where


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"figures": 3}, "figure 3 is neither among the results nor said to have none"),
        ({"figures": 1}, "figure 2 is beyond the paper's last, 1"),
        ({"tables": 2}, "table 2 is neither among"),
        ({"no_results": []}, "figure 2 is neither among"),
        (
            {"results": [RESULT | {"figure": "1"}, *SMALL["results"][2:]]},
            "figure 1 has neither `claims` nor `why`",
        ),
        (
            {"results": SMALL["results"][1:]},
            "figure 1 is there more than once, or a part of it is missing",
        ),
        ({"results": [*SMALL["results"], SMALL["results"][2]]}, "table 1 is there more than once"),
        (
            {"no_results": [*SMALL["no_results"], {"figure": "1", "shows": "all"}]},
            "figure 1 is there more than once",
        ),
        ({"no_results": [{"figure": "II", "shows": "S"}]}, r"no_results\.0\.figure"),
        ({"no_results": [{"shows": "S"}]}, "must be either a figure or a table"),
        ({"reasons": {}}, "`counters` is no reason of this paper's"),
        ({"reasons": SMALL["reasons"] | {"other": "W"}}, "`other` is nobody's reason"),
    ],
)
def test_a_figure_that_is_forgotten_is_one_sentence(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    assert papers.load(file(tmp_path)) == small()
    with pytest.raises(UserError, match=says) as caught:
        papers.load(file(tmp_path, **changes))
    assert "paper.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("studies", "says"),
    [
        ({}, "figure 1(a): there is no study `x`."),
        ({"x": study(title="U")}, "figure 1(a): study `x` repeats another paper."),
        (
            {"x": study(measures=("clusters",))},
            "table 1: study `x` has no claim of measure `highest peak`.",
        ),
        (
            {"x": study(measures=("clusters", "highest peak", "fault burst"))},
            "study `x`: no figure names its claim of measure `fault burst`.",
        ),
        (
            {"x": study(measures=("clusters", "highest peak", "clusters"))},
            "study `x`: 2 claims are of measure `clusters`.",
        ),
    ],
)
def test_what_does_not_fit_is_named_and_no_page_is_written(
    studies: dict[str, Published], says: str
) -> None:
    assert mismatches([small()], {"x": study()}) == []
    assert any(each.endswith(says) for each in mismatches([small()], studies))
    with pytest.raises(UserError, match="do not fit the studies"):
        page([small()], {name: Study(each, []) for name, each in studies.items()})


def kept(**values: float) -> records.Kept:
    return records.Kept.model_validate(
        {
            "when": "2026-01-02",
            "machine": "M",
            "form": "one trial",
            "record": "studies.md#x",
            "values": {
                name.replace("_", " "): {"value": value, "words": f"{value} *s*"}
                for name, value in values.items()
            },
        }
    )


def rows(runs: list[records.Kept]) -> list[list[str]]:
    said = page([small()], {"x": Study(study(), runs)})
    cut = [line.strip("| ").split(" | ") for line in said.splitlines() if line.startswith("| ")]
    return [["" if cell.isspace() else cell.strip() for cell in cells] for cells in cut]


def test_a_claim_without_a_measurement_has_its_command_and_no_verdict() -> None:
    said = [" ".join(cells) for cells in rows([])]
    claims = [line for line in said if "`x`: S" in line]
    assert len(claims) == 3
    assert all("not measured not yet run: `tierlab study x`" in line for line in claims)
    assert any(
        "figure 1(b)" in line and "cannot be shown here: *counters*" in line for line in said
    )
    assert not any("figure 2" in line for line in said)


@pytest.mark.parametrize(
    ("measured", "verdict", "column"),
    [([1.5], "agrees", 4), ([0.5], "differs", 5), ([0.5, 1.5], "agrees in 1 of 2", 6)],
)
def test_a_verdict_is_the_bounds_own(measured: list[float], verdict: str, column: int) -> None:
    found = rows([kept(clusters=value) for value in measured])
    shown = [" ".join(cells) for cells in found if "S clusters" in " ".join(cells)]
    words = "; ".join(f"[{value} \\*s\\*](studies.md#x)" for value in measured)
    assert [f"V {words} **{verdict}**" in line for line in shown] == [True, True]
    overview = found[1]
    assert overview[0] == "[One et al. (2016)](#one-et-al-2016)"
    assert overview[1:4] == ["1 figure, 1 table", "1 figure, 1 table", "2"]
    # Each claim is counted once, however many figures it is of.
    assert [overview[each] for each in (4, 5, 6, 7)] == [
        "1" if each == column else "1" if each == 7 else "0" for each in (4, 5, 6, 7)
    ]


@pytest.mark.parametrize("name", [name for name, each in OURS.items() if each.kept])
def test_what_is_kept_stands_on_the_page_that_tells_of_it(name: str) -> None:
    found = OURS[name]
    measures = {claim.measure for claim in found.published.claims}
    for run in found.kept:
        assert run.values.keys() <= measures
        place, _, heading = run.record.partition("#")
        text = (REFERENCE / place).read_text(encoding="utf-8")
        (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        for value in run.values.values():
            for number in re.findall(r"\d[\d.,]*\d|\d", value.words):
                assert number in section, (run.record, value.words)
            share = re.match(r"(\d+) of (\d+)", value.words)
            first = float(re.findall(r"-?[\d.]+", value.words)[0])
            said = int(share[1]) / int(share[2]) if share else first
            assert value.value == pytest.approx(said, abs=0.001)


def test_every_file_of_measurements_has_its_study() -> None:
    for path in STUDIES.glob(f"*{records.SUFFIX}"):
        assert path.name.removesuffix(records.SUFFIX) in OURS
