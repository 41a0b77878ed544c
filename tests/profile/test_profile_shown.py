"""Which rows a profile has of what perf says, and what is shown of them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

from tests.profile import made_profile
from tests.profile.made_profile import HOSTILE, JAVA, TEN_MS
from tierlab.analysis.observed import observe
from tierlab.analysis.resources.flame import flame
from tierlab.cli.main import app
from tierlab.errors import UserError
from tierlab.exchange.perf_frame import Frame
from tierlab.exchange.perf_rows import PerfRows
from tierlab.exchange.perf_script import Clock, Fork, Sample
from tierlab.report import build
from tierlab.report.figures import seconds
from tierlab.tables.run import Run


def sample(pid: int, *frames: Frame, t_ns: int = 0, event: str = "cpu-clock") -> Sample:
    return Sample("any", pid, 0, t_ns, event, TEN_MS, frames)


def domains(*records: Clock | Fork | Sample) -> list[str]:
    rows = PerfRows({10: "app.1", 20: "db.1"}).counters([Clock(0), *records], "x")
    return [row["domain"] for row in rows]


def test_a_process_is_of_the_server_whose_process_started_it() -> None:
    child = (Fork(11, 10, 1), Fork(12, 11, 2), sample(12))
    assert domains(*child) == ["app.1"]
    # The number of one of the database's is given out anew.
    assert domains(sample(20), Fork(20, 1, 1), sample(20)) == ["db.1", "host"]
    # What perf tells of those that were there before does not say who is whose.
    assert domains(Fork(10, 1, 0), sample(10)) == ["app.1"]
    # A thread is no new process.
    assert domains(Fork(10, 10, 5), sample(10)) == ["app.1"]


def test_the_idle_thread_is_idle_only_where_no_interrupt_has_it_work() -> None:
    kernel = "[kernel.kallsyms]"
    nothing = [Frame(name, kernel) for name in ("pv_native_safe_halt", "default_idle", "do_idle")]
    work = Frame("tcp_v4_rcv", kernel)
    assert domains(sample(0, *nothing), sample(0, work, *nothing), sample(0)) == [
        *("idle", "host", "host")
    ]


@pytest.mark.parametrize(
    ("functions", "domain"),
    [
        (("acpi_processor_ffh_cstate_enter",), "idle"),
        ((None, "default_idle_call", "do_idle", "cpu_startup_entry"), "idle"),
        ((None, "handle_softirqs", "irq_exit_rcu"), "host"),
        ((None,), "host"),
    ],
)
def test_the_idle_thread_is_idle_where_its_function_is_odd_or_unknown(
    functions: tuple[str | None, ...], domain: str
) -> None:
    stack = [Frame(name, "[kernel.kallsyms]") for name in functions]
    assert domains(sample(0, *stack)) == [domain]
    # Of any other process it is work.
    assert domains(sample(10, *stack)) == ["app.1"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A made run with a profile."""
    made_run.make(tmp_path, made_run.Shape(requests=300, users=60))
    made_profile.add(tmp_path)
    return tmp_path


def test_shares_are_of_the_domain_in_the_runtime_and_idle_is_in_none(run: Path) -> None:
    done = CliRunner().invoke(app, ["profile", str(run), "--json"])
    clock, cache = json.loads(done.stdout)

    assert (clock["event"], clock["samples"], clock["count"]) == ("cpu-clock", 20, 20 * TEN_MS)
    assert [(d["domain"], d["samples"], d["share"]) for d in clock["domains"]] == [
        *(("app.1", 10, 0.5), ("db.1", 10, 0.5))
    ]
    java = clock["domains"][0]
    assert [(b["binary"], b["samples"], b["share"]) for b in java["binaries"]] == [
        *(("[JIT]", 6, 0.6), ("/usr/lib/libc.so.6", 4, 0.4))
    ]
    assert [(s["symbol"], s["samples"]) for s in java["symbols"]] == [
        *((JAVA, 6), ("memcpy", 3), (None, 1))
    ]
    assert (cache["source"], cache["samples"], cache["count"]) == ("simulated", None, 4_000)


def test_the_terminal_has_the_lines_of_opreport(run: Path) -> None:
    done = CliRunner().invoke(app, ["profile", str(run), "--domain", "app.1", "--top", "2"])
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["samples", "%", "binary", "symbol"] in lines
    assert ["3", "30", "libc.so.6", "memcpy"] in lines
    assert not [line for line in lines if line[-1:] == ["(unknown)"]]
    with pytest.raises(UserError, match=r"no domain web\.1: take one of app\.1, db\.1"):
        app(["profile", str(run), "--domain", "web.1"], standalone_mode=False)


def test_a_flame_lays_stacks_together(run: Path) -> None:
    observed = observe(Run(run))
    assert observed.measured is not None
    tree = flame(observed.db, observed.measured, "cpu-clock", "software")
    assert tree is not None
    java = tree.children["app.1"].children["start_thread"].children[JAVA]
    counts = [tree.count, tree.children["app.1"].count, java.count, java.children["memcpy"].count]
    assert [each // TEN_MS for each in counts] == [20, 10, 9, 3]
    assert tree.children["app.1"].children["[unknown]"].count == TEN_MS
    assert flame(observed.db, observed.measured, "LLC-load-misses", "simulated") is None


def test_the_page_has_the_tables_and_the_graph_and_escapes_names(run: Path) -> None:
    text = build(run).page.read_text(encoding="utf-8")
    assert "Where in the programs" in text
    assert '<div class="flame" data-flame="0"' in text
    assert JAVA in text
    assert HOSTILE not in text


def test_two_runs_differ_by_what_a_request_takes(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    made_run.make(other, made_run.Shape(requests=300, users=60))
    made_profile.add(other, more={JAVA: 6})
    done = CliRunner().invoke(app, ["profile", str(other), "--against", str(run), "--json"])
    cache, clock = json.loads(done.stdout)

    first = clock["functions"][0]
    assert (first["domain"], first["symbol"]) == ("app.1", JAVA)
    assert first["second"] == pytest.approx(2 * first["first"])
    assert clock["second"] - clock["first"] == pytest.approx(first["change"])
    assert [each["change"] for each in clock["functions"][1:]] == [0.0] * 3
    assert cache["first"] == cache["second"] > 0
    shown = CliRunner().invoke(app, ["profile", str(other), "--against", str(run), "--top", "1"])
    assert "org.A.run(int)" in shown.stdout
    assert "memcpy" not in shown.stdout
    of = ["profile", str(other), "--against", str(run), "--json", "--event", "cpu-clock"]
    (only,) = json.loads(CliRunner().invoke(app, [*of, "--domain", "db.1"]).stdout)
    assert [each["symbol"] for each in only["functions"]] == [HOSTILE]
    with pytest.raises(UserError, match=r"no event of cpu-clock and web\.9 in common"):
        app([*of, "--domain", "web.9"], standalone_mode=False)


def test_the_page_holds_a_run_against_another(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    made_run.make(other, made_run.Shape(requests=300, users=60))
    made_profile.add(other, more={JAVA: 6})
    assert CliRunner().invoke(app, ["report", str(other), "--against", str(run)]).exit_code == 0
    text = (other / "report.html").read_text(encoding="utf-8")
    of = f"{run.parent.name}/{run.name}"
    (section,) = re.findall(f"cpu-clock a request, against {of}.*?</table>", text, re.DOTALL)
    rows = re.findall("<tr>(.*?)</tr>", section, re.DOTALL)
    figures = [re.findall("<td>(.*?)</td>", each) for each in rows]
    done = CliRunner().invoke(app, ["profile", str(other), "--against", str(run), "--json"])
    (clock,) = (each for each in json.loads(done.stdout) if each["event"] == "cpu-clock")
    most = clock["functions"][0]
    assert JAVA in rows[2]
    first, second, change = (seconds(most[key] / 1e9) for key in ("first", "second", "change"))
    assert figures[2] == [first, second, f"+{change}"]
    assert HOSTILE not in section
    with pytest.raises(UserError, match="tierlab profile RUN --against RUN --json"):
        app(["report", str(other), "--against", str(run), "--json"], standalone_mode=False)


def test_without_a_profile_it_is_said_how_to_have_one(tmp_path: Path) -> None:
    made_run.manifest(not_measured={}).write(tmp_path)
    with pytest.raises(UserError, match=r"observe\.profile"):
        app(["profile", str(tmp_path)], standalone_mode=False)


def test_why_nothing_was_sampled_is_said_where_events_were_counted(tmp_path: Path) -> None:
    reason = "`perf record` ended: No such file or directory (log: logs/perf.log)."
    shape = made_run.Shape(requests=300, users=60)
    made_run.make(tmp_path, shape, {"not_measured": {"counters": reason}})
    made_profile.add_counted(tmp_path)
    with pytest.raises(UserError, match=r"no sample .*`perf record` ended: No such file"):
        app(["profile", str(tmp_path)], standalone_mode=False)
