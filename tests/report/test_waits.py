"""What visits waited for, on the page, on the terminal and in the JSON."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import made_run
import pytest
from typer.testing import CliRunner

from tests import visit_parts
from tests.report.reader import Page
from tierlab.analysis.observed import observe
from tierlab.analysis.queues.loop_threads import STATES, LoopThreads, ThreadState
from tierlab.analysis.queues.slowest_visits import REQUESTS
from tierlab.analysis.queues.waits import PARTS, Part
from tierlab.cli.main import app
from tierlab.report import build, terminal
from tierlab.report.diagnosis import why
from tierlab.report.figures import share
from tierlab.report.page import render
from tierlab.report.slowest import slowest
from tierlab.report.waits import bars, none_measured, sentence
from tierlab.report.words import answer
from tierlab.tables.run import Run

HOSTILE = """<script>alert(1)</script>'"&{{7*7}}"""


@pytest.fixture(scope="module")
def traced(made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made run with parts at three servers; at the load balancer nobody has any."""
    folder = tmp_path_factory.mktemp("traced") / "001"
    shutil.copytree(made.folder, folder)
    visit_parts.add(folder, ["web.1", "app.1", "db.1", "db.2"])
    return folder


@pytest.fixture(scope="module")
def report(traced: Path):
    return build(traced)


def waiting(summary, server):
    return next(each for each in summary.waits if each.server == server)


def with_parts(summary, server, **changes):
    """The summary with other shares of a server's time, all of which are known."""
    parts = [
        Part(name=name, mean_s=0.01 * changes.get(name, 0.0), share=changes.get(name, 0.0))
        for name in PARTS
    ]
    of = waiting(summary, server)
    changed = of.model_copy(update={"all": of.all.model_copy(update={"parts": parts})})
    waits = [changed if each.server == server else each for each in summary.waits]
    return summary.model_copy(update={"waits": waits})


def test_the_first_screen_has_a_bar_for_each_server_and_a_reason_where_there_is_none(report):
    html = report.page.read_text(encoding="utf-8")
    page = Page(html)
    first = html[html.index('<section id="answer"') : html.index("</section>")]

    drawn = bars(report.summary)
    assert [each.server for each in drawn.bars] == [each.name for each in report.summary.servers]
    for bar in drawn.bars:
        if bar.server == "lb.1":
            assert bar.note == "Not measured: no thread had a request to itself."
            assert bar.note in page.text
            continue
        assert sum(each.width for each in bar.segments) == pytest.approx(100, abs=0.5)
        assert first.count(f'aria-label="{bar.server}, ') == 1
        for segment in bar.segments:
            assert f'title="{segment.title}"' in first
    legend = dict(drawn.legend)
    assert legend["cpu"] == "on CPU"
    assert set(legend) == {each.name for bar in drawn.bars for each in bar.segments}


def with_loops(summary, server, threads=1):
    """The summary with what threads of a server did."""
    states = {"cpu": 0.6, "disk": 0.1, "asleep": 0.3}
    loops = LoopThreads(
        threads=threads,
        seen_s=10.0,
        states=[ThreadState(name=name, share=states.get(name, 0.0)) for name in STATES],
    )
    waits = [
        each.model_copy(update={"loops": loops}) if each.server == server else each
        for each in summary.waits
    ]
    return summary.model_copy(update={"waits": waits})


def test_a_server_of_event_loops_has_a_bar_of_what_its_threads_did(report, made):
    summary = with_loops(report.summary, "lb.1", threads=2)

    (bar,) = (each for each in bars(summary).bars if each.server == "lb.1")

    assert (bar.figure, bar.note) == ("its 2 threads", "each with several requests at once")
    assert [each.title for each in bar.segments] == ["on CPU 60 %", "disk 10 %", "asleep 30 %"]
    assert ("asleep", "asleep") in bars(summary).legend
    text = Page(render(summary, report.diagnosis, made.manifest, None)).text
    assert "Of the time of its 2 such threads: 60 % on CPU, 10 % disk, 30 % asleep." in text


def test_where_no_visit_has_parts_the_sentence_is_of_the_loop(made):
    summary = with_loops(made.summary, "lb.1")
    assert none_measured(summary) == ""
    assert sentence(summary) == (
        "Time of lb.1's thread, which has several requests at once:"
        " 60 % on CPU, 30 % asleep, 10 % disk."
    )


def test_the_table_has_all_visits_and_the_slowest(report):
    text = Page(report.page.read_text(encoding="utf-8")).text
    found = waiting(report.summary, "app.1")
    for which in (found.all, found.slowest):
        assert f"{which.visits:,}" in text
        for part in which.parts:
            assert share(part.share) in text


def test_a_label_stands_in_a_bar_only_where_it_has_room(report):
    few = with_parts(report.summary, "app.1", calls=0.85, queued=0.07, lock=0.05, disk=0.03)
    (bar,) = (each for each in bars(few).bars if each.server == "app.1")
    labels = {each.name: each.label for each in bar.segments}
    assert labels == {"queued": "queued", "disk": "", "lock": "lock", "calls": "calls 85 %"}


def test_the_sentence_is_of_the_tier_with_most_time_and_names_whom_it_calls(report):
    summary = with_parts(
        report.summary, "app.1", calls=0.62, cpu=0.2, lock=0.09, queued=0.05, disk=0.04
    )
    tiers = [
        each.model_copy(update={"share": 0.6 if each.tier == "app" else 0.1})
        for each in summary.time.tiers
    ]
    summary = summary.model_copy(update={"time": summary.time.model_copy(update={"tiers": tiers})})

    said = sentence(summary)

    assert said == "Time at app.1: 62 % waiting for lb.1, 20 % on CPU, 9 % lock, 5 % queued."
    both = [
        each.model_copy(update={"callees": ["db.1", "db.2", "web.1"], "measured_share": 0.4})
        for each in summary.waits
    ]
    said = sentence(summary.model_copy(update={"waits": both}))
    assert said.startswith("Time at app.1: 62 % waiting for db and web.1, ")
    assert said.endswith(" (40 % of visits measured).")


def test_the_terminal_has_one_line_more_and_no_further(report, traced):
    printed = CliRunner().invoke(app, ["report", str(traced)])
    assert sentence(report.summary) in printed.stdout
    warned = report.summary.model_copy(update={"caveats": [f"Caveat {n}." for n in range(9)]})
    shown = terminal.lines(answer(warned), report.diagnosis, "report.html")
    assert len(shown) == 11 + len(why(report.diagnosis))


def test_the_json_has_the_table(traced):
    printed = CliRunner().invoke(app, ["report", str(traced), "--json"])
    waits = {each["server"]: each for each in json.loads(printed.stdout)["waits"]}
    assert [each["name"] for each in waits["app.1"]["all"]["parts"]] == list(PARTS)
    assert (waits["lb.1"]["all"], waits["lb.1"]["cpu_s"]) == (None, None)


def test_a_run_without_parts_says_so_once_and_draws_nothing(made):
    assert none_measured(made.summary) == (
        "What visits waited for was not measured: threads were not traced."
    )
    assert none_measured(made.summary) in Page(made.html).text
    assert (bars(made.summary), sentence(made.summary)) == (None, "")
    assert 'class="parts"' not in made.html


def test_reasons_that_differ_name_their_servers(made):
    first, *others = made.summary.waits
    waits = [first.model_copy(update={"why": "its trace was lost"}), *others]
    said = none_measured(made.summary.model_copy(update={"waits": waits}))
    assert f"its trace was lost ({first.server})" in said
    assert f"threads were not traced ({', '.join(each.server for each in others)})" in said


def test_what_a_folder_says_stays_text(report, made):
    waits = [
        each.model_copy(
            update={"server": HOSTILE, "why": HOSTILE if each.why else None, "other_call": HOSTILE}
        )
        for each in report.summary.waits
    ]
    summary = report.summary.model_copy(update={"waits": waits})
    html = render(summary, report.diagnosis, made.manifest, None)
    assert "<script>alert" not in html
    assert HOSTILE in Page(html).text


def test_the_slowest_requests_are_drawn_with_their_visits_parts(report, traced, made):
    html = report.page.read_text(encoding="utf-8")
    section = html[html.index('<section id="slowest"') :]
    section = section[: section.index("</section>")]
    observed = observe(Run(traced))
    drawn = slowest(observed, report.summary)
    observed.db.close()

    assert len(drawn) == REQUESTS
    rows = [row for each in drawn for row in each.rows]
    assert section.count('class="axis"') == len(rows)
    for each in drawn:
        assert each.heading in Page(html).text
        assert [row.server for row in each.rows[:2]] == ["web.1", "app.1"]
    for row in rows:
        assert row.left >= 0
        assert row.left + row.width <= 100.001
        if row.server == "lb.1":
            assert row.words.endswith("parts not measured")
        else:
            assert sum(part.width for part in row.segments) == pytest.approx(100, abs=1)
    assert 'id="slowest"' not in made.html


def test_a_visit_that_outlives_its_request_says_so(tmp_path):
    ms, start = 1_000_000, made_run.START_NS + 6 * made_run.SECOND
    made_run.manifest(made_run.Shape(requests=300, users=60)).write(tmp_path)
    known = {"visit": 1, "server": "web.1", "label": HOSTILE, "arrival_ns": start}
    parts = {f"{name}_ns": 10 * ms for name in PARTS}
    root = {**known, **parts, "departure_ns": start + 110 * ms}
    times = {"arrival_ns": start + 100 * ms, "departure_ns": start + 150 * ms}
    call = {"visit": 2, "server": "db.1", "label": "", "parent": 1, "link": "thread", **times}
    made_run.write_tables(tmp_path, {"visits": [root, call]})

    html = build(tmp_path).page.read_text(encoding="utf-8")

    assert "50 ms (goes on after the reply)" in Page(html).text
    assert "<script>alert" not in html
