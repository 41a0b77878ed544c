"""The page: the same figures as JSON and terminal, everything escaped, nothing from elsewhere."""

import base64
import hashlib
import json
import re
from itertools import pairwise

import made_run
import numpy as np
from rich.console import Console
from typer.testing import CliRunner

from tierlab.analysis.by_system import SystemFigures
from tierlab.analysis.observed import observe
from tierlab.analysis.requests.run_rules import run_verdict
from tierlab.cli.main import app
from tierlab.report import build, figures, terminal
from tierlab.report.diagnosis import heading, why
from tierlab.report.page import render
from tierlab.report.payload import embed
from tierlab.report.picture import picture
from tierlab.report.words import answer
from tierlab.tables.rules import RunRules
from tierlab.tables.run import Run

from .reader import Page

HOSTILE = """</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>'"&\u2028{{7*7}}"""


def test_terminal_json_and_page_show_the_same_figures(made):
    printed = CliRunner().invoke(app, ["report", str(made.folder), "--json"])
    assert printed.exit_code == 0
    summary = json.loads(printed.stdout)
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    terminal.show(made.summary, made.diagnosis, console, "report.html")
    shown, page = console.export_text(), Page(made.html).text
    time = summary["responses"]["time"]
    expected = [
        f"{figures.number(summary['responses']['throughput'])} requests/s",
        f"{figures.seconds(time['mean_s'])} mean",
        f"{figures.seconds(time['p50_s'])} p50",
        f"{figures.seconds(time['p99_s'])} p99",
        f"{figures.seconds(time['max_s'])} worst",
        f"{figures.share(summary['very_long']['share'])} over 2 s",
    ]
    for words in expected:
        assert words in shown
        value, what = words.rsplit(" ", 1) if "over" not in words else words.split(" over ")
        what = "over 2 s" if "over" in words else what
        assert f"{what} {value}" in page
    said = answer(made.summary)
    for sentence in (said.slow, said.time, said.busy, said.queues, said.quality):
        assert sentence
        assert sentence in shown
        assert sentence in page
    for tier in summary["time"]["tiers"]:
        assert f"{tier['tier']} {figures.share(tier['share'])}" in said.time


def test_the_terminal_takes_ten_lines_at_most_beside_the_findings(made):
    warned = made.summary.model_copy(update={"caveats": [f"Caveat {n}." for n in range(9)]})
    shown = terminal.lines(answer(warned), made.diagnosis, "report.html")
    assert len(shown) == 10 + len(why(made.diagnosis))
    assert "more warnings" in shown[-3].plain


def test_causes_are_written_as_words(made):
    """They are identifiers in the JSON: `slow_clients`."""
    (finding, *_) = made.diagnosis.findings
    suspect = finding.ruled_out[0].model_copy(update={"cause": "slow_clients"})
    finding = finding.model_copy(update={"ruled_out": [suspect]})
    diagnosis = made.diagnosis.model_copy(update={"findings": [finding]})
    page = Page(render(made.summary, diagnosis, made.manifest, None)).text
    shown = " ".join(line.plain for line in why(diagnosis))
    for text in (page, shown):
        assert "Ruled out: slow clients." in text
        assert "slow_clients" not in text
    assert (finding.cause, finding.subject) == ("memory", "db.1")
    assert "Too little memory at db.1" in page
    assert heading(finding.model_copy(update={"cause": "unknown"})) == "No known cause at db.1"


def test_no_colour_without_a_terminal(made):
    printed = CliRunner().invoke(app, ["report", str(made.folder)])
    assert printed.exit_code == 0
    assert "\x1b" not in printed.stdout
    assert len(printed.stdout.splitlines()) <= 10 + len(why(made.diagnosis))


def test_a_foreign_run_cannot_steer_the_terminal(tmp_path):
    steering = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\n\u202e\u2028end"
    request = {"intended_ns": made_run.START_NS + 6 * made_run.SECOND, "error": steering}
    request["end_ns"] = request["intended_ns"] + 1_000
    tick = {"t_ns": request["end_ns"], "dt_ns": 50_000_000, "subject": steering, "busy": 1.0}
    made_run.make(
        tmp_path,
        made_run.Shape(requests=300, users=60),
        {
            "experiment": steering,
            "environment": steering,
            "exit": {"state": "failed", "error": steering},
            "servers": {steering: made_run.servers()["web.1"]},
        },
    )
    made_run.write_tables(tmp_path, {"requests": [request], "cpu": [tick]})
    printed = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert printed.exit_code == 0
    assert "]0;owned[2J31m   end" in printed.stdout
    assert {each for each in printed.stdout if not each.isprintable()} == {"\n"}
    assert len(printed.stdout.splitlines()) <= 11


def test_the_page_needs_nothing_else(made):
    page = Page(made.html)
    for tag, attributes in page.tags:
        assert tag not in {"link", "iframe", "object", "embed", "base"}
        assert not attributes.get("src")
        assert not str(attributes.get("href", "#")).startswith(("http", "//"))


def test_only_the_pages_own_scripts_may_run(made):
    page = Page(made.html)
    policy = page.first("meta", **{"http-equiv": "Content-Security-Policy"})["content"]
    allowed = set(re.findall(r"'sha256-([^']+)'", policy.split("script-src")[1].split(";")[0]))
    assert "unsafe" not in policy.split("script-src")[1].split(";")[0]
    ran = re.findall("<script>(.*?)</script>", made.html, re.DOTALL)
    assert len([1 for attributes, _ in page.scripts if "type" not in attributes]) == len(ran)
    hashes = {base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in ran}
    assert len(ran) == 2
    assert hashes == allowed


def test_json_in_the_page_cannot_end_its_script():
    text = embed({"name": HOSTILE})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"name": HOSTILE}


def test_hostile_strings_stay_text(tmp_path):
    shape = made_run.Shape(requests=300, users=60)
    part = made_run.servers()["web.1"].model_dump()
    made_run.make(
        tmp_path,
        shape,
        {
            "experiment": HOSTILE,
            "question": HOSTILE,
            "environment": HOSTILE,
            "host": {HOSTILE: {HOSTILE: HOSTILE}},
            "not_measured": {HOSTILE: HOSTILE},
            "servers": {
                HOSTILE: {**part, "tier": HOSTILE, "server": HOSTILE, "soft": {HOSTILE: 1}}
            },
            "load": {"users": 60, "mix": HOSTILE},
            "exit": {"state": "failed", "error": HOSTILE},
        },
    )
    row = {"intended_ns": made_run.START_NS + 6 * made_run.SECOND, "error": HOSTILE}
    request = {**row, "end_ns": row["intended_ns"] + 1_000, "interaction": HOSTILE}
    at = {"t_ns": row["intended_ns"], "dt_ns": 50_000_000, "subject": HOSTILE}
    stay = {"arrival_ns": row["intended_ns"], "departure_ns": row["intended_ns"] + 500}
    made_run.write_tables(
        tmp_path,
        {
            "requests": [request],
            "visits": [{**stay, "visit": 1, "server": HOSTILE}],
            "cpu": [{**at, "busy": 1.0}],
            "listen": [{**at, "accept_queue": 3}],
            "events": [{"t_ns": at["t_ns"], "kind": HOSTILE, "subject": HOSTILE}],
        },
    )
    html = build(tmp_path).page.read_text(encoding="utf-8")
    page = Page(html)
    assert len([1 for attributes, _ in page.scripts if "type" not in attributes]) == 2
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert not [1 for _, attributes in page.tags for name in attributes if name.startswith("on")]
    data = next(text for attributes, text in page.scripts if attributes.get("id") == "data")
    assert HOSTILE in {
        line["name"] for panel in json.loads(data)["panels"] for line in panel["lines"]
    }
    assert "49" not in page.text.split("{{7*7}}")[0][-5:]
    assert "{{7*7}}" in page.text


def test_every_servers_visit_time_stands_below_the_response_time(made):
    page = Page(made.html)
    data = next(text for attributes, text in page.scripts if attributes.get("id") == "data")
    panels = {panel["key"]: panel for panel in json.loads(data)["panels"]}
    assert list(panels)[:2] == ["response", "visit"]
    lines = panels["visit"]["lines"]
    assert [line["name"] for line in lines] == [each.name for each in made.summary.servers]
    assert panels["visit"]["orders"]
    longest = {line["name"]: floats(line["value"]) for line in lines}
    for server in made.summary.servers:
        assert 0 < np.nanmean(longest[server.name]) < 1e3 * server.time.max_s


def floats(typed):
    return np.frombuffer(base64.b64decode(typed["bdata"]), dtype=f"<{typed['dtype']}")


def test_headings_do_not_skip_and_every_chart_says_what_it_shows(made):
    page = Page(made.html)
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    charts = [attributes for _, attributes in page.tags if attributes.get("class") == "chart"]
    assert len(charts) >= 8
    assert all("peaks at" in chart["aria-label"] for chart in charts)
    assert "db.2" in page.text


def test_the_picture_has_a_row_for_each_of_several_systems(made):
    """With its users before it, and no box on another."""
    systems = [
        SystemFigures(name=name, workload="rubbos", users=users, rate=None, responses=None)
        for name, users in (("shop", 30), ("board", 20))
    ]
    servers = [
        each.model_copy(
            update={"name": f"{system.name}.{each.name}", "tier": f"{system.name}.{each.tier}"}
        )
        for system in systems
        for each in made.summary.servers
    ]
    drawn = picture(
        made.summary.model_copy(update={"systems": systems, "servers": servers, "time": None})
    )
    assert [(each.name, each.lines) for each in drawn.users] == [
        ("30 users", ("of shop",)),
        ("20 users", ("of board",)),
    ]
    shop, board = (
        [box for box in drawn.boxes if box.name.startswith(name)] for name in ("shop", "board")
    )
    assert len(shop) == len(board) == 4
    assert {box.top for box in shop} == {drawn.users[0].top}
    assert {box.top for box in board} == {drawn.users[1].top}
    assert max(box.top + box.height for box in shop) < min(box.top for box in board)
    assert max(box.top + box.height for box in board) < drawn.height
    for one, other in pairwise(sorted(shop, key=lambda box: box.x)):
        assert one.x + one.width < other.x


def test_the_page_shows_by_which_rules_a_run_does_not_pass(made):
    rules = {
        "operations": {
            made.summary.interactions[0].name: {"share": 1.0, "limit_ns": 1_000_000},
        },
        "checks": [{"name": HOSTILE, "operation": "Home", "of": "images", "least": 3}],
    }
    verdict = run_verdict_of(made, rules)
    summary = made.summary.model_copy(update={"rules": verdict})
    html = render(summary, made.diagnosis, made.manifest, None)
    page = Page(html)
    assert not verdict.passed
    assert len(verdict.broken) >= 2
    for sentence in verdict.broken:
        assert " ".join(sentence.split()) in page.text
    assert "alert(1)</script>" not in html


def run_verdict_of(made, rules):
    observed = observe(Run(made.folder))
    try:
        return run_verdict(observed.db, observed.measured, RunRules.model_validate(rules), 100)
    finally:
        observed.db.close()
